/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdint.h>
#include <sys/uio.h>

#include "base/id_index.h"
#include "proc/address_space.h"
#include "process_stacks/module_tables.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/tracker_state.h"
#include "unwind/walk.h"

uint64_t tracked_process_context(const struct tracked_process *process, uint64_t time_ns)
{
	return hash_pair(process->number,
			 process->space ? address_space_generation_at(process->space, time_ns)
					: UINT64_MAX);
}

uint32_t tracked_process_number(const struct tracked_process *process)
{
	return process->number;
}

pid_t tracked_process_pid(const struct tracked_process *process)
{
	return process->pid;
}

bool tracked_process_ended(const struct tracked_process *process)
{
	return process->ended || !process->space;
}

const struct address_region *tracked_process_regions(const struct tracked_process *process,
						     size_t *ret_count)
{
	*ret_count = 0;
	return process->space ? address_space_regions(process->space, ret_count) : NULL;
}

struct frame tracked_process_frame(const struct tracked_process *process, uint64_t time_ns,
				   uint64_t address)
{
	struct address_hit hit = {.module = MODULE_NONE, .vaddr = address};

	if (process->space)
		(void)address_space_resolve(process->space, time_ns, address, &hit);
	return (struct frame){.kind = FRAME_NATIVE, .a = hit.module, .b = hit.vaddr};
}

const struct map_region *process_tracker_module(const struct process_tracker *tracker,
						uint32_t module)
{
	const struct module_source *source = module_sources_get(&tracker->sources, module);

	return source ? &source->region : NULL;
}

bool process_tracker_table(struct process_tracker *tracker, uint32_t module, bool make,
			   struct module_table *ret)
{
	const struct module_source *source = module_sources_get(&tracker->sources, module);

	*ret = (struct module_table){0};
	if (!tracker->tables)
		tracker->tables = module_tables_new(tracker->files, tracker->walks_little);
	if (!tracker->tables || !source)
		return true; /* there is none */
	if (!make)
		return module_tables_peek(tracker->tables, module, ret);
	module_tables_get(tracker->tables, module, source->pid, &source->region, &source->build_id,
			  ret);
	return true;
}

void process_tracker_rest(struct process_tracker *tracker)
{
	if (tracker->tables && tracker->walks_little)
		module_tables_rest(tracker->tables);
}

void process_tracker_sweep(struct process_tracker *tracker)
{
	if (tracker->tables)
		module_tables_sweep(tracker->tables);
}

bool tracked_process_read(const struct process_tracker *tracker,
			  const struct tracked_process *process, uint64_t address, uint64_t *ret)
{
	struct iovec local = {ret, sizeof(*ret)};
	struct iovec remote = {__extension__(void *)(uintptr_t) address, sizeof(*ret)};

	return !tracker->offline && !process->ended &&
	       process_vm_readv(process->pid, &local, 1, &remote, 1, 0) == sizeof(*ret);
}

bool tracked_process_code(struct process_tracker *tracker, const struct tracked_process *process,
			  uint64_t time_ns, uint64_t address, struct unwind_module *ret)
{
	struct module_table table;
	struct address_hit hit;

	if (!process->space || !address_space_resolve(process->space, time_ns, address, &hit))
		return false;
	(void)process_tracker_table(tracker, hit.module, true, &table);
	*ret = (struct unwind_module){
		.start = address,
		.end = address + 1,
		.bias = address - hit.vaddr,
		.table = table.table,
		.pages = table.pages,
	};
	return true;
}
