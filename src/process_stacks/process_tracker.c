/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/process_tracker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id_index.h"
#include "base/log.h"
#include "base/vec.h"
#include "model/sink.h"
#include "model/strings.h"
#include "proc/address_space.h"
#include "proc/maps.h"
#include "proc/module_file.h"
#include "proc/process_info.h"
#include "proc/process_title.h"
#include "process_stacks/known_modules.h"
#include "process_stacks/module_sources.h"
#include "process_stacks/module_tables.h"
#include "process_stacks/pending_maps.h"
#include "process_stacks/tracker_state.h"
#include "unwind/walk.h"

/* The number of processes at which those that have ended are forgotten. */
#define SWEEP_LEAST 4096u

/* How long the result of reading a file stays valid. */
#define LOOK_NS (10 * NS_PER_MS)

static void release_maps(struct tracked_process *process)
{
	address_space_free(process->space);
	process->space = NULL;
	pending_maps_drop(&process->pending);
}

struct process_tracker *process_tracker_new(struct sink *sink)
{
	struct process_tracker *tracker = calloc(1, sizeof(*tracker));

	if (!tracker)
		return NULL;
	tracker->sink = sink;
	tracker->kernel_module = ID_NONE;
	tracker->files = module_files_new();
	if (!tracker->files || strings_init(&tracker->strings) < 0) {
		process_tracker_free(tracker);
		return NULL;
	}
	return tracker;
}

void process_tracker_free(struct process_tracker *tracker)
{
	if (!tracker)
		return;
	for (size_t i = 0; i < tracker->processes.count; i++) {
		release_maps(tracker->processes.items[i]);
		free(tracker->processes.items[i]);
	}
	vec_fini(&tracker->processes);
	for (size_t i = 0; i < tracker->spare.count; i++)
		free(tracker->spare.items[i]);
	vec_fini(&tracker->spare);
	tracked_threads_fini(&tracker->threads);
	known_modules_fini(&tracker->modules);
	module_sources_fini(&tracker->sources);
	module_tables_free(tracker->tables);
	id_index_fini(&tracker->process_index);
	module_files_free(tracker->files);
	strings_fini(&tracker->strings);
	free(tracker);
}

void process_tracker_set_offline(struct process_tracker *tracker)
{
	tracker->offline = true;
}

void process_tracker_set_lazy(struct process_tracker *tracker, bool walks_little)
{
	tracker->lazy = true;
	tracker->walks_little = walks_little;
}

void process_tracker_set_untitled(struct process_tracker *tracker, bool untitled)
{
	if (tracker)
		tracker->untitled = untitled;
}

static const char *text_of(const struct process_tracker *tracker, uint32_t id)
{
	return strings_get(&tracker->strings, id);
}

static struct tracked_process *find_process(const struct process_tracker *tracker, pid_t pid)
{
	struct id_probe probe =
		id_index_probe(&tracker->process_index, hash_pair((uint64_t)pid, 1));
	uint32_t i;

	while ((i = id_probe_next(&tracker->process_index, &probe)) != ID_NONE)
		if (tracker->processes.items[i]->pid == pid)
			return tracker->processes.items[i];
	return NULL;
}

/* Tells the sink that a process has ended. */
static void tell_ended(struct process_tracker *tracker, const struct tracked_process *process)
{
	if (process->id != ID_NONE)
		sink_ended(tracker->sink, process->id);
}

static int index_process(struct process_tracker *tracker, size_t at)
{
	pid_t pid = tracker->processes.items[at]->pid;

	return id_index_add(&tracker->process_index, hash_pair((uint64_t)pid, 1), (uint32_t)at);
}

static bool is_tracked(const void *self, pid_t pid)
{
	return find_process(self, pid) != NULL;
}

/*
 * Forgets processes that ended long ago, and their threads: a host that runs for months starts any
 * number of them. Callers may still have pointers to them, so their memory is used again, by
 * processes with other numbers.
 */
static void sweep(struct process_tracker *tracker)
{
	size_t kept = 0;

	id_index_clear(&tracker->process_index);
	for (size_t i = 0; i < tracker->processes.count; i++) {
		struct tracked_process *process = tracker->processes.items[i];
		bool is_gone = process->ended && !process->space;

		if (is_gone && vec_push(&tracker->spare, process) == 0)
			continue;
		tracker->processes.items[kept] = process;
		/* There is room: it was not smaller before. */
		(void)index_process(tracker, kept++);
	}
	tracker->processes.count = kept;
	tracked_threads_sweep(&tracker->threads, is_tracked, tracker);
	tracker->sweep_at = 2 * kept;
}

