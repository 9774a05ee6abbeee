/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_FILES_FILE_SUMMARY_H
#define WICK_SERVER_FILES_FILE_SUMMARY_H

/*
 * file_summary: what lists say about a recording: its time, its types and its threads. It owns its
 * texts, so the profile it was made of need not stay in memory.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/strings.h"

struct profile;

struct file_type {
	const char *name;
	const char *unit;
	uint64_t samples;
	int64_t value;
	bool is_heap; /* the heap of a recording that also has samples */
};

struct file_thread {
	uint32_t pid;
	uint32_t tid;
	const char *process;
	const char *thread;
	uint64_t samples;
	int64_t value; /* of the main type */
};

struct file_summary {
	uint64_t start_ns; /* CLOCK_REALTIME */
	uint64_t end_ns;
	uint64_t samples;
	uint32_t main_type;
	VEC(struct file_type) types;
	VEC(struct file_thread) threads;
	struct strings texts;
};

/*
 * usual_end_ns is the end of a recording that does not know the time of day. Returns 0 or -ENOMEM;
 * the caller releases it in both cases.
 */
int file_summary_init(struct file_summary *summary, const struct profile *profile,
		      uint64_t usual_end_ns);
void file_summary_fini(struct file_summary *summary); /* zeros are fine */

/* The time in whole seconds: the second that it begins in, to the one after its end. */
uint64_t file_summary_from_s(const struct file_summary *summary);
uint64_t file_summary_to_s(const struct file_summary *summary);

/* The type with this name, "": the main one; NULL: it has none. */
const struct file_type *file_summary_type(const struct file_summary *summary, const char *name);

#endif
