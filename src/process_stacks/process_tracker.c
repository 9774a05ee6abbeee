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
#include "process_stacks/tracked_threads.h"
#include "unwind/walk.h"

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
};

/*
 * The maps of an ended process are kept until this many more have ended: its last samples may
 * arrive after the record of its end.
 */
#define ENDED_KEPT 64

/* How long the result of reading a file stays valid. */
#define LOOK_NS (10 * NS_PER_MS)

struct process_tracker {
	struct sink *sink;
	bool offline; /* nothing can be read from /proc */
	struct strings strings;
	struct module_files *files;
	VEC(struct tracked_process *) processes; /* pointers, because callers keep them */
	struct tracked_threads threads;
	struct known_modules modules;
	struct module_sources sources;
	struct module_tables *tables;      /* NULL until a stack needs one */
	struct id_index process_index;     /* by pid, the newest last */
	uint32_t kernel_module;            /* ID_NONE until a kernel frame needs it */
	uint32_t next_number;
	struct {
		struct tracked_process *process;
		uint32_t number; /* the process may have been replaced since */
	} ended[ENDED_KEPT];
	size_t ended_next;
	struct thread_namer namer; /* look is NULL: the kernel's names are used */
};

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
		address_space_free(tracker->processes.items[i]->space);
		free(tracker->processes.items[i]);
	}
	vec_fini(&tracker->processes);
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

static const char *text_of(const struct process_tracker *tracker, uint32_t id)
{
	return strings_get(&tracker->strings, id);
}

static struct tracked_process *find_process(struct process_tracker *tracker, pid_t pid)
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

/* A new process for a pid: a reused pid takes over the old slot. */
static struct tracked_process *new_process(struct process_tracker *tracker, pid_t pid)
{
	struct tracked_process *process = find_process(tracker, pid);

	if (process) {
		tell_ended(tracker, process);
		address_space_free(process->space);
	} else {
		process = malloc(sizeof(*process));
		if (!process || vec_push(&tracker->processes, process) < 0) {
			free(process);
			return NULL;
		}
		if (id_index_add(&tracker->process_index, hash_pair((uint64_t)pid, 1),
				 (uint32_t)tracker->processes.count - 1) < 0) {
			tracker->processes.count--;
			free(process);
			return NULL;
		}
	}
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
	if (!tracker->offline && process_title_read(process->pid, item.comm, title))
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
	address_space_free(process->space);
	process->space = NULL;
	tell_ended(tracker, process);
}

void process_tracker_exit(struct process_tracker *tracker, pid_t pid, pid_t tid)
{
	struct tracked_process *process = find_process(tracker, pid);

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

void process_tracker_map(struct process_tracker *tracker, uint64_t time_ns, pid_t pid,
			 const struct map_region *region, const struct build_id *build_id)
{
	struct tracked_process *process = find_or_seed(tracker, pid);
	int r;

	if (!process)
		process = new_process(tracker, pid);
	if (!process || !process->space)
		return;
	r = add_map(tracker, process, time_ns, region, build_id);
	log_trace("process %d maps %s", (int)pid, region->path);
	if (r < 0)
		log_debug("mapping of %s in process %d was not stored: %s", region->path, (int)pid,
			  strerror(-r));
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
		tracker->tables = module_tables_new(tracker->files);
	if (!tracker->tables || !source)
		return true; /* there is none */
	if (!make)
		return module_tables_peek(tracker->tables, module, ret);
	module_tables_get(tracker->tables, module, source->pid, &source->region, &source->build_id,
			  ret);
	return true;
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