/* Memory for a process that no pid has yet. NULL if out of memory. */
static struct tracked_process *add_process(struct process_tracker *tracker, pid_t pid)
{
	size_t sweep_at = tracker->sweep_at > SWEEP_LEAST ? tracker->sweep_at : SWEEP_LEAST;
	struct tracked_process *process;

	if (!tracker->offline && tracker->processes.count >= sweep_at)
		sweep(tracker);
	process = tracker->spare.count > 0 ? tracker->spare.items[--tracker->spare.count]
					   : malloc(sizeof(*process));
	if (!process || vec_push(&tracker->processes, process) < 0) {
		free(process);
		return NULL;
	}
	process->pid = pid;
	if (index_process(tracker, tracker->processes.count - 1) < 0) {
		tracker->processes.count--;
		free(process);
		return NULL;
	}
	return process;
}

/* A new process for a pid: a reused pid takes over the old slot. */
static struct tracked_process *new_process(struct process_tracker *tracker, pid_t pid)
{
	struct tracked_process *process = find_process(tracker, pid);

	if (process) {
		tell_ended(tracker, process);
		release_maps(process);
	} else {
		process = add_process(tracker, pid);
	}
	if (!process)
		return NULL;
	*process = (struct tracked_process){
		.pid = pid, .id = ID_NONE, .number = tracker->next_number++, .maps_told = true};
	process->space = address_space_new();
	return process;
}

static uint32_t intern(struct process_tracker *tracker, const char *text)
{
	uint32_t id = strings_add(&tracker->strings, text);

	return id == ID_NONE ? 0 : id;
}

/* Reports the process to the sink. */
static int tell_process(struct process_tracker *tracker, struct tracked_process *process)
{
	struct process item = {
		.pid = (uint32_t)process->pid,
		.parent_pid = (uint32_t)process->parent_pid,
		.start_ns = process->start_ns,
		.exec_count = process->exec_count,
		.comm = text_of(tracker, process->comm),
		.executable = text_of(tracker, process->executable),
	};
	char title[PROCESS_TITLE_MAX];

	if (process->id != ID_NONE)
		return 0;
	/* Workers of one program differ only in their title. */
	if (!tracker->offline && !tracker->untitled &&
	    process_title_read(process->pid, item.comm, title))
		item.comm = title;
	return sink_process(tracker->sink, &item, &process->id);
}

static int tell_map(struct process_tracker *tracker, struct tracked_process *process,
		    uint64_t time_ns, const struct address_region *region)
{
	struct map_event event = {
		.process = process->id,
		.module = region->module,
		.time_ns = time_ns,
		.start = region->start,
		.end = region->end,
		.file_offset = region->start + region->file_base,
		.bias = region->bias,
	};

	return sink_map(tracker->sink, &event, NULL);
}

/* Reports to the sink what a forked process has had from its start. */
static int tell_inherited_maps(struct process_tracker *tracker, struct tracked_process *process)
{
	const struct address_region *regions;
	size_t count;
	size_t i;
	int r = 0;

	process->maps_told = true;
	if (!process->space)
		return 0;
	regions = address_space_regions(process->space, &count);
	for (i = 0; i < count && r == 0; i++)
		r = tell_map(tracker, process, process->start_ns, &regions[i]);
	return r;
}

/*
 * Identifies a region from the file itself. The kernel's build id is that of the mapped file; a
 * file that was found by name must agree with it.
 */
static int identify(struct process_tracker *tracker, struct tracked_process *process,
		    const struct map_region *region, const struct build_id *build_id,
		    struct known_module *known)
{
	struct module_place place;
	bool gone = process->ended || tracker->offline;
	int r = module_files_identify(tracker->files, gone ? -1 : process->pid, region, &place);

