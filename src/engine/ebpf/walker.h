/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_WALKER_H
#define WICK_ENGINE_EBPF_WALKER_H

/*
 * walker: loads the BPF programs, which walk stacks in the kernel and write them into the rings
 * of perf events, and gives them unwind tables and memory maps.
 *
 * The programs get nothing in advance. A stack that they cannot walk comes as a slice of memory
 * with the key of its address space. The reader walks it, which makes the missing tables, and
 * calls walker_want() for the space.
 *
 * Programs and maps live as long as our descriptors: they end when wick ends.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/bpf_walk.h"

struct bpf_walk_away;
struct error;
struct heap_probes_config;
struct interpreters;
struct process_tracker;
struct tracked_process;
struct walker;

struct walker_config {
	uint32_t depth; /* of the user part of stacks */
	bool kernel;    /* kernel frames too */
	bool counters;  /* the kernel writes the counters of a group of events */
	bool machine;   /* expect many processes */
	bool away;      /* record threads off their CPUs too */
	bool wakers;    /* and who wakes them */
	uint64_t least_away_ns;
	uint32_t threads;          /* expected number; 0: unknown */
	enum bpf_walk_by watch_by; /* how the watched threads are selected */
	bool watch_children;
	const char *watch_cgroup;          /* a folder */
	uint32_t namespace_inode;          /* pid namespace of the reported ids; 0: the kernel's */
	struct interpreters *interpreters; /* their calls are read too; NULL: not */
	const struct heap_probes_config *heap; /* functions of an allocator; NULL: none */
};

/* What the programs have done so far. */
struct walker_stats {
	uint64_t counters[BPF_WALK_COUNTERS];
	uint64_t runs;      /* of the program that takes samples */
	uint64_t run_ns;    /* time of all these; 0: unknown */
	uint64_t switches;  /* runs of the program that sees context switches */
	uint64_t switch_ns; /* time of these, and of the programs that see wakeups */
	uint64_t own_ns;    /* the part of switch_ns that is for watched threads */
	uint64_t bytes;     /* of tables and maps in the kernel */
	uint64_t bells;     /* how often we were woken for unknown address spaces */
};

/* Whether it works here: 0, or a negative errno and the reason. Leaves nothing behind. */
int walker_probe(struct error *err);

/* The caller releases *ret with walker_close(). */
int walker_open(const struct walker_config *config, struct walker **ret, struct error *err);
void walker_close(struct walker *walker); /* NULL is fine */

/*
 * Whether records of wakers say if an interrupt woke the thread. If not, only the kernel's part of
 * the stack shows it.
 */
bool walker_knows_interrupts(const struct walker *walker);

/* Leaves the run time of programs unmeasured from now on: reading clocks takes 0.1 us a run. */
void walker_stop_timing(struct walker *walker);

/* The programs make the samples of this event and of those that inherit it. */
int walker_attach(struct walker *walker, int event_fd, struct error *err);
/* Sends the stacks of a CPU to the ring of this event. */
int walker_set_output(struct walker *walker, int cpu, int event_fd, struct error *err);

/* The share of samples to take from now on; 0: none. */
void walker_set_share(struct walker *walker, double share);

/*
 * The average time between two stacks of a thread at a place where it often leaves its CPU; the
 * times between them are added up. 0: take every stack.
 */
void walker_set_away_gap(struct walker *walker, uint64_t gap_ns);
/* While paused, threads that leave their CPUs are ignored; a change applies from now_ns on. */
void walker_pause_away(struct walker *walker, bool paused, uint64_t now_ns);

/* The size of each ring: the programs ration large records by it. */
void walker_set_ring(struct walker *walker, size_t ring_bytes);
/* The rings are empty, or nearly. */
void walker_drained(struct walker *walker);

/*
 * Becomes readable when a stack of an unknown address space was taken, until the bell is taken; -1:
 * there is none. Whether it rang.
 */
int walker_bell_fd(const struct walker *walker);
bool walker_take_bell(struct walker *walker);

/* From now on the programs see threads leave their CPUs; see walker_watch() for which. */
int walker_start(struct walker *walker, struct error *err);
/* From now on they do not: threads off their CPUs stay so in the map. */
void walker_stop(struct walker *walker);
/* Watches a process or thread; expected: only from its exec on. */
int walker_watch(struct walker *walker, pid_t id, bool expected, struct error *err);
/*
 * Calls show() for each thread that is off its CPU already, with a slice that has room for the
 * stack but not the stack itself, see BPF_WALK_SLEEPER_VALUE(). With a control group it shows the
 * threads outside the group too.
 */
int walker_each_sleeper(struct walker *walker,
			void (*show)(void *self, struct bpf_walk_slice *slice), void *self,
			struct error *err);
/*
 * Adds a thread that is off its CPU already. has_stack: the caller keeps its stack. `task` is its
 * id in the kernel's own namespace. False: it has left its CPU again since, or there is no room.
 */
bool walker_begin_away(struct walker *walker, uint32_t task, const struct bpf_walk_times *times,
		       bool has_stack);
/* Whether the map has a thread: it has left its CPU once, or was added as off its CPU. */
bool walker_knows_away(struct walker *walker, uint32_t task);
/* Calls show() for each thread in the map: off its CPU (left_ns is not 0), or with sums left. */
void walker_each_away(struct walker *walker,
		      void (*show)(void *self, const struct bpf_walk_away *away), void *self);

/* The key belongs to the address space of this process: give it to the programs. */
void walker_want(struct walker *walker, const struct bpf_walk_key *key,
		 struct tracked_process *process);
/*
 * The same for the space of a stack that the programs walked, if the space is new: they used
 * that of its parent. Returns whether it is new.
 */
bool walker_meet(struct walker *walker, const struct bpf_walk_key *key,
		 struct tracked_process *process);
/* A stack of a wanted space was read without the calls of its interpreter, if it has one. */
void walker_count_early(struct walker *walker, const struct bpf_walk_key *key);
/* Whether the process had another space before: it has run exec since. */
bool walker_has_other(const struct walker *walker, const struct bpf_walk_key *key,
		      const struct tracked_process *process);
/* Sends new maps and tables to the programs. Returns whether there were any. */
bool walker_update(struct walker *walker, struct process_tracker *tracker);

void walker_stats(struct walker *walker, struct walker_stats *ret);

#endif
