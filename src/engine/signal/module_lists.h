/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_MODULE_LISTS_H
#define WICK_ENGINE_SIGNAL_MODULE_LISTS_H

/*
 * module_lists: the current modules of a program: for the names of its stacks, and for the unwind
 * tables that it receives.
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
 * Reads the mappings of the program if they may have changed. Call it once it is decided which
 * records will be read: their code is mapped now, or was known before it was unmapped.
 */
void module_lists_learn(const struct module_lists *lists, struct process_file *file);

/* Sends the list to the program; a program that waits for it then unloads modules. */
void module_lists_publish(struct process_file *file);

#endif
