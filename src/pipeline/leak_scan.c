/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/leak_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "engine/ptrace/snapshot.h"
#include "heap/analysis.h"
#include "heap/leak_groups.h"
#include "heap/live.h"
#include "heap/reach.h"
#include "heap/report.h"
#include "model/dictionary.h"
#include "model/sink.h"
#include "pipeline/leak_layout.h"
#include "pipeline/transfer.h"
#include "proc/maps.h"
#include "recording/reader.h"
#include "recording/writer.h"
#include "unwind/arch/native.h"
#include "wire/inside.h"

/* What one scan takes. */
struct scan {
	const struct leak_job *job;
	const struct engine_process *process;
	struct snapshot snapshot;
	struct recording_reader *reader;
	struct heap_analysis *analysis;
	VEC(struct reach_block) blocks;
	uint32_t recorded; /* the process, of the recording as it was read */
	struct session_inside *inside;
	struct maps maps;
	VEC(struct layout_thread) threads;
	VEC(uint64_t) registers;
	struct leak_layout layout;
	struct leak_groups groups;
	struct reach_result result;
	uint32_t unread_threads;
	uint64_t cpu_ns; /* of this thread before the scan */
};

static uint64_t own_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void fini(struct scan *scan)
{
	snapshot_fini(&scan->snapshot);
	heap_analysis_free(scan->analysis);
	recording_reader_free(scan->reader);
	vec_fini(&scan->blocks);
	free(scan->inside);
	maps_fini(&scan->maps);
	vec_fini(&scan->threads);
	vec_fini(&scan->registers);
	leak_layout_fini(&scan->layout);
	leak_groups_fini(&scan->groups);
	free(scan->result.answers);
}

static size_t read_memory(void *self, uint64_t address, void *buffer, size_t size)
{
	return snapshot_read(self, address, buffer, size);
}

/* All that was written up to the moment is in the file. */
static int drain(const struct leak_job *job, struct error *err)
{
	int r = engine_drain(job->engine, err);

	return r < 0 ? r : recording_writer_flush(job->writer, err);
}

static int read_inside(struct scan *scan, struct error *err)
{
	scan->inside = calloc(1, sizeof(*scan->inside));
	if (!scan->inside)
		return error_set(err, -ENOMEM, "out of memory");
	if (snapshot_read(&scan->snapshot, scan->process->inside, scan->inside,
			  sizeof(*scan->inside)) != sizeof(*scan->inside)) {
		(void)error_set(err, -EPERM, "the memory of process %d cannot be read",
				(int)scan->process->pid);
		error_remedy(err, "run as root, or: sudo sysctl kernel.yama.ptrace_scope=0");
		return -EPERM;
	}
	return 0;
}

/* One that ends waits for us as it is; of others a copy is made. */
static int take_snapshot(struct scan *scan, struct error *err)
{
	int r = snapshot_stop(&scan->snapshot, scan->process->pid, err);

	if (r == 0)
		r = drain(scan->job, err);
	if (r == 0)
		r = read_inside(scan, err);
	if (r == 0 && !scan->process->waits)
		r = snapshot_fork(&scan->snapshot, scan->inside->call_address, err);
	if (r == 0 && !scan->process->waits)
		snapshot_go_on(&scan->snapshot);
	if (r == 0)
		r = maps_read(&scan->maps, scan->snapshot.memory_pid, 0, err);
	return r;
}

static int take_heap(void *self, const struct heap_batch *batch)
{
	return heap_analysis_batch(self, batch);
}

static int take_heap_until(void *self, uint64_t time_ns)
{
	return heap_analysis_until(self, time_ns);
}

static int open_again(int output_fd, struct recording_reader **ret, struct error *err)
{
	char path[64];
	int fd;
	int r;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", output_fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, -errno, "cannot read the recording again");
	r = recording_reader_open(fd, "the recording", ret, err);
	if (r < 0)
		(void)close(fd); /* only read from */
	return r;
}

