/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_GOLDEN_RECORDING_H
#define WICK_TESTS_GOLDEN_RECORDING_H

/* golden_recording: a file of tests/golden that an earlier version wrote, and what it says. */

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "golden.h"
#include "memory_file.h"
#include "recording_dump.h"

/* NAME.wick is whole and says what stands in NAME.txt. Returns what its reader found. */
static inline struct recording_damage assert_golden_recording(const char *name)
{
	char path[4096];
	char text[256];
	struct recording_damage damage;
	struct recording_reader *reader;
	struct dump dump = {0};
	struct file file;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s.wick", GOLDEN_DIR, name);
	(void)snprintf(text, sizeof(text), "%s.txt", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail_msg("cannot open %s", path);
	file = load(fd);
	(void)close(fd);
	assert_int_equal(recording_reader_open_memory(file.data, file.size, "x", &reader, NULL), 0);
	assert_int_equal(dump_run(&dump, reader, NULL), 0);
	damage = recording_reader_damage(reader);
	assert_true(damage.complete);
	dump.text.size--; /* the NUL */
	assert_golden(&dump.text, text);
	recording_reader_free(reader);
	bytes_fini(&dump.text);
	free(file.data);
	return damage;
}

#endif
