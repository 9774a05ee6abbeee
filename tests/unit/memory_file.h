/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_MEMORY_FILE_H
#define WICK_TESTS_MEMORY_FILE_H

/* memory_file: a file that is nowhere on a disk, and what was written into it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct file {
	uint8_t *data; /* to be freed */
	size_t size;
};

static inline int memory_file(void)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static inline struct file load(int fd)
{
	struct file file = {.size = (size_t)lseek(fd, 0, SEEK_END)};

	file.data = malloc(file.size + 1);
	assert_non_null(file.data);
	assert_int_equal(pread(fd, file.data, file.size, 0), file.size);
	return file;
}

#endif
