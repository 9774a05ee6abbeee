/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/module_lists.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/signal/process_file.h"
#include "engine/signal/table_arena.h"
#include "engine/signal/tick_clock.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/raw_stacks.h"

/* A module at the address of an unloaded one was loaded after that, however late it is seen. */
static void read_map(const struct module_lists *lists, struct process_file *file)
{
	uint64_t ticks = atomic_load(&file->head->gone_ticks);
	uint64_t gone_ns = ticks != file->gone_seen ? tick_clock_ns(lists->clock, ticks) : 0;

	if (raw_stacks_learn(lists->stacks, file->pid, gone_ns))
		file->gone_seen = ticks;
}

/*
 * A program reports modules that it loads. Code that it maps itself, as V8 does, is found when a
 * stack leads there.
 */
static void make_list(const struct module_lists *lists, struct process_file *file, bool told)
{
	struct tracked_process *process = process_tracker_find(lists->tracker, file->pid);
	const struct address_region *regions;
	size_t count = 0;
	size_t listed;

	file->maps_list = 0;
	if (!process || !file->head->tables_address)
		return;
	regions = tracked_process_regions(process, &count);
	listed = table_arena_count(lists->arena, lists->tracker, regions, count);
	if (!told && listed == file->maps_listed)
		return;
	file->maps_listed = listed;
	file->maps_list = table_arena_list(lists->arena, lists->tracker, regions, count,
					   file->head->tables_address, file->head->tables_bytes);
}

void module_lists_learn(const struct module_lists *lists, struct process_file *file)
{
	uint32_t changed = atomic_load(&file->head->maps_changed);

	if (changed != file->maps_seen || atomic_load(&file->head->maps_moving) != 0)
		read_map(lists, file);
	file->maps_due = changed;
	make_list(lists, file, changed != file->maps_seen);
}

void module_lists_publish(struct process_file *file)
{
	if (file->maps_due == file->maps_seen && !file->maps_list)
		return;
	process_file_publish(file, file->maps_list, file->maps_due);
	file->maps_seen = file->maps_due;
	file->maps_list = 0;
}
