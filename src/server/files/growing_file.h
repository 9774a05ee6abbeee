/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_FILES_GROWING_FILE_H
#define WICK_SERVER_FILES_GROWING_FILE_H

/*
 * growing_file: a recording that is still being made, followed while it grows: what was read is
 * never read again.
 *
 * The latest samples stay in memory, GROWING_SAMPLES_MAX of them at most. The profile of a window
 * is made from a small recording that has only its samples, so names, filters and values work as in
 * any other recording.
 *
 * One thread at a time.
 */

#include <stdbool.h>
#include <stdint.h>

struct error;
struct file_summary;
struct growing_file;

/* 48 bytes each. */
#define GROWING_SAMPLES_MAX (2u << 20)

/*
 * With is_ours, the recorder is this process: time goes on even without samples. The caller
 * releases *ret with growing_file_close().
 */
int growing_file_open(const char *path, bool is_ours, struct growing_file **ret, struct error *err);
void growing_file_close(struct growing_file *file); /* NULL is fine */

/* Reads what is new. Returns 1 if there was something, 0, or a negative errno. */
int growing_file_read(struct growing_file *file, struct error *err);

/* When it began, on CLOCK_MONOTONIC; 0: nothing of it was read yet. */
uint64_t growing_file_start(const struct growing_file *file);

/* Whether the recording has ended properly. */
bool growing_file_is_complete(const struct growing_file *file);

/* What is known so far. As file_summary_init(). */
int growing_file_summary(const struct growing_file *file, struct file_summary *ret);

/* The number of samples in a range of time (CLOCK_REALTIME), and when the last one was. */
uint64_t growing_file_samples(const struct growing_file *file, uint64_t from_ns, uint64_t to_ns,
			      uint64_t *ret_last_ns);

/* Whether all samples since this time (CLOCK_REALTIME) are in memory. */
bool growing_file_has(const struct growing_file *file, uint64_t from_ns);

/* Writes a recording of the samples of a range of time (CLOCK_REALTIME) to fd, which it takes. */
int growing_file_write(const struct growing_file *file, uint64_t from_ns, uint64_t to_ns, int fd,
		       struct error *err);

#endif