	if (r < 0)
		return r;
	/* Our own vdso says nothing about another kernel's. */
	if (tracker->offline && region->kind == REGION_VDSO && (!build_id || build_id->size == 0))
		place.module.kind = MODULE_OTHER_FILE;
	known->guessed = place.unread < 0;
	known->rewritten = place.rewritten;
	known->stamp = file_stamp_of(&place.module);
	if (place.module.kind == MODULE_ANONYMOUS) {
		r = tell_process(tracker, process);
		if (r < 0)
			return r;
		place.module.owner = process->id;
	}
	if (build_id && build_id->size > 0 && !build_id_equal(build_id, &place.module.build_id)) {
		if (place.module.build_id.size > 0) {
			place.bias = region->start - region->file_offset; /* of another file */
			known->guessed = true;
		}
		place.module.build_id = *build_id;
		if (place.module.kind == MODULE_OTHER_FILE)
			place.module.kind = MODULE_FILE;
	}
	known->map_vaddr = region->start - place.bias;
	return sink_module(tracker->sink, &place.module, &known->module);
}

/*
 * The module and vaddr of a mapping, cached if the same part was seen before. Rewriting a program
 * may keep its inode: unless build ids are reported, the file is checked now and then.
 */
static int module_of(struct process_tracker *tracker, struct tracked_process *process,
		     uint64_t time_ns, const struct map_region *region,
		     const struct build_id *build_id, struct known_module *ret)
{
	bool is_told = build_id && build_id->size > 0;
	bool shareable = region->kind == REGION_FILE && (region->inode || is_told);
	struct known_module known;
	bool is_known;
	int r;

	*ret = (struct known_module){
		.device = region->device,
		.inode = region->inode,
		.file_offset = region->file_offset,
		.path = intern(tracker, region->path),
	};
	if (build_id)
		ret->build_id = *build_id;
	known = *ret;
	is_known = shareable && known_modules_find(&tracker->modules, &known);
	if (is_known && (is_told || tracker->offline || time_ns - known.looked_ns < LOOK_NS ||
			 known_modules_confirm(&tracker->modules, &known, region->path, time_ns))) {
		*ret = known;
		return 0;
	}
	r = identify(tracker, process, region, build_id, ret);
	if (r < 0 || !shareable)
		return r;
	if (ret->guessed) {
		*ret = is_known && !ret->rewritten ? known : *ret;
		return 0;
	}
	ret->looked_ns = time_ns;
	return known_modules_put(&tracker->modules, ret);
}

/* Stores where a module's file is; without memory its stacks have no table. */
static void remember_source(struct process_tracker *tracker, uint32_t module, pid_t pid,
			    const struct map_region *region, const struct build_id *build_id)
{
	struct module_source source = {.region = *region, .pid = tracker->offline ? -1 : pid};

	if (module_sources_get(&tracker->sources, module))
		return;
	source.region.path = text_of(tracker, intern(tracker, region->path));
	if (build_id)
		source.build_id = *build_id;
	module_sources_put(&tracker->sources, module, &source);
}

static int add_map(struct process_tracker *tracker, struct tracked_process *process,
		   uint64_t time_ns, const struct map_region *mapped,
		   const struct build_id *build_id)
{
	struct map_region region = *mapped;
	struct known_module known;
	struct address_region told;
	struct address_mapping mapping;
	int r;

	/* A build id says more than times, and those of a file from elsewhere are another boot's.
	 */
	if (!tracker->offline && !(build_id && build_id->size > 0))
		region.mapped_ns = time_ns;
	/* The first file that an exec maps is the program itself. */
	if (process->executable == 0 && region.kind == REGION_FILE)
		process->executable = intern(tracker, region.path);
	r = module_of(tracker, process, time_ns, &region, build_id, &known);
	if (r < 0)
		return r;
	mapping = (struct address_mapping){
		.start = region.start,
		.end = region.end,
		.bias = region.kind == REGION_ANONYMOUS || region.kind == REGION_SPECIAL
				? 0
				: region.start - known.map_vaddr,
		.file_offset = region.file_offset,
		.module = known.module,
	};
	remember_source(tracker, known.module, process->pid, &region, build_id);
	r = address_space_map(process->space, time_ns, &mapping);
	if (r < 0)
		return r;
	/* Only processes with samples are reported to the sink, then with all that is mapped. */
	if (process->id == ID_NONE)
		process->maps_told = false;
	if (!process->maps_told)
		return 0;
	told = (struct address_region){
		.start = mapping.start,
		.end = mapping.end,
		.bias = mapping.bias,
		.file_base = mapping.file_offset - mapping.start,
		.module = mapping.module,
	};
	return tell_map(tracker, process, time_ns, &told);
}

