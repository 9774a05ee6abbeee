/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_MODULE_LISTS_H
#define WICK_ENGINE_SIGNAL_MODULE_LISTS_H

/*
 * module_lists: which modules a program has, as it changes: for the names of its stacks, and for
 * the unwind tables that it is given.
 */

struct process_file;
struct process_tracker;
struct raw_stacks;
struct table_arena;
struct tick_clock;

/* All borrowed. */
struct module_lists {
	struct raw_stacks *stacks;
	struct process_tracker *tracker;
	struct table_arena *arena;
	const struct tick_clock *clock;
};

/*
 * Reads the map of the program where that may have changed. To be called when it is known which
 * records are to be read: their code is there, or was known before it went.
 */
void module_lists_learn(const struct module_lists *lists, struct process_file *file);

/* Gives the program what was learnt; one that waits for it unloads modules then. */
void module_lists_publish(struct process_file *file);

#endif
