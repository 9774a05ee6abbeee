/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_SIDE_WINDOWS_H
#define WICK_AGENT_SIDE_WINDOWS_H

/*
 * side_windows: windows of what the sampling of CPUs does not see, for services that were named:
 * where their threads wait (off-cpu), and what they allocate.
 *
 * Each window is recorded by children (capture.h) and has the labels of the processes, like those
 * of the agent. Waits are those of all processes of the services; of a service with several
 * processes one heap is recorded at a time, in turn. Threads of their own do the work. A service
 * that does not run is looked for again and again.
 */

#include <stddef.h>
#include <stdint.h>

#include "agent/services.h"

struct error;
struct side_windows;

/* More services than these are refused for the heap: each has a thread. */
#define SIDE_HEAPS_MAX 8u

struct side_config {
	const char *const *offcpu; /* services */
	size_t offcpu_count;
	const char *const *heap;
	size_t heap_count;
	uint64_t heap_sample_bytes;
	struct services_config services;
	const char *host;
	uint64_t window_ns;
	double overhead; /* percent of the CPU time of what is recorded; 0: any */
	double breaker;  /* percent; 0: none */
	/* Called with a complete window, from any thread. */
	int (*deliver)(void *self, const char *id, const void *data, size_t size,
		       struct error *err);
	/* Called with messages for the user, from any thread. */
	void (*notice)(void *self, const char *text);
	void *self;
};

/* Borrows the texts. The caller releases *ret with side_windows_stop(). */
int side_windows_start(const struct side_config *config, struct side_windows **ret,
		       struct error *err);
void side_windows_stop(struct side_windows *side); /* NULL is fine */

/* While it is paused, no recording begins. */
void side_windows_pause(struct side_windows *side, bool paused);

/* Uses other rules and labels from the next window on. Borrows them. */
void side_windows_reload(struct side_windows *side, const struct services_config *services);

#endif
