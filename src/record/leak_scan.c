/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/leak_scan.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "engine/ptrace/snapshot.h"
#include "heap/analysis.h"
#include "heap/leak/leak_groups.h"
#include "heap/leak/leak_layout.h"
#include "heap/leak/reach.h"
#include "heap/live_blocks.h"
#include "heap/report.h"
#include "load/convert/id_transfer.h"
#include "model/dictionary.h"
#include "model/sink.h"
#include "proc/maps.h"
#include "proc/pagemap.h"
#include "proc/process_info.h"
#include "recording/reader.h"
#include "recording/writer.h"
#include "symbol/address_sort.h"
#include "unwind/arch/native.h"
#include "wire/scan_hints.h"

/* Number of blocks to allocate memory for in advance. */
#define AHEAD 16u
/*
 * How long threads may take to stop, because they may have to wait for a CPU. A running process
 * must not be held up for as long as one that is exiting.
 */
#define RUNNING_NS NS_PER_SEC
#define LEAVING_NS (10 * NS_PER_SEC)

struct leak_search {
	struct leak_job job;
	struct engine_process process;
	pthread_t thread;
	bool has_thread;
	_Atomic bool done; /* set by the thread */
	int code;          /* of the thread, with err */
	struct error err;
	struct snapshot snapshot;
	uint64_t recorded_bytes; /* size of the file when all threads were stopped */
	struct recording_reader *reader;
	struct heap_analysis *analysis;
	VEC(struct reach_block) blocks;
	uint32_t recorded; /* process id in the dictionary of the reader */
	struct scan_hints *inside;
	struct maps maps;
	struct pagemap private_pages; /* of the scanned memory */
	struct pagemap shared_pages;  /* of the process itself: a copy does not have these yet */
	VEC(struct layout_thread) threads;
	VEC(uint64_t) registers;
	struct leak_layout layout;
	struct leak_groups groups;
	struct reach_result result;
	uint32_t unread_threads;
	uint64_t cpu_ns; /* of both threads */
};

static uint64_t own_cpu_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void fini(struct leak_search *search)
{
	snapshot_fini(&search->snapshot);
	heap_analysis_free(search->analysis);
	recording_reader_free(search->reader);
	vec_fini(&search->blocks);
	free(search->inside);
	maps_fini(&search->maps);
	pagemap_close(&search->private_pages);
	pagemap_close(&search->shared_pages);
	vec_fini(&search->threads);
	vec_fini(&search->registers);
	leak_layout_fini(&search->layout);
	leak_groups_fini(&search->groups);
	free(search->result.answers);
	free(search);
}

static size_t read_memory(void *self, uint64_t address, void *buffer, size_t size)
{
	const struct leak_search *search = self;

	return snapshot_read(&search->snapshot, address, buffer, size);
}

static uint64_t next_touched(void *self, enum reach_pages pages, uint64_t from, uint64_t end)
{
	struct leak_search *search = self;

	return pagemap_next(pages == REACH_PAGES_SHARED ? &search->shared_pages
							: &search->private_pages,
			    from, end);
}

/* Everything up to this moment has been written to the file. */
/* The rest of the file is about later moments. */
static int drain(struct leak_search *search, struct error *err)
{
	struct stat info;
	int r;

	engine_settle(search->job.engine);
	r = engine_drain(search->job.engine, err);
	if (r == 0)
		r = recording_writer_flush(search->job.writer, err);
	if (r < 0)
		return r;
	if (fstat(search->job.output_fd, &info) < 0)
		return error_file(err, -errno, "cannot read the recording again");
	search->recorded_bytes = (uint64_t)info.st_size;
	return 0;
}

static int read_inside(struct leak_search *search, struct error *err)
{
	search->inside = calloc(1, sizeof(*search->inside));
	if (!search->inside)
		return error_set(err, -ENOMEM, "out of memory");
	if (search->process.inside == 0)
		return 0; /* nothing of ours is in it */
	if (snapshot_read(&search->snapshot, search->process.inside, search->inside,
			  sizeof(*search->inside)) != sizeof(*search->inside)) {
		(void)error_set(err, -EPERM, "cannot read the memory of process %d",
				(int)search->process.pid);
		error_remedy(err, "run as root, or: sudo sysctl kernel.yama.ptrace_scope=0");
		return -EPERM;
	}
	return 0;
}

