/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/perf_file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"
#include "import/source.h"

#define HEADER_BYTES 104u
#define ATTR_BYTES (64u + 16u) /* the oldest attributes, and where their ids are */

/* A file of events that all point at the same ids. */
static void put_file(struct bytes *out, uint32_t events, const uint64_t *ids, size_t count)
{
	uint64_t ids_at = HEADER_BYTES + (uint64_t)events * ATTR_BYTES;

	bytes_put(out, "PERFILE2", 8);
	bytes_put_u64(out, HEADER_BYTES);
	bytes_put_u64(out, ATTR_BYTES);
	bytes_put_u64(out, HEADER_BYTES);
	bytes_put_u64(out, (uint64_t)events * ATTR_BYTES);
	while (out->size < HEADER_BYTES)
		bytes_put_u8(out, 0);
	for (uint32_t i = 0; i < events; i++) {
		bytes_put_u32(out, 1);
		bytes_put_u32(out, 64);
		for (size_t k = 8; k < 64; k++)
			bytes_put_u8(out, 0);
		bytes_put_u64(out, ids_at);
		bytes_put_u64(out, count * sizeof(*ids));
	}
	bytes_put(out, ids, count * sizeof(*ids));
}

static int open_file(struct perf_file *file, const struct bytes *data, struct error *err)
{
	struct import_source source;
	int r;

	import_source_of_memory(&source, data->data, data->size);
	r = perf_file_open(file, &source, err);
	import_source_fini(&source);
	return r;
}

#define MANY 8000u

/* Equal ids all meet in one place of a table: the millionth would pass by all before it. */
static void an_id_that_comes_again_is_kept_once(void **state)
{
	static uint64_t ids[MANY]; /* all 0 */
	struct bytes data = {0};
	struct perf_file file;

	put_file(&data, 1, ids, MANY);
	assert_int_equal(open_file(&file, &data, NULL), 0);
	assert_int_equal(file.ids.count, 1);
	assert_int_equal(file.id_index.count, 1);
	assert_ptr_equal(perf_file_event_of(&file, 0), &file.events.items[0]);
	perf_file_fini(&file);
	bytes_fini(&data);
}

static void events_with_the_same_ids_are_refused(void **state)
{
	static uint64_t ids[MANY];
	struct bytes data = {0};
	struct error err = {0};
	struct perf_file file;

	for (uint64_t i = 0; i < MANY; i++)
		ids[i] = 77 + i;
	put_file(&data, 200, ids, MANY);
	assert_int_equal(open_file(&file, &data, &err), -EBADMSG);
	assert_string_equal(err.text, "two of its events have the same id 77");
	assert_int_equal(file.ids.count, MANY); /* those of the first */
	perf_file_fini(&file);
	bytes_fini(&data);
}

static void ids_of_their_own_find_their_events(void **state)
{
	static const uint64_t ids[] = {5, 6, 5, 6, 7};
	struct bytes data = {0};
	struct perf_file file;

	put_file(&data, 1, ids, 5);
	assert_int_equal(open_file(&file, &data, NULL), 0);
	assert_int_equal(file.ids.count, 3);
	assert_int_equal(file.ids_read, 5);
	for (uint64_t id = 5; id < 8; id++)
		assert_ptr_equal(perf_file_event_of(&file, id), &file.events.items[0]);
	assert_null(perf_file_event_of(&file, 8));
	perf_file_fini(&file);
	bytes_fini(&data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_id_that_comes_again_is_kept_once),
		cmocka_unit_test(events_with_the_same_ids_are_refused),
		cmocka_unit_test(ids_of_their_own_find_their_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
