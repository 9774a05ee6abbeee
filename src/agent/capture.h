/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_CAPTURE_H
#define WICK_AGENT_CAPTURE_H

/*
 * capture: records processes for some seconds, as "wick record" and "wick heap" do, and returns the
 * result as pprof.
 *
 * The work is done by children of this program: what they need does not count as memory of the
 * agent, is bounded in time, and cannot disturb the sampling of the host.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct bytes;
struct error;

/* More processes are not recorded at once. */
#define CAPTURE_PIDS_MAX 64u

enum capture_kind {
	CAPTURE_CPU,
	CAPTURE_OFFCPU,
	CAPTURE_HEAP, /* of one process: probes are placed on its allocator */
};

struct capture {
	enum capture_kind kind;
	const pid_t *pids; /* none: the whole host */
	size_t pid_count;
	uint32_t seconds;
	uint32_t rate_hz;      /* CAPTURE_CPU */
	double overhead;       /* not for CAPTURE_HEAP: percent, as --overhead; 0: any */
	double breaker;        /* likewise, as --breaker; 0: none */
	uint64_t sample_bytes; /* CAPTURE_HEAP: mean distance of samples */
};

/*
 * Appends the pprof to out. *stop becoming true ends it early, with -ECANCELED. -ESRCH if a process
 * has ended, -EIO if the recording failed.
 */
int capture_run(const struct capture *capture, const atomic_bool *stop, struct bytes *out,
		struct error *err);

#endif
