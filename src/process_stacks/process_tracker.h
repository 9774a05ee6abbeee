/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_PROCESS_TRACKER_H
#define WICK_PROCESS_STACKS_PROCESS_TRACKER_H

/*
 * process_tracker: which processes run, under which name, with what mapped where.
 *
 * It receives the kernel's side-band records in time order, and reads /proc for what existed
 * before. It reports processes, threads, modules and maps to the sink when a sample first needs
 * them, and turns raw addresses into frames. Used by every engine that receives side-band records.
 *
 * A process that execs becomes another one with the same pid.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "elf/elf.h"
#include "model/entity.h"

struct address_region;
struct error;
struct map_region;
struct module_table;
struct process_tracker;
struct sink;
struct tracked_process;
struct unwind_module;

/* Borrows the sink. NULL if out of memory. */
struct process_tracker *process_tracker_new(struct sink *sink);
void process_tracker_free(struct process_tracker *tracker);

/*
 * The records are from processes that are gone, or from another machine: /proc is not read, and
 * files count only if their identity is recorded and matches.
 */
void process_tracker_set_offline(struct process_tracker *tracker);

/*
 * Finds out about the files of a process when it gets its first sample. If few stacks are walked
 * with its tables, these are small rather than fast.
 */
void process_tracker_set_lazy(struct process_tracker *tracker, bool walks_little);

/*
 * Whether processes are called by the names of their commands alone, so that their arguments are
 * never read. Without a tracker (NULL) it does nothing.
 */
void process_tracker_set_untitled(struct process_tracker *tracker, bool untitled);

/* Reads a running process from /proc: name, threads, maps. -ESRCH if it is gone. */
int process_tracker_seed(struct process_tracker *tracker, pid_t pid, struct error *err);

void process_tracker_fork(struct process_tracker *tracker, uint64_t time_ns, pid_t pid, pid_t tid,
			  pid_t parent_pid, pid_t parent_tid);
void process_tracker_comm(struct process_tracker *tracker, uint64_t time_ns, pid_t pid, pid_t tid,
			  const char *comm, bool exec);
void process_tracker_exit(struct process_tracker *tracker, pid_t pid, pid_t tid);

/*
 * An executable mapping appeared. build_id may be NULL or empty: unknown. Returns whether it
 * matters now: false if the process has no sample yet, and the tracker is lazy.
 */
bool process_tracker_map(struct process_tracker *tracker, uint64_t time_ns, pid_t pid,
			 const struct map_region *region, const struct build_id *build_id);

/*
 * The process and the dictionary's thread id for a sample; unknown ones are looked up in /proc.
 * Returns 0 or a negative errno.
 */
int process_tracker_sample(struct process_tracker *tracker, pid_t pid, pid_t tid,
			   struct tracked_process **ret_process, uint32_t *ret_thread);

/*
 * Names threads otherwise than the kernel does. look() is called for each sample of a thread that
 * is not the first of its process, before the sink gets its name, if it does not have it yet.
 */
struct thread_namer {
	void (*look)(void *self, const struct tracked_process *process, bool is_new);
	void *self;
};

void process_tracker_set_namer(struct process_tracker *tracker, const struct thread_namer *namer);

/* Names a thread of a process, which may not have been seen yet. */
void process_tracker_name(struct process_tracker *tracker, const struct tracked_process *process,
			  pid_t tid, const char *name);

/*
 * Suggests a name for a thread and its process, which no record has reported and which may already
 * be gone: call it before process_tracker_sample().
 */
void process_tracker_suggest(struct process_tracker *tracker, pid_t pid, pid_t tid,
			     const char *comm);

/* The process of a pid, NULL if it was not seen. */
struct tracked_process *process_tracker_find(struct process_tracker *tracker, pid_t pid);
/* The same, also with what it mapped while it had no sample. */
struct tracked_process *process_tracker_find_mapped(struct process_tracker *tracker, pid_t pid);

/* Iterates over the pids of processes that have not ended; *at is 0 first. 0: no more. */
pid_t process_tracker_next_live(const struct process_tracker *tracker, size_t *at);

/* The name of a thread that was seen, else "". Valid until the next record. */
const char *process_tracker_thread_name(struct process_tracker *tracker, pid_t tid);

/* Differs whenever addresses of the process may mean something else. */
uint64_t tracked_process_context(const struct tracked_process *process, uint64_t time_ns);

/* Differs from that of all other processes, and from that of the same process before an exec. */
uint32_t tracked_process_number(const struct tracked_process *process);
pid_t tracked_process_pid(const struct tracked_process *process);
bool tracked_process_ended(const struct tracked_process *process);

/* What is mapped now, in order of address. Valid until something is mapped. */
const struct address_region *tracked_process_regions(const struct tracked_process *process,
						     size_t *ret_count);

/* The frame of a user address at that time. */
struct frame tracked_process_frame(const struct tracked_process *process, uint64_t time_ns,
				   uint64_t address);

/*
 * The module that contains a user address at that time, with its unwind table, which is created at
 * first use. False if no module does.
 */
bool tracked_process_code(struct process_tracker *tracker, const struct tracked_process *process,
			  uint64_t time_ns, uint64_t address, struct unwind_module *ret);

/* Eight bytes of the process as they are now. False if it is gone, or the tracker is offline. */
bool tracked_process_read(const struct process_tracker *tracker,
			  const struct tracked_process *process, uint64_t address, uint64_t *ret);

/* The file of a module as it was first seen mapped; NULL: it was not. */
const struct map_region *process_tracker_module(const struct process_tracker *tracker,
						uint32_t module);

/*
 * The table of a module, empty if it has none. False if it was never requested and make is false.
 */
bool process_tracker_table(struct process_tracker *tracker, uint32_t module, bool make,
			   struct module_table *ret);

/* Gives back the memory of tables, if few stacks are walked with them; they stay valid. */
void process_tracker_rest(struct process_tracker *tracker);

/* Frees tables that were not used lately; those that were returned are invalid. */
void process_tracker_sweep(struct process_tracker *tracker);

/*
 * Reads the map of a process again, for when not all its threads are watched; no more often than is
 * worthwhile. Returns whether it was read.
 */
bool process_tracker_refresh(struct process_tracker *tracker, struct tracked_process *process,
			     uint64_t time_ns);

/* The frame of a kernel address. */
struct frame process_tracker_kernel_frame(struct process_tracker *tracker, uint64_t address);

#endif
