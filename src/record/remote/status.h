/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_REMOTE_STATUS_H
#define WICK_RECORD_REMOTE_STATUS_H

/* status: the state of a running recording, as an answer to a query (see remote.h). */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bytes;
struct engine_stats;
struct error;
struct pace;

struct recorder_status {
	const char *title; /* what is watched */
	const pid_t *pids;
	size_t pid_count;
	const char *engine;
	const struct engine_stats *stats;
	const struct pace *pace;
	uint64_t elapsed_ns;
	const char *output;
	uint64_t kept_bytes;       /* in the output so far, or in memory */
	const struct error *error; /* why the request failed; NULL: it did not */
};

/* Writes it as JSON. */
void status_write(const struct recorder_status *status, struct bytes *ret);

#endif
