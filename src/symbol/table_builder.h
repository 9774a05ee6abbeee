/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SYMBOL_TABLE_BUILDER_H
#define WICK_SYMBOL_TABLE_BUILDER_H

/*
 * table_builder: builds the tables of symbols of large files (disk_table.h) in a process of its
 * own.
 *
 * The process runs only when no other wants the CPU, and the memory that it needs for a moment is
 * never that of the caller. One works at a time. Small files are left to the caller.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct module;
struct symbol_search;

/* Of CPU time, for one module: much more than the largest programs need. */
#define TABLE_BUILDER_CPU_S 300u

/* Starts as zeros. */
struct table_builder {
	pid_t pid;            /* 0: none works */
	uint32_t module;      /* the id of the one it works on */
	bool hurried;         /* not at idle priority; see table_builder_hurry() */
	uint64_t cpu_ns;      /* of the processes that have ended */
	VEC(uint32_t) failed; /* ids of modules whose process was killed or crashed */
};

enum table_state {
	TABLE_PENDING, /* a process is busy, perhaps with another module */
	TABLE_READY,   /* the tables are there, or it takes little to read the file without them */
	TABLE_FAILED, /* who reads the file may fare as the process did, which did not survive it */
};

/*
 * The state of the tables of a module. If they are needed, a process begins to build them unless
 * one is busy, and at most until the deadline (CLOCK_MONOTONIC; 0: not at all) it waits for them.
 */
enum table_state table_builder_look(struct table_builder *builder, const struct module *module,
				    uint32_t module_id, const struct symbol_search *search,
				    uint64_t deadline_ns);

/*
 * Whether processes work at a low priority instead of idle priority from now on, the current one
 * included: so they get on even if the CPUs are always busy.
 */
void table_builder_hurry(struct table_builder *builder, bool hurried);

/* Ends the process. */
void table_builder_fini(struct table_builder *builder);

#endif
