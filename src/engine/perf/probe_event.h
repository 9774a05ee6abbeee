/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PROBE_EVENT_H
#define WICK_ENGINE_PERF_PROBE_EVENT_H

/*
 * probe_event: events at a place in code: tracepoints of the kernel and functions of programs.
 *
 *	sched:sched_wakeup		group and name of a tracepoint
 *	uprobe:/lib/libc.so.6:malloc	a function's entry; also +0x10 or 0x1234, file offset
 *	uretprobe:/lib/libc.so.6:malloc	its return
 */

#include <stdbool.h>
#include <stdint.h>

#include "engine/perf/event.h"

struct error;

struct probe_event {
	struct event_kind kind; /* points into the other members */
	char name[256];
	char path[4096];
};

/* Finds the file offset of a function in its symbols. Returns 0 or a negative errno. */
typedef int probe_place_fn(void *self, const char *path, const char *function, uint64_t *ret_offset,
			   struct error *err);

/* Whether this is the name of such an event. */
bool probe_event_is(const char *name);

/* Makes the kind of a name; place may be NULL. Returns 0 or a negative errno. */
int probe_event_find(const char *name, probe_place_fn *place, void *place_self,
		     struct probe_event *ret, struct error *err);

#endif