/* What was mapped before the first sample. What could not be stored is unknown. */
static void add_pending(struct process_tracker *tracker, struct tracked_process *process)
{
	struct pending_maps *pending = process->pending;
	const struct pending_map *items;
	size_t count;

	process->pending = NULL;
	items = pending_maps_items(pending, &count);
	for (size_t i = 0; i < count && process->space; i++)
		if (add_map(tracker, process, items[i].time_ns, &items[i].region,
			    &items[i].build_id) < 0)
			log_debug("mapping of %s in process %d was not stored",
				  items[i].region.path, (int)process->pid);
	pending_maps_drop(&pending);
}

static void seed_threads(struct process_tracker *tracker, pid_t pid)
{
	struct pid_list list = {0};

	if (process_list_threads(pid, &list, NULL) < 0)
		list.count = 0; /* it ended meanwhile: its samples still have its name */
	for (size_t i = 0; i < list.count; i++) {
		char comm[PROCESS_COMM_MAX];

		if (process_thread_comm(pid, list.items[i], comm, sizeof(comm)) == 0)
			(void)tracked_threads_put(&tracker->threads, pid, list.items[i],
						  intern(tracker, comm));
	}
	vec_fini(&list);
}

/* Reads what is mapped. Kernel threads have no map, and we may not be allowed to read others. */
static int read_map(struct process_tracker *tracker, struct tracked_process *process,
		    uint64_t time_ns)
{
	struct maps maps = {0};
	int r = 0;

	if (maps_read(&maps, process->pid, MAPS_EXECUTABLE_ONLY, NULL) < 0)
		log_debug("no memory map of process %d", (int)process->pid);
	for (size_t i = 0; i < maps.count && r == 0; i++)
		if (maps.items[i].kind != REGION_VSYSCALL)
			r = add_map(tracker, process, time_ns, &maps.items[i], NULL);
	maps_fini(&maps);
	return r;
}

int process_tracker_seed(struct process_tracker *tracker, pid_t pid, struct error *err)
{
	struct tracked_process *process;
	struct process_info info;
	int r = process_info_read(pid, &info, err);

	if (r < 0)
		return r;
	process = new_process(tracker, pid);
	if (!process || !process->space)
		return error_set(err, -ENOMEM, "out of memory");
	process->parent_pid = info.parent_pid;
	process->start_ns = info.start_ns;
	process->comm = intern(tracker, info.comm);
	process->executable = intern(tracker, info.executable);
	seed_threads(tracker, pid);
	r = read_map(tracker, process, 0);
	return r < 0 ? error_errno(err, r, "cannot store the memory map of process %d", (int)pid)
		     : 0;
}

/*
 * The process of a pid, from /proc if no record has reported it; or NULL. pid 0 is not a process:
 * the idle task, a thread that is ending, or a process that is invisible in this pid namespace.
 */
static struct tracked_process *find_or_seed(struct process_tracker *tracker, pid_t pid)
{
	struct tracked_process *process = find_process(tracker, pid);

	if (process || pid <= 0 || tracker->offline || process_tracker_seed(tracker, pid, NULL) < 0)
		return process;
	return find_process(tracker, pid);
}

/* The name of a new thread: that of its creator. */
static uint32_t inherited_comm(struct process_tracker *tracker, pid_t parent_pid, pid_t parent_tid)
{
	const struct tracked_thread *thread =
		tracked_threads_of(&tracker->threads, parent_pid, parent_tid);
	const struct tracked_process *process = find_process(tracker, parent_pid);

	return thread ? thread->comm : process ? process->comm : 0;
}

void process_tracker_fork(struct process_tracker *tracker, uint64_t time_ns, pid_t pid, pid_t tid,
			  pid_t parent_pid, pid_t parent_tid)
{
	uint32_t comm = inherited_comm(tracker, parent_pid, parent_tid);
	struct tracked_process *parent;
	struct tracked_process *child;

	if (pid == parent_pid) {
		(void)tracked_threads_put(&tracker->threads, pid, tid, comm);
		return;
	}
	child = new_process(tracker, pid);
	if (!child)
		return;
	parent = find_process(tracker, parent_pid);
	child->parent_pid = parent_pid;
	child->start_ns = time_ns;
	child->comm = comm;
	if (parent && parent->space) {
		struct address_space *space = address_space_fork(parent->space, time_ns);

		if (space) {
			address_space_free(child->space);
			child->space = space;
		}
		child->pending = pending_maps_share(parent->pending);
		child->executable = parent->executable;
		child->maps_told = false;
	}
	(void)tracked_threads_put(&tracker->threads, pid, tid, comm);
}

