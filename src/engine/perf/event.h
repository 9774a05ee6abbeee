/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_EVENT_H
#define WICK_ENGINE_PERF_EVENT_H

/*
 * event: what perf_event_open() is asked for, and what it grants.
 *
 * The wishes are lowered one by one until the kernel agrees (older kernels lack
 * build ids, unprivileged users get no kernel samples); what was left out is
 * told. Errors name the setting that would help.
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
	bool dummy;              /* counts nothing: only what is mapped and who runs is told */
	uint64_t config1;
	uint64_t config2;
};

/* All events, a NULL name last; the first is the default. */
extern const struct event_kind event_kinds[];

/* What is watched with BPF programs: time off the CPUs, and all of it. */
extern const struct event_kind event_off_cpu;
extern const struct event_kind event_wall;
/* What an allocator does: nothing is sampled. */
extern const struct event_kind event_heap;

/* The kind of a name, NULL with err set when there is none. */
const struct event_kind *event_find(const char *name, struct error *err);

struct event_wish {
	const struct event_kind *kind;
	uint32_t frequency_hz;
	uint64_t period; /* 0: by frequency */
	bool rate_given; /* the frequency was asked for: it goes before the event's own period */
	uint32_t depth;
	uint32_t wakeup_bytes;
	bool kernel;
	bool inherit;
	bool inherit_thread; /* threads, but not processes */
	bool enable_on_exec;
	uint64_t register_mask; /* of user space to copy; 0: none, and no stack */
	uint32_t stack_bytes;
	bool programs; /* programs make the samples, not the kernel */
	bool group;    /* samples carry the counters of a group */
};

/* What the kernel agreed to; starts as the wish and is lowered by event_open(). */
struct event_grant {
	const char *name; /* of the event; borrowed from its kind */
	struct perf_event_attr attr;
	bool kernel;
	bool kernel_frames_hidden; /* kernel time is sampled, its frames are not shown */
	unsigned long open_flags;  /* of perf_event_open(), besides the usual */
	bool children_too;         /* threads cannot be followed without processes */
	bool alone;                /* neither new threads nor processes can be followed */
	uint32_t depth;
};

void event_grant_init(struct event_grant *grant, const struct event_wish *wish);

/* The event that BPF programs write samples through. */
void event_output_init(struct perf_event_attr *attr);

/*
 * Splits an event in two: the grant's own has samples alone, and rings that are overwritten; *ret,
 * which counts nothing, tells what is mapped and who runs. Each part has rings of its own.
 */
void event_grant_samples_alone(struct event_grant *grant);
void event_grant_side(const struct event_grant *grant, struct event_grant *ret);

/* Gives up one wish that the error may be about. False when there is none left. */
bool event_lower(struct event_grant *grant, int code);

/*
 * Opens the event for a thread (or -1) on a CPU, lowering the grant as needed.
 * Returns the descriptor or a negative errno; -ESRCH (the thread is gone) is
 * not put into words.
 */
int event_open(struct event_grant *grant, pid_t tid, int cpu, struct error *err);

/* Whether such an event of this process can be opened here. */
bool event_works(const struct event_kind *kind);

/* A number from /proc/sys/kernel/NAME, fallback when it cannot be read. */
int64_t event_setting(const char *name, int64_t fallback);

#endif
