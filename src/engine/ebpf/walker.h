/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_WALKER_H
#define WICK_ENGINE_EBPF_WALKER_H

/*
 * walker: the BPF programs at work: they walk stacks in the kernel and write them
 * into the rings of perf events. This side loads them and tells them which code
 * lies where.
 *
 * Nothing is told in advance. A stack that the programs cannot follow comes as a
 * slice of memory with the key of its address space; whoever reads it walks it,
 * which makes the tables that were missing, and wants the space from then on.
 *
 * Programs and maps live as long as our descriptors: when wick is gone, so are they.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/bpf_walk.h"

struct bpf_walk_away;
struct error;
struct heap_probes_config;
struct process_tracker;
struct tracked_process;
struct walker;

struct walker_config {
	uint32_t depth; /* of the user part of stacks */
	bool kernel;    /* kernel frames too */
	bool counters;  /* the kernel is to write those of a group of events */
	bool machine;   /* many processes are to be expected */
	bool away;      /* threads off their CPUs too */
	bool wakers;    /* and who wakes them */
	uint64_t least_away_ns;
	uint32_t threads;          /* that are to be expected; 0: not known */
	enum bpf_walk_by watch_by; /* whom, of those */
	bool watch_children;
	const char *watch_cgroup; /* a folder */
	uint32_t namespace_inode; /* of the pids that are told; 0: as the kernel counts */
	const struct heap_probes_config *heap; /* an allocator's functions; NULL: none */
};

/* What the programs did. */
struct walker_stats {
	uint64_t counters[BPF_WALK_COUNTERS];
	uint64_t runs;      /* of the one that takes samples */
	uint64_t run_ns;    /* in the kernel, of all of these; 0: the kernel does not tell */
	uint64_t switches;  /* runs of the one that sees threads leave and get their CPUs */
	uint64_t switch_ns; /* of these, and of those that see threads being woken */
	uint64_t own_ns;    /* that of threads which are watched; switch_ns is that of all */
	uint64_t bytes;     /* of tables and maps in the kernel */
};

/* Whether it can work here: 0, or a negative errno and why not. Leaves nothing behind. */
int walker_probe(struct error *err);

/* The caller releases *ret with walker_close(). */
int walker_open(const struct walker_config *config, struct walker **ret, struct error *err);
void walker_close(struct walker *walker); /* NULL is fine */

/* Whether records of wakers tell interrupts from tasks, or only the kernel's part of them does. */
bool walker_tells_interrupts(const struct walker *walker);

/* Samples of this event, and of those that inherit it, are walked by us. */
int walker_attach(struct walker *walker, int event_fd, struct error *err);
/* Stacks that are taken on a CPU go to the ring of this event. */
int walker_set_output(struct walker *walker, int cpu, int event_fd, struct error *err);

/* The share of the samples that are taken from now on; 0: none. */
void walker_set_share(struct walker *walker, double share);

/*
 * About how often the stack of a thread is taken at a place that it leaves its CPU from again
 * and again; other times are told in sums. 0: each time.
 */
void walker_set_away_gap(struct walker *walker, uint64_t gap_ns);
/* From now_ns on nothing is kept of threads that leave their CPUs; or it is again. */
void walker_pause_away(struct walker *walker, bool paused, uint64_t now_ns);

/* How large rings are: how much they have room for is known only then. */
void walker_set_ring(struct walker *walker, size_t ring_bytes);
/* They are empty, or nearly. */
void walker_drained(struct walker *walker);

/* From now on threads that leave their CPUs are noticed; see walker_watch() for whose. */
int walker_start(struct walker *walker, struct error *err);
/* From now on no longer: who is away stays so. */
void walker_stop(struct walker *walker);
/* Watches a process or thread; one that is `expected` from its exec on. */
int walker_watch(struct walker *walker, pid_t id, bool expected, struct error *err);
/*
 * Shows the threads that are away already, as slices without the stack itself, which have
 * room for it, see BPF_WALK_SLEEPER_VALUE(). Of a control group those of all others too.
 */
int walker_each_sleeper(struct walker *walker,
			void (*show)(void *self, struct bpf_walk_slice *slice), void *self,
			struct error *err);
/*
 * A thread is away already, nobody knows since when; where, is known to the caller or
 * to nobody. `task` is its id as the kernel counts. False when it has come back since, or
 * there is no room.
 */
bool walker_begin_away(struct walker *walker, uint32_t task, const struct bpf_walk_times *times,
		       bool has_stack);
/* Whether something is kept of a thread, which has left its CPU then, or was told as away. */
bool walker_knows_away(struct walker *walker, uint32_t task);
/* Shows the threads that are away (left_ns is not 0), or were and may have sums. */
void walker_each_away(struct walker *walker,
		      void (*show)(void *self, const struct bpf_walk_away *away), void *self);

/* The space of a key is that of a process, and there is more to be told of it. */
void walker_want(struct walker *walker, const struct bpf_walk_key *key,
		 struct tracked_process *process);
/*
 * The same for a space that a stack was walked in, if it is new: its parent's has served it.
 * Returns whether it is.
 */
bool walker_meet(struct walker *walker, const struct bpf_walk_key *key,
		 struct tracked_process *process);
/* Whether a process had another space before: it is another program since. */
bool walker_has_other(const struct walker *walker, const struct bpf_walk_key *key,
		      const struct tracked_process *process);
/* Tells the programs what is new. Returns whether there was anything. */
bool walker_update(struct walker *walker, struct process_tracker *tracker);

void walker_stats(struct walker *walker, struct walker_stats *ret);

#endif