/* exec: the same pid is another program now, with nothing mapped yet. */
static void exec_process(struct tracked_process *process)
{
	struct address_space *fresh = address_space_new();

	if (fresh) {
		address_space_free(process->space);
		process->space = fresh;
	}
	pending_maps_drop(&process->pending);
	process->exec_count++;
	process->id = ID_NONE;
	process->ended = false; /* a thread's exec ends the leader and takes over its pid */
	process->executable = 0;
	process->maps_told = true;
}

void process_tracker_comm(struct process_tracker *tracker, uint64_t time_ns, pid_t pid, pid_t tid,
			  const char *comm, bool exec)
{
	struct tracked_process *process =
		exec ? find_process(tracker, pid) : find_or_seed(tracker, pid);
	uint32_t name = intern(tracker, comm);

	if (!process) {
		process = new_process(tracker, pid);
		if (!process)
			return;
		process->start_ns = time_ns;
	} else if (exec) {
		tell_ended(tracker, process);
		exec_process(process);
		process->number = tracker->next_number++;
	}
	if (exec || pid == tid)
		process->comm = name;
	tracked_threads_rename(&tracker->threads, pid, tid, name, exec);
}

/* Releases the maps of the process that ended ENDED_KEPT ends ago. */
static void forget_oldest(struct process_tracker *tracker)
{
	struct tracked_process *process = tracker->ended[tracker->ended_next].process;

	if (!process || process->number != tracker->ended[tracker->ended_next].number)
		return;
	release_maps(process);
	tell_ended(tracker, process);
}

void process_tracker_exit(struct process_tracker *tracker, pid_t pid, pid_t tid)
{
	struct tracked_process *process = find_process(tracker, pid);

	tracked_threads_end(&tracker->threads, pid, tid);
	/*
	 * The leader may end before its threads: their samples still arrive. The pid is reused when
	 * it appears in a fork again.
	 */
	if (!process || pid != tid || process->ended)
		return;
	process->ended = true;
	forget_oldest(tracker);
	tracker->ended[tracker->ended_next].process = process;
	tracker->ended[tracker->ended_next].number = process->number;
	tracker->ended_next = (tracker->ended_next + 1) % ENDED_KEPT;
}

bool process_tracker_map(struct process_tracker *tracker, uint64_t time_ns, pid_t pid,
			 const struct map_region *region, const struct build_id *build_id)
{
	struct tracked_process *process = find_or_seed(tracker, pid);
	struct pending_map map = {.region = *region, .time_ns = time_ns};
	bool is_pending;
	int r;

	if (!process)
		process = new_process(tracker, pid);
	if (!process || !process->space)
		return false;
	is_pending = tracker->lazy && process->id == ID_NONE;
	if (is_pending) {
		map.region.path = text_of(tracker, intern(tracker, region->path));
		if (build_id)
			map.build_id = *build_id;
		r = pending_maps_add(&process->pending, &map);
	} else {
		r = add_map(tracker, process, time_ns, region, build_id);
	}
	log_trace("process %d maps %s", (int)pid, region->path);
	if (r < 0)
		log_debug("mapping of %s in process %d was not stored: %s", region->path, (int)pid,
			  strerror(-r));
	return !is_pending;
}

/* A thread that no record reported: its name is in /proc while it lives; else `name`. */
static struct tracked_thread *adopt_thread(struct process_tracker *tracker,
					   struct tracked_process *process, pid_t tid,
					   uint32_t name)
{
	char comm[PROCESS_COMM_MAX];

	if (!tracker->offline && process_thread_comm(process->pid, tid, comm, sizeof(comm)) == 0)
		name = intern(tracker, comm);
	return tracked_threads_put(&tracker->threads, process->pid, tid, name);
}

void process_tracker_suggest(struct process_tracker *tracker, pid_t pid, pid_t tid,
			     const char *comm)
{
	struct tracked_process *process;

	if (pid <= 0 || comm[0] == '\0' || tracked_threads_of(&tracker->threads, pid, tid))
		return;
	process = find_or_seed(tracker, pid);
	if (!process)
		process = new_process(tracker, pid);
	if (!process)
		return; /* without memory it has no samples either */
	if (process->comm == 0 && process->id == ID_NONE)
		process->comm = intern(tracker, comm);
	if (!tracked_threads_of(&tracker->threads, pid, tid)) /* maybe the process has it now */
		(void)adopt_thread(tracker, process, tid, intern(tracker, comm));
}