static int read_events(struct scan *scan, struct error *err)
{
	struct heap_config config = {0};
	struct recording_visitor visitor = {.heap = take_heap, .heap_until = take_heap_until};
	int r = open_again(scan->job->output_fd, &scan->reader, err);

	if (r < 0)
		return r;
	config.dictionary = recording_reader_dictionary(scan->reader);
	if (heap_analysis_new(&config, &scan->analysis) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	visitor.self = scan->analysis;
	r = recording_reader_run(scan->reader, &visitor, err);
	if (r == 0 && heap_analysis_finish(scan->analysis) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	return r;
}

/* The last process that had this id; ID_NONE: it has told nothing yet. */
static uint32_t find_process(const struct dictionary *dictionary, pid_t pid)
{
	for (size_t i = dictionary->processes.count; i-- > 0;)
		if ((pid_t)dictionary->processes.items[i].pid == pid)
			return (uint32_t)i;
	return ID_NONE;
}

static int by_address(const void *a, const void *b)
{
	const struct reach_block *one = a;
	const struct reach_block *other = b;

	return (one->address > other->address) - (one->address < other->address);
}

/* Blocks whose free was lost may seem to lie within others: then the later one counts. */
static void drop_overlaps(struct scan *scan)
{
	size_t n = 0;

	for (size_t i = 0; i < scan->blocks.count; i++) {
		struct reach_block block = scan->blocks.items[i];

		while (n > 0 && reach_block_end(&scan->blocks.items[n - 1]) > block.address &&
		       scan->blocks.items[n - 1].born_ns <= block.born_ns)
			n--;
		if (n == 0 || reach_block_end(&scan->blocks.items[n - 1]) <= block.address)
			scan->blocks.items[n++] = block;
	}
	scan->blocks.count = n;
}

static int take_blocks(struct scan *scan)
{
	const struct heap_live *live = heap_analysis_live(scan->analysis);
	const struct heap_report *report = heap_analysis_report(scan->analysis);
	uint32_t space = scan->recorded * HEAP_SPACES + HEAP_SPACE_MALLOC;

	for (size_t i = 0; i < live->capacity && scan->recorded != ID_NONE; i++) {
		const struct heap_block *block = &live->slots[i];
		const struct heap_share *share;

		if (block->address == 0 || block->space != space || block->share == ID_NONE)
			continue;
		share = &report->sites.shares.items[block->share];
		if (vec_push(&scan->blocks,
			     (struct reach_block){
				     .address = block->address,
				     .size_bytes = block->size,
				     .born_ns = report->begin_ns + block->time_ns,
				     .stack = report->sites.sites.items[share->site].stack,
				     .thread = share->thread}) < 0)
			return -ENOMEM;
	}
	if (scan->blocks.count > 1)
		qsort(scan->blocks.items, scan->blocks.count, sizeof(*scan->blocks.items),
		      by_address);
	drop_overlaps(scan);
	return 0;
}

static int find_live(struct scan *scan, struct error *err)
{
	int r = read_events(scan, err);

	if (r < 0)
		return r;
	scan->recorded =
		find_process(recording_reader_dictionary(scan->reader), scan->process->pid);
	r = take_blocks(scan);
	/* Blocks have all that is needed of it. */
	heap_analysis_free(scan->analysis);
	scan->analysis = NULL;
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

/* The one that ends the program is in our own code: what it had before is told. */
static int take_registers(struct scan *scan, const struct snapshot_thread *thread)
{
	bool is_leaving =
		scan->process->waits && (uint32_t)thread->tid == scan->inside->leaving_tid;
	const uint64_t *values = is_leaving ? scan->inside->registers : thread->registers.values;
	size_t count = is_leaving ? INSIDE_REGISTERS : UNWIND_REGISTERS;

	for (size_t i = 0; i < count; i++)
		if (vec_push(&scan->registers, values[i]) < 0)
			return -ENOMEM;
	return vec_push(&scan->threads, (struct layout_thread){.tid = thread->tid,
							       .sp = thread->sp,
							       .pointer = thread->pointer});
}

static int take_threads(struct scan *scan)
{
	if (!scan->process->waits)
		scan->inside->leaving_tid = 0;
	for (size_t i = 0; i < scan->snapshot.threads.count; i++) {
		const struct snapshot_thread *thread = &scan->snapshot.threads.items[i];

		if (!thread->is_known)
			scan->unread_threads++;
		else if (take_registers(scan, thread) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int look(struct scan *scan)
{
	const struct layout_input input = {
		.maps = &scan->maps,
		.inside = scan->inside,
		.threads = scan->threads.items,
		.thread_count = scan->threads.count,
		.pid = scan->process->pid,
		.blocks = scan->blocks.items,
		.block_count = scan->blocks.count,
		.read = read_memory,
		.self = &scan->snapshot,
		.red_zone = UNWIND_NATIVE.red_zone,
	};
	struct reach_config config = {.read = read_memory,
				      .self = &scan->snapshot,
				      .registers = scan->registers.items,
				      .register_count = scan->registers.count};
	int r = leak_layout_make(&scan->layout, &input);

	if (r < 0)
		return r;
	config.ranges = scan->layout.ranges.items;
	config.range_count = scan->layout.ranges.count;
	config.files = scan->layout.files.items;
	config.file_count = scan->layout.files.count;
	r = reach_run(&config, scan->blocks.items, scan->blocks.count, &scan->result);
	for (size_t i = 0; i < scan->blocks.count && r == 0; i++)
		r = leak_groups_add(&scan->groups, &scan->blocks.items[i],
				    &scan->result.answers[i]);
	return r;
}

/* Groups name stacks and threads as the file was read; the writer has its own numbers. */
static int translate(struct scan *scan, struct transfer *transfer)
{
	int r = 0;

	for (size_t i = 0; i < scan->groups.groups.count && r == 0; i++) {
		struct leak_group *group = &scan->groups.groups.items[i];

		r = transfer_stack(transfer, group->stack, &group->stack);
		if (r == 0)
			r = transfer_thread(transfer, group->thread, &group->thread);
	}
	return r;
}

static int write_down(struct scan *scan, struct leak_summary *ret, struct error *err)
{
	struct sink *sink = recording_writer_sink(scan->job->writer);
	struct transfer transfer = {.from = recording_reader_dictionary(scan->reader), .to = sink};
	struct leak_scan found = {.time_ns = scan->snapshot.time_ns,
				  .paused_ns = scan->snapshot.paused_ns,
				  .cpu_ns = own_cpu_ns() - scan->cpu_ns,
				  .live_blocks = scan->groups.blocks,
				  .live_bytes = scan->groups.bytes,
				  .read_bytes = scan->result.read_bytes,
				  .unread_bytes = scan->result.unread_bytes,
				  .unread_threads = scan->unread_threads,
				  .trigger = (uint8_t)scan->job->trigger,
				  .group_count = scan->groups.groups.count,
				  .groups = scan->groups.groups.items};
	int r = scan->recorded == ID_NONE
			? -ENODATA
			: transfer_process(&transfer, scan->recorded, &found.process);

	if (r == 0)
		r = translate(scan, &transfer);
	transfer_fini(&transfer);
	if (r < 0)
		return error_errno(err, r, "cannot keep a leak scan of process %d",
				   (int)scan->process->pid);
	leak_scan_sums(&found, ret->sums);
	ret->time_ns = found.time_ns;
	ret->paused_ns = found.paused_ns;
	ret->cpu_ns = found.cpu_ns;
	return sink->ops->leaks(sink->self, &found, err);
}

int leak_scan_process(const struct leak_job *job, const struct engine_process *process,
		      struct leak_summary *ret, struct error *err)
{
	struct scan scan = {.job = job, .process = process, .cpu_ns = own_cpu_ns()};
	int r = take_snapshot(&scan, err);

	if (r == 0)
		r = find_live(&scan, err);
	if (r == 0 && (take_threads(&scan) < 0 || look(&scan) < 0))
		r = error_set(err, -ENOMEM, "out of memory");
	snapshot_fini(&scan.snapshot);
	if (r == 0)
		r = write_down(&scan, ret, err);
	fini(&scan);
	return r;
}
