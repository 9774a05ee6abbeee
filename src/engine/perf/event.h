/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_EVENT_H
#define WICK_ENGINE_PERF_EVENT_H

/*
 * event: what we request of perf_event_open(), and what it grants.
 *
 * Requests are dropped one by one until the kernel agrees (older kernels lack build ids,
 * unprivileged users cannot sample the kernel); the grant shows what was dropped. Errors name
 * the setting that would help.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

struct error;

struct event_kind {
	const char *name; /* what the user types */
	const char *summary;
	const char *value; /* what a sample weighs: "cpu", "page-faults" … */
	const char *unit;
	uint32_t type; /* PERF_TYPE_… */
	uint64_t config;
	bool clock;              /* counts nanoseconds: sampled by period, not by frequency */
	uint64_t default_period; /* when no rate is given; 0: by frequency */
	bool dummy;              /* counts nothing: reports only mappings and tasks */
	uint64_t config1;
	uint64_t config2;
};

/* All events, a NULL name last; the first is the default. */
extern const struct event_kind event_kinds[];

/* Only for engines whose samples are made by programs: time off the CPUs, and all time. */
extern const struct event_kind event_off_cpu;
extern const struct event_kind event_wall;
/* Calls of an allocator: no samples. */
extern const struct event_kind event_heap;

/* The kind of a name; NULL with err set: unknown. */
const struct event_kind *event_find(const char *name, struct error *err);

struct event_request {
	const struct event_kind *kind;
	uint32_t frequency_hz;
	uint64_t period; /* 0: by frequency */
	bool rate_given; /* by the user: goes before the default period of the event */
	uint32_t depth;
	uint32_t wakeup_bytes;
	bool kernel;
	bool inherit;
	bool inherit_thread; /* threads, but not processes */
	bool enable_on_exec;
	uint64_t register_mask; /* user registers to copy; 0: none, and no stack either */
	uint32_t stack_bytes;
	bool programs; /* programs make the samples, not the kernel */
	bool group;    /* samples carry the counters of a group */
};

/* What the kernel agreed to; starts as the request, and event_open() reduces it. */
struct event_grant {
	const char *name; /* of the event; borrowed from its kind */
	struct perf_event_attr attr;
	bool kernel;
	bool kernel_frames_hidden; /* kernel time is sampled, but its frames must not be shown */
	unsigned long open_flags;  /* for perf_event_open(), in addition to the usual ones */
	bool children_too;         /* threads cannot be followed without processes */
	bool alone;                /* neither new threads nor processes can be followed */
	uint32_t depth;
	bool wakes_each; /* each sample wakes the thread that waits for its ring */
};

void event_grant_init(struct event_grant *grant, const struct event_request *request);

/* From now on, each sample wakes the thread that waits for its ring. */
void event_grant_wake_each(struct event_grant *grant);

/* The event through which programs write their samples. */
void event_output_init(struct perf_event_attr *attr);

/*
 * Split an event in two. The first reduces the grant to samples, for rings that are
 * overwritten; the second makes an event that counts nothing and reports mappings and tasks.
 * Each has its own rings.
 */
void event_grant_samples_only(struct event_grant *grant);
void event_grant_side(const struct event_grant *grant, struct event_grant *ret);

/* Drops one request that may have caused the error. False: none is left. */
bool event_lower(struct event_grant *grant, int code);

/*
 * Opens the event for a thread (-1: all) on a CPU, reducing the grant as needed. Returns the
 * descriptor or a negative errno; -ESRCH (the thread has ended) does not set err.
 */
int event_open(struct event_grant *grant, pid_t tid, int cpu, struct error *err);

/* Whether such an event of this process can be opened here. */
bool event_works(const struct event_kind *kind);

/* A number from /proc/sys/kernel/NAME; fallback if it cannot be read. */
int64_t event_setting(const char *name, int64_t fallback);

#endif