void process_tracker_set_namer(struct process_tracker *tracker, const struct thread_namer *namer)
{
	tracker->namer = *namer;
}

void process_tracker_name(struct process_tracker *tracker, const struct tracked_process *process,
			  pid_t tid, const char *name)
{
	struct tracked_thread thread = {process->pid, tid, process->comm, intern(tracker, name),
					ID_NONE};

	tracked_threads_give(&tracker->threads, &thread);
}

/* The thread of a sample, with its name. NULL if out of memory. */
static struct tracked_thread *named_thread(struct process_tracker *tracker,
					   struct tracked_process *process, pid_t tid)
{
	struct tracked_thread *thread = tracked_threads_of(&tracker->threads, process->pid, tid);

	if (!thread)
		thread = adopt_thread(tracker, process, tid, process->comm);
	if (!thread || !tracker->namer.look || tid == process->pid)
		return thread;
	tracker->namer.look(tracker->namer.self, process, thread->id == ID_NONE);
	return tracked_threads_find(&tracker->threads, tid);
}

int process_tracker_sample(struct process_tracker *tracker, pid_t pid, pid_t tid,
			   struct tracked_process **ret_process, uint32_t *ret_thread)
{
	struct tracked_process *process = find_or_seed(tracker, pid);
	struct tracked_thread *thread;
	int r = 0;

	if (!process) {
		process = new_process(tracker, pid);
		if (!process)
			return -ENOMEM;
		if (pid == 0)
			process->comm = intern(tracker, "[unknown]");
	}
	add_pending(tracker, process);
	r = tell_process(tracker, process);
	if (r == 0 && !process->maps_told)
		r = tell_inherited_maps(tracker, process);
	if (r < 0)
		return r;
	thread = named_thread(tracker, process, tid);
	if (!thread)
		return -ENOMEM;
	if (thread->id == ID_NONE) {
		struct thread item = {.process = process->id,
				      .tid = (uint32_t)tid,
				      .comm = text_of(tracker, tracked_thread_name(thread))};

		r = sink_thread(tracker->sink, &item, &thread->id);
	}
	*ret_process = process;
	*ret_thread = thread->id;
	return r;
}

struct tracked_process *process_tracker_find(struct process_tracker *tracker, pid_t pid)
{
	return find_process(tracker, pid);
}

struct tracked_process *process_tracker_find_mapped(struct process_tracker *tracker, pid_t pid)
{
	struct tracked_process *process = find_process(tracker, pid);

	if (process)
		add_pending(tracker, process);
	return process;
}

pid_t process_tracker_next_live(const struct process_tracker *tracker, size_t *at)
{
	while (*at < tracker->processes.count) {
		const struct tracked_process *process = tracker->processes.items[(*at)++];

		if (!process->ended && process->pid > 0)
			return process->pid;
	}
	return 0;
}

const char *process_tracker_thread_name(struct process_tracker *tracker, pid_t tid)
{
	const struct tracked_thread *thread = tracked_threads_find(&tracker->threads, tid);

	return thread ? text_of(tracker, tracked_thread_name(thread)) : "";
}

/* Reading a map costs a millisecond or so, and addresses may stay in no module forever. */
#define REFRESH_NS (100 * NS_PER_MS)

bool process_tracker_refresh(struct process_tracker *tracker, struct tracked_process *process,
			     uint64_t time_ns)
{
	if (process->ended || !process->space || process->pid <= 0 ||
	    time_ns < process->refreshed_ns + REFRESH_NS)
		return false;
	process->refreshed_ns = time_ns;
	return read_map(tracker, process, time_ns) == 0;
}

struct frame process_tracker_kernel_frame(struct process_tracker *tracker, uint64_t address)
{
	struct module kernel = {.kind = MODULE_KERNEL, .path = "[kernel]"};

	if (tracker->kernel_module == ID_NONE &&
	    sink_module(tracker->sink, &kernel, &tracker->kernel_module) < 0)
		return (struct frame){.kind = FRAME_KERNEL, .a = MODULE_NONE, .b = address};
	return (struct frame){.kind = FRAME_KERNEL, .a = tracker->kernel_module, .b = address};
}
