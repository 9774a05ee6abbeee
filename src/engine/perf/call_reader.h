/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_CALL_READER_H
#define WICK_ENGINE_PERF_CALL_READER_H

/*
 * call_reader: a thread for one ring that reads the calls of each sample as soon as the kernel has
 * written it.
 *
 * It runs on the CPU of its ring, before other threads if that is allowed. So it takes the place
 * of the thread that was just sampled, which has not run on when its calls are read.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_reader;
struct perf_record_layout;
struct ring;
struct sample_calls;

struct call_reader_config {
	struct sample_calls *calls;
	const struct perf_record_layout *layout;
	const struct ring *ring; /* only read; must stay mapped until the close */
	size_t number;           /* of the ring */
	int event_fd;            /* that the ring belongs to */
	int cpu;
	int bell_fd;      /* an eventfd: the engine should drain its rings */
	uint64_t bell_ns; /* at most this often because of an unknown process */
};

/* Starts the thread. NULL if that fails. */
struct call_reader *call_reader_open(const struct call_reader_config *config);
void call_reader_close(struct call_reader *reader); /* NULL is fine */

#endif
