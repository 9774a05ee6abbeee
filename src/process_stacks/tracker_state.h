/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_TRACKER_STATE_H
#define WICK_PROCESS_STACKS_TRACKER_STATE_H

/* What process_tracker.c and tracked_process.c share. Others use process_tracker.h. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "model/strings.h"
#include "process_stacks/known_modules.h"
#include "process_stacks/module_sources.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/tracked_threads.h"

struct tracked_process {
	pid_t pid;
	pid_t parent_pid;
	uint64_t start_ns;
	uint32_t exec_count;
	uint32_t number;     /* unique in this tracker: part of the context */
	uint32_t id;         /* in the sink; ID_NONE until a sample or map needs it */
	uint32_t comm;       /* string ids */
	uint32_t executable; /* "" until its first mapping after an exec */
	bool maps_told;      /* the sink knows what was inherited from the parent */
	bool ended;
	uint64_t refreshed_ns; /* when its map was last read again */
	struct address_space *space;
	struct pending_maps *pending; /* with process_tracker_set_lazy(): not in space yet */
};

/*
 * The maps of an ended process are kept until this many more have ended: its last samples may
 * arrive after the record of its end.
 */
#define ENDED_KEPT 64

struct process_tracker {
	struct sink *sink;
	bool offline; /* nothing can be read from /proc */
	bool lazy;
	bool walks_little;
	bool untitled; /* titles of processes are not read */
	struct strings strings;
	struct module_files *files;
	VEC(struct tracked_process *) processes; /* pointers, because callers keep them */
	VEC(struct tracked_process *) spare;     /* of processes that are forgotten, for new ones */
	size_t sweep_at;                         /* number of processes; 0: SWEEP_LEAST */
	struct tracked_threads threads;
	struct known_modules modules;
	struct module_sources sources;
	struct module_tables *tables;  /* NULL until a stack needs one */
	struct id_index process_index; /* by pid, the newest last */
	uint32_t kernel_module;        /* ID_NONE until a kernel frame needs it */
	uint32_t next_number;
	struct {
		struct tracked_process *process;
		uint32_t number; /* the process may have been replaced since */
	} ended[ENDED_KEPT];
	size_t ended_next;
	struct thread_namer namer; /* look is NULL: the kernel's names are used */
};

#endif
