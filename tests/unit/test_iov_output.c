/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file/iov_output.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SLICES 3000 /* more pieces than go into one call */

static const char lent[] = "a long name that lies elsewhere";

/* Slice i is "<i>:a long name that lies elsewhere;"; every fifth is empty. */
static void make(struct iov_output *gather, size_t i, size_t slice)
{
	if (i % 5 != 0) {
		bytes_printf(&gather->bytes, "%zu:", i);
		iov_output_lend(gather, lent, sizeof(lent) - 1);
		bytes_put_u8(&gather->bytes, ';');
	}
	iov_output_close(gather, slice);
}

/* Makes slices from the last to the first, writes them and compares what came out. */
static void check_order(int fd, FILE *result)
{
	struct iov_output gather = {0};
	char text[64];

	for (int round = 0; round < 2; round++) { /* what was written is gone */
		size_t first = iov_output_open(&gather, SLICES);

		for (size_t i = SLICES; i-- > 0;)
			make(&gather, i, first + i);
		assert_true(iov_output_is_full(&gather));
		assert_int_equal(iov_output_write(&gather, fd), 0);
	}
	iov_output_fini(&gather);
	rewind(result);
	for (size_t i = 0; i < (size_t)2 * SLICES; i++) {
		char *got = NULL;
		size_t size = 0;

		if (i % SLICES % 5 == 0)
			continue;
		(void)snprintf(text, sizeof(text), "%zu:%s;", i % SLICES, lent);
		assert_true(getdelim(&got, &size, ';', result) > 0);
		assert_string_equal(got, text);
		free(got);
	}
	assert_int_equal(fgetc(result), EOF);
}

static void slices_come_in_their_order(void **state)
{
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	check_order(fileno(file), file);
	(void)fclose(file);
}

static void a_device_gets_the_pieces_as_they_lie(void **state)
{
	struct iov_output gather = {0};
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	make(&gather, 1, iov_output_open(&gather, 1));
	assert_int_equal(iov_output_write(&gather, fd), -ENOSPC);
	(void)close(fd);
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	make(&gather, 1, iov_output_open(&gather, 1));
	assert_int_equal(iov_output_write(&gather, fd), 0);
	assert_false(iov_output_is_full(&gather));
	(void)close(fd);
	iov_output_fini(&gather);
}

static void a_closed_descriptor_is_an_error(void **state)
{
	struct iov_output gather = {0};

	(void)state;
	assert_int_equal(iov_output_write(&gather, -1), 0); /* there is nothing to write */
	make(&gather, 1, iov_output_open(&gather, 1));
	assert_int_equal(iov_output_write(&gather, -1), -EBADF);
	iov_output_fini(&gather);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_come_in_their_order),
		cmocka_unit_test(a_device_gets_the_pieces_as_they_lie),
		cmocka_unit_test(a_closed_descriptor_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