/* A process that is exiting waits for us and is scanned itself; others are copied. */
static int take_snapshot(struct leak_search *search, struct error *err)
{
	int r = snapshot_stop(&search->snapshot, search->process.pid,
			      search->process.waits ? LEAVING_NS : RUNNING_NS, err);

	if (r == 0)
		r = drain(search, err);
	if (r == 0)
		r = read_inside(search, err);
	if (r == 0 && !search->process.waits)
		r = snapshot_fork(&search->snapshot, search->inside->call_address, err);
	if (r == 0 && !search->process.waits)
		snapshot_go_on(&search->snapshot);
	if (r == 0)
		r = maps_read(&search->maps, search->snapshot.memory_pid, 0, err);
	if (r == 0) {
		pagemap_open(&search->private_pages, search->snapshot.memory_pid);
		pagemap_open(&search->shared_pages, search->process.pid);
	}
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
		return error_file(err, -errno, "cannot read the recording again");
	r = recording_reader_open(fd, "the recording", ret, err);
	if (r < 0)
		(void)close(fd); /* only read from */
	return r;
}

static int read_events(struct leak_search *search, struct error *err)
{
	struct heap_config config = {0};
	struct recording_visitor visitor = {.heap = take_heap, .heap_until = take_heap_until};
	int r = open_again(search->job.output_fd, &search->reader, err);

	if (r < 0)
		return r;
	recording_reader_limit(search->reader, search->recorded_bytes);
	config.dictionary = recording_reader_dictionary(search->reader);
	if (heap_analysis_new(&config, &search->analysis) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	visitor.self = search->analysis;
	r = recording_reader_run(search->reader, &visitor, err);
	if (r == 0 && heap_analysis_finish(search->analysis) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	return r;
}

/* The last process with this PID; ID_NONE: it has reported nothing yet. */
static uint32_t find_process(const struct dictionary *dictionary, pid_t pid)
{
	for (size_t i = dictionary->processes.count; i-- > 0;)
		if ((pid_t)dictionary->processes.items[i].pid == pid)
			return (uint32_t)i;
	return ID_NONE;
}

/* If a free was lost, a block may seem to overlap a later one: then the later one counts. */
static void drop_overlaps(struct leak_search *search)
{
	size_t n = 0;

	for (size_t i = 0; i < search->blocks.count; i++) {
		struct reach_block block = search->blocks.items[i];

		while (n > 0 && reach_block_end(&search->blocks.items[n - 1]) > block.address &&
		       search->blocks.items[n - 1].born_ns <= block.born_ns)
			n--;
		if (n == 0 || reach_block_end(&search->blocks.items[n - 1]) <= block.address)
			search->blocks.items[n++] = block;
	}
	search->blocks.count = n;
}

static struct reach_block block_of(const struct heap_report *report, const struct heap_block *block)
{
	const struct heap_share *share = &report->sites.shares.items[block->share];

	return (struct reach_block){.address = block->address,
				    .size_bytes = block->size,
				    .born_ns = report->begin_ns + block->time_ns,
				    .stack = report->sites.sites.items[share->site].stack,
				    .thread = share->thread};
}

/* The range of the process's blocks in the table, sorted by address. */
static int sort_slots(const struct heap_live *live, uint32_t space, struct address_ref **ret,
		      size_t *ret_count)
{
	VEC(struct address_ref) refs = {0};

	if (live->capacity > UINT32_MAX || vec_reserve(&refs, live->count + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < live->capacity; i++)
		if (live->slots[i].address != 0 && live->slots[i].space == space &&
		    live->slots[i].share != ID_NONE)
			refs.items[refs.count++] =
				(struct address_ref){live->slots[i].address, (uint32_t)i};
	if (address_sort(refs.items, refs.count) < 0) {
		vec_fini(&refs);
		return -ENOMEM;
	}
	*ret = refs.items;
	*ret_count = refs.count;
	return 0;
}

static int take_blocks(struct leak_search *search)
{
	const struct heap_live *live = heap_analysis_live(search->analysis);
	const struct heap_report *report = heap_analysis_report(search->analysis);
	SCOPED(mem) struct address_ref *refs = NULL;
	size_t count = 0;

	if (search->recorded == ID_NONE)
		return 0;
	if (sort_slots(live, search->recorded * HEAP_SPACES + HEAP_SPACE_MALLOC, &refs, &count) <
		    0 ||
	    vec_reserve(&search->blocks, count + 1) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (i + AHEAD < count)
			__builtin_prefetch(&live->slots[refs[i + AHEAD].index]);
		search->blocks.items[i] = block_of(report, &live->slots[refs[i].index]);
	}
	search->blocks.count = count;
	drop_overlaps(search);
	return 0;
}

static int find_live(struct leak_search *search, struct error *err)
{
	int r = read_events(search, err);

	if (r < 0)
		return r;
	search->recorded =
		find_process(recording_reader_dictionary(search->reader), search->process.pid);
	if (search->recorded == ID_NONE && search->process.bypasses)
		return error_advise(err,
				    error_set(err, -ENODATA,
					      "process %d has a statically linked malloc(), and "
					      "none of its blocks are known",
					      (int)search->process.pid),
				    "link the allocator dynamically");
	r = take_blocks(search);
	/* The blocks have everything that is needed from it. */
	heap_analysis_free(search->analysis);
	search->analysis = NULL;
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

/* The thread that ends the program is in our own code: use the registers it had before. */
static int take_registers(struct leak_search *search, const struct snapshot_thread *thread)
{
	bool is_leaving =
		search->process.waits && (uint32_t)thread->tid == search->inside->leaving_tid;
	const uint64_t *values = is_leaving ? search->inside->registers : thread->registers.values;
	size_t count = is_leaving ? INSIDE_REGISTERS : UNWIND_REGISTERS;

	for (size_t i = 0; i < count; i++)
		if (vec_push(&search->registers, values[i]) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < thread->vector_count && !is_leaving; i++)
		if (vec_push(&search->registers,
			     search->snapshot.vectors.items[thread->first_vector + i]) < 0)
			return -ENOMEM;
	return vec_push(&search->threads, (struct layout_thread){.tid = thread->tid,
								 .sp = thread->sp,
								 .pointer = thread->pointer});
}

/* The arguments of threads that have not started yet. */
static int take_arguments(struct leak_search *search)
{
	for (size_t i = 0; i < INSIDE_THREADS; i++) {
		uint64_t argument = atomic_load(&search->inside->arguments[i]);

		if (argument != 0 && vec_push(&search->registers, argument) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int take_threads(struct leak_search *search)
{
	if (!search->process.waits)
		search->inside->leaving_tid = 0;
	for (size_t i = 0; i < search->snapshot.threads.count; i++) {
		const struct snapshot_thread *thread = &search->snapshot.threads.items[i];

		if (thread->has_ended)
			continue;
		if (!thread->is_known)
			search->unread_threads++;
		else if (take_registers(search, thread) < 0)
			return -ENOMEM;
	}
	return take_arguments(search);
}

static bool first_ended(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->threads.count; i++)
		if (snapshot->threads.items[i].tid == snapshot->pid)
			return snapshot->threads.items[i].has_ended;
	return false;
}

static int look(struct leak_search *search)
{
	const struct layout_input input = {
		.maps = &search->maps,
		.inside = search->process.inside ? search->inside : NULL,
		.has_older = search->process.has_older,
		.threads = search->threads.items,
		.thread_count = search->threads.count,
		.first_ended = first_ended(&search->snapshot),
		.pid = search->process.pid,
		.blocks = search->blocks.items,
		.block_count = search->blocks.count,
		.read = read_memory,
		.self = search,
		.red_zone = UNWIND_NATIVE.red_zone,
	};
	struct reach_config config = {.read = read_memory,
				      .next_touched = next_touched,
				      .self = search,
				      .registers = search->registers.items,
				      .register_count = search->registers.count};
	int r = leak_layout_make(&search->layout, &input);

	if (r < 0)
		return r;
	config.ranges = search->layout.ranges.items;
	config.range_count = search->layout.ranges.count;
	config.files = search->layout.files.items;
	config.file_count = search->layout.files.count;
	r = reach_run(&config, search->blocks.items, search->blocks.count, &search->result);
	for (size_t i = 0; i < search->blocks.count && r == 0; i++)
		r = leak_groups_add(&search->groups, &search->blocks.items[i],
				    &search->result.answers[i]);
	return r;
}

/* Groups refer to stacks and threads by ids of the reader; the writer has its own ids. */
static int translate(struct leak_search *search, struct id_transfer *transfer)
{
	int r = 0;

	for (size_t i = 0; i < search->groups.groups.count && r == 0; i++) {
		struct leak_group *group = &search->groups.groups.items[i];

		r = id_transfer_stack(transfer, group->stack, &group->stack);
		if (r == 0)
			r = id_transfer_thread(transfer, group->thread, &group->thread);
	}
	return r;
}

/* A process that has not allocated anything is not in the recording. It has no leaks. */
static int name_process(const struct leak_search *search, struct sink *sink, uint32_t *ret)
{
	struct process_info info;
	struct process process = {.pid = (uint32_t)search->process.pid};
	int r = process_info_read(search->process.pid, &info, NULL);

	if (r < 0)
		return r;
	process.parent_pid = (uint32_t)info.parent_pid;
	process.start_ns = info.start_ns;
	process.comm = info.comm;
	process.executable = info.executable;
	return sink_process(sink, &process, ret);
}

static int write_down(struct leak_search *search, struct leak_summary *ret, struct error *err)
{
	struct sink *sink = recording_writer_sink(search->job.writer);
	struct id_transfer transfer = {.from = recording_reader_dictionary(search->reader),
				       .to = sink};
	struct leak_scan found = {.time_ns = search->snapshot.time_ns,
				  .paused_ns = search->snapshot.paused_ns,
				  .cpu_ns = search->cpu_ns,
				  .live_blocks = search->groups.blocks,
				  .live_bytes = search->groups.bytes,
				  .read_bytes = search->result.read_bytes,
				  .unread_bytes = search->result.unread_bytes,
				  .unread_threads = search->unread_threads,
				  .trigger = (uint8_t)search->job.trigger,
				  .group_count = search->groups.groups.count,
				  .groups = search->groups.groups.items};
	int r = search->recorded == ID_NONE
			? name_process(search, sink, &found.process)
			: id_transfer_process(&transfer, search->recorded, &found.process);

	if (r == 0)
		r = translate(search, &transfer);
	id_transfer_fini(&transfer);
	if (r < 0)
		return error_errno(err, r, "cannot store a leak scan of process %d",
				   (int)search->process.pid);
	leak_scan_sums(&found, ret->sums);
	ret->time_ns = found.time_ns;
	ret->paused_ns = found.paused_ns;
	ret->cpu_ns = found.cpu_ns;
	return sink_leaks(sink, &found, err);
}

/* The scanned process may be killed at any time: then unreadable memory means nothing. */
static int check_alive(struct leak_search *search)
{
	struct process_info info;

	if (process_info_read(search->snapshot.memory_pid, &info, NULL) == 0 && info.state != 'Z' &&
	    info.state != 'X')
		return 0;
	return error_advise(
		&search->err,
		error_set(&search->err, -ESRCH,
			  "process %d ended while its memory was being scanned",
			  (int)search->snapshot.memory_pid),
		"if the program still runs, scan it again; otherwise see what it did not "
		"free: wick leaks FILE");
}

static void *run(void *self)
{
	struct leak_search *search = self;
	uint64_t before_ns = own_cpu_ns();
	int r = find_live(search, &search->err);

	if (r == 0 && (take_threads(search) < 0 || look(search) < 0))
		r = error_set(&search->err, -ENOMEM, "out of memory");
	if (r == 0)
		r = check_alive(search);
	search->code = r;
	search->cpu_ns += own_cpu_ns() - before_ns;
	atomic_store(&search->done, true);
	return NULL;
}

int leak_search_begin(const struct leak_job *job, const struct engine_process *process,
		      struct leak_search **ret, struct error *err)
{
	struct leak_search *search = calloc(1, sizeof(*search));
	uint64_t before_ns = own_cpu_ns();
	int r;

	if (!search)
		return error_set(err, -ENOMEM, "out of memory");
	search->job = *job;
	search->process = *process;
	search->private_pages.fd = search->shared_pages.fd = -1;
	r = take_snapshot(search, err);
	search->cpu_ns = own_cpu_ns() - before_ns;
	if (r == 0) {
		search->has_thread = pthread_create(&search->thread, NULL, run, search) == 0;
		if (!search->has_thread)
			(void)run(search); /* then scan in this thread */
		*ret = search;
		return 0;
	}
	fini(search);
	return r;
}

bool leak_search_is_done(struct leak_search *search)
{
	if (!search->process.waits)
		snapshot_let_late_go(&search->snapshot);
	return atomic_load(&search->done);
}

/* Waits for the thread and lets the process continue. */
static void let_go(struct leak_search *search, struct leak_copy *ret_left)
{
	if (search->has_thread)
		(void)pthread_join(search->thread, NULL); /* it is our child: this cannot fail */
	snapshot_fini(&search->snapshot);
	*ret_left = (struct leak_copy){search->snapshot.pid,
				       search->snapshot.is_left ? search->snapshot.child : 0,
				       search->snapshot.call_address, search->snapshot.in_vdso};
}

void leak_search_drop(struct leak_search *search, struct leak_copy *ret_left)
{
	let_go(search, ret_left);
	fini(search);
}

int leak_search_end(struct leak_search *search, struct leak_summary *ret, struct error *err)
{
	uint64_t before_ns = own_cpu_ns();
	int r;

	let_go(search, &ret->left);
	r = search->code;
	if (r < 0 && err)
		*err = search->err;
	search->cpu_ns += own_cpu_ns() - before_ns;
	if (r == 0)
		r = write_down(search, ret, err);
	fini(search);
	return r;
}

/*
 * Whether the copy still exists, as a zombie. A process that waits for any child may have reaped it
 * already.
 */
static bool is_there(const struct leak_copy *copy)
{
	struct process_info info;

	return process_info_read(copy->child, &info, NULL) == 0 && info.state == 'Z' &&
	       info.parent_pid == copy->pid;
}

bool leak_copy_remove(const struct leak_copy *copy)
{
	struct snapshot snapshot = {.pid = copy->pid,
				    .child = copy->child,
				    .call_address = copy->call_address,
				    .in_vdso = copy->in_vdso};

	if (!is_there(copy))
		return true;
	snapshot_reap(&snapshot);
	snapshot_fini(&snapshot);
	return !snapshot.is_left;
}
