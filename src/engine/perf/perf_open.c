/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/path.h"
#include "engine/engine.h"
#include "engine/perf/call_readers.h"
#include "engine/perf/perf.h"
#include "engine/perf/perf_engine.h"
#include "engine/perf/perf_programs.h"
#include "engine/perf/sample_calls.h"
#include "model/sink.h"
#include "proc/cgroup_folder.h"
#include "proc/maps.h"
#include "proc/own_program.h"
#include "proc/process_info.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/registers.h"
#include "process_stacks/stack_cache.h"
#include "unwind/arch/native.h"

/* Approximate bytes of a sample in the ring; rings hold half a second of samples. */
#define SAMPLE_BYTES 600u
#define RING_MIN_BYTES (512u << 10)
#define RING_MAX_BYTES (8u << 20)
#define AUTO_COPY_BYTES 1024u
#define AUTO_LARGE_COPY_BYTES 16384u
#define RING_MAX_COPY_BYTES (32u << 20) /* with stacks of 64 KB in them */
/* The kernel's own limit is a tenth of this; more than 10 kHz is not possible. */
#define LEAST_PERIOD_NS 100000u
#define RING_LEAST_BYTES (16u << 10)
#define RING_SIDE_SHARE 4u /* of that size, for a ring of mapping and process records */

static void unmap_ring(struct cpu_ring *ring)
{
	if (ring->over.base)
		overwrite_ring_unmap(&ring->over, &ring->ring);
	else
		ring_unmap(&ring->ring);
}

void perf_release(struct perf_engine *engine)
{
	call_readers_close(engine->readers);
	engine->readers = NULL;
	for (size_t i = 0; i < engine->rings.count; i++)
		unmap_ring(&engine->rings.items[i]);
	for (size_t i = 0; i < engine->events.count; i++)
		(void)close(engine->events.items[i]); /* nothing is pending on an event */
	for (size_t i = 0; i < engine->sides.count; i++)
		(void)close(engine->sides.items[i]);
	for (size_t i = 0; i < engine->members.count; i++)
		(void)close(engine->members.items[i]);
	for (size_t i = 0; i < engine->program_events.count; i++)
		(void)close(engine->program_events.items[i]);
	engine->rings.count = 0;
	engine->events.count = 0;
	engine->sides.count = 0;
	engine->members.count = 0;
	engine->program_events.count = 0;
}

void perf_close(struct perf_engine *engine)
{
	perf_release(engine);
	perf_programs_close(engine->programs);
	sample_calls_free(engine->calls);
	if (engine->epoll_fd >= 0)
		(void)close(engine->epoll_fd);
	if (engine->timer_fd >= 0)
		(void)close(engine->timer_fd);
	vec_fini(&engine->rings);
	vec_fini(&engine->events);
	vec_fini(&engine->sides);
	vec_fini(&engine->members);
	counters_fini(&engine->output.counters);
	vec_fini(&engine->program_events);
	vec_fini(&engine->cpus);
	vec_fini(&engine->seeds);
	vec_fini(&engine->targets);
	perf_rate_fini(&engine->rate);
	process_tracker_free(engine->output.tracker);
	stack_cache_free(engine->output.cache);
	free(engine);
}

/*
 * How much of a stack is copied. Where calls leave their return address in a register and compilers
 * keep frame records (aarch64), a small copy is enough to find the callers that frame pointers miss
 * at the leaf; the kernel's walk finds the rest. Elsewhere code usually has no frame pointers, and
 * only a large copy is enough.
 */
static uint32_t copy_bytes_for(const struct engine_config *config)
{
	if (config->unwind == ENGINE_UNWIND_FP)
		return 0;
	if (config->unwind == ENGINE_UNWIND_DWARF)
		return config->stack_bytes;
	return UNWIND_NATIVE.lr_register < UNWIND_REGISTERS ? AUTO_COPY_BYTES
							    : AUTO_LARGE_COPY_BYTES;
}

static size_t ring_bytes_for(const struct engine_config *config)
{
	uint64_t copy_bytes = copy_bytes_for(config);
	uint64_t sample_bytes = SAMPLE_BYTES + copy_bytes;
	uint64_t want = config->frequency_hz * sample_bytes / 2;
	size_t most = copy_bytes > AUTO_COPY_BYTES ? RING_MAX_COPY_BYTES : RING_MAX_BYTES;
	size_t bytes = RING_MIN_BYTES;

	while (bytes < want && bytes < most)
		bytes *= 2;
	return bytes;
}

static size_t side_ring_bytes(const struct perf_engine *engine)
{
	return engine->ring_bytes / RING_SIDE_SHARE;
}

/* Maps the ring of a CPU's first event. */
static int map_ring(struct perf_engine *engine, struct cpu_ring *ring, int fd, struct error *err)
{
	int r;

	if (ring->side)
		r = ring_map(&ring->ring, fd, side_ring_bytes(engine));
	else if (engine->overwrite_old)
		r = overwrite_ring_map(&ring->over, &ring->ring, fd, engine->ring_bytes);
	else
		r = ring_map(&ring->ring, fd, engine->ring_bytes);
	if (r == 0)
		return 0;
	engine->ring_refused = r == -EPERM || r == -ENOMEM;
	(void)error_errno(err, r, "cannot map the buffer of a perf event");
	error_remedy(err, "raise the limit: sudo sysctl kernel.perf_event_mlock_kb=2048");
	return r;
}

static int watch_ring(struct perf_engine *engine, int fd)
{
	/* Edge-triggered: otherwise an event whose thread has ended would always be ready. */
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};

	return epoll_ctl(engine->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Attaches an event to the ring of its CPU, which the first event creates. */
static int join_ring(struct perf_engine *engine, int cpu, int fd, bool side, struct error *err)
{
	struct cpu_ring ring = {.cpu = cpu, .fd = fd, .side = side};
	size_t i;
	int r;

	for (i = 0; i < engine->rings.count; i++) {
		if (engine->rings.items[i].cpu != cpu || engine->rings.items[i].side != side)
			continue;
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, engine->rings.items[i].fd) < 0)
			return error_errno(err, -errno, "cannot share the buffer of a perf event");
		return 0;
	}
	r = map_ring(engine, &ring, fd, err);
	if (r < 0)
		return r;
	if (vec_push(&engine->rings, ring) < 0) {
		unmap_ring(&ring);
		return error_set(err, -ENOMEM, "out of memory");
	}
	r = watch_ring(engine, fd);
	return r < 0 ? error_errno(err, r, "the perf engine cannot wait for its buffers") : 0;
}

/* Opens the other members of the group. */
static int open_members(struct perf_engine *engine, pid_t tid, int cpu, int leader_fd,
			struct error *err)
{
	for (size_t i = 0; i < engine->group.member_count; i++) {
		const struct event_kind *kind = engine->group.members[i];
		int fd = event_group_open(kind, &engine->grant.attr, engine->grant.open_flags, tid,
					  cpu, leader_fd);

		if (fd == -ESRCH)
			return fd;
		if (fd < 0)
			return error_errno(err, fd, "cannot count %s together with %s", kind->name,
					   engine->kind->name);
		if (vec_push(&engine->members, fd) < 0) {
			(void)close(fd); /* it has not counted anything */
			return error_set(err, -ENOMEM, "out of memory");
		}
	}
	return 0;
}

/* The event for mapping and process records, if samples have a ring of their own. */
static int open_side(struct perf_engine *engine, pid_t tid, int cpu, struct error *err)
{
	struct event_grant side;
	int fd;

	event_grant_side(&engine->grant, &side);
	side.attr.wakeup_watermark = (uint32_t)(side_ring_bytes(engine) / 4);
	fd = event_open(&side, tid, cpu, err);
	if (fd < 0)
		return fd;
	if (vec_push(&engine->sides, fd) < 0) {
		(void)close(fd);
		return error_set(err, -ENOMEM, "out of memory");
	}
	return join_ring(engine, cpu, fd, true, err);
}

/* Opens the event on every CPU for one thread, or for all with -1. */
int perf_open_thread(struct perf_engine *engine, pid_t tid, struct error *err)
{
	size_t i;

	for (i = 0; i < engine->cpus.count; i++) {
		int cpu = engine->cpus.items[i];
		int fd = event_open(&engine->grant, tid, cpu, err);
		int r;

		if (fd < 0)
			return fd;
		if (vec_push(&engine->events, fd) < 0) {
			(void)close(fd);
			return error_set(err, -ENOMEM, "out of memory");
		}
		r = join_ring(engine, cpu, fd, false, err);
		if (r == 0 && engine->overwrite_old && !engine->sides_open)
			r = open_side(engine, tid, cpu, err);
		if (r == 0)
			r = open_members(engine, tid, cpu, fd, err);
		if (r == 0 && engine->programs && !engine->kind->dummy)
			r = perf_programs_attach(engine->programs, fd, err);
		if (r < 0)
			return r;
	}
	engine->output.chain_depth = engine->grant.depth;
	return 0;
}

/* The event through which programs write into the ring of a CPU. */
static int open_program_event(struct perf_engine *engine, const struct cpu_ring *ring,
			      struct error *err)
{
	struct event_grant grant = {0};
	int fd;

	event_output_init(&grant.attr);
	grant.attr.write_backward = engine->overwrite_old;
	fd = event_open(&grant, -1, ring->cpu, err);
	if (fd < 0)
		return fd;
	if (vec_push(&engine->program_events, fd) < 0) {
		(void)close(fd);
		return error_set(err, -ENOMEM, "out of memory");
	}
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) < 0)
		return error_errno(err, -errno, "cannot share the buffer of a perf event");
	return perf_programs_set_output(engine->programs, ring->cpu, fd, err);
}

static bool contains(const struct pid_list *list, pid_t id)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if (list->items[i] == id)
			return true;
	return false;
}

/* A zombie is still in /proc, but there is nothing left to watch. */
static int ended_process(pid_t pid, struct error *err)
{
	(void)error_set(err, -ESRCH, "process %d has ended and is a zombie", (int)pid);
	error_remedy(err, "ps -e shows such processes as <defunct>; attach to one that runs");
	return -ESRCH;
}

/* Names the owner of the process if that is why it may not be watched. */
static int refused(int code, pid_t pid, struct error *err)
{
	struct process_info info;

	if ((code != -EACCES && code != -EPERM) || process_info_read(pid, &info, NULL) < 0 ||
	    info.uid == geteuid())
		return code;
	(void)error_errno(err, code, "cannot attach to process %d (owned by %s)", (int)pid,
			  info.user);
	error_remedy(err, OWN_PROGRAM_REMEDY);
	return code;
}

/*
 * All threads of a process. A thread that starts after the listing, but before its creator's event
 * is open, is found by listing again until there is nothing new.
 */
int perf_open_process(struct perf_engine *engine, pid_t pid, struct error *err)
{
	struct pid_list done = {0};
	struct pid_list now = {0};
	bool news = true;
	size_t opened = 0;
	size_t i;
	int r = 0;

	while (news && r == 0) {
		news = false;
		now.count = 0;
		r = process_list_threads(pid, &now, err);
		for (i = 0; i < now.count && r == 0; i++) {
			if (contains(&done, now.items[i]))
				continue;
			news = true;
			r = perf_open_thread(engine, now.items[i], err);
			opened += r == 0;
			if (r == -ESRCH)
				r = 0; /* this thread has ended, others continue */
			if (r == 0 && vec_push(&done, now.items[i]) < 0)
				r = error_set(err, -ENOMEM, "out of memory");
		}
	}
	if (r == 0 && opened == 0)
		r = ended_process(pid, err);
	vec_fini(&done);
	vec_fini(&now);
	return refused(r, pid, err);
}

/* The process that will become the command has one thread; it may be killed before that. */
static int open_command(struct perf_engine *engine, pid_t pid, struct error *err)
{
	int r = perf_open_thread(engine, pid, err);

	return r == -ESRCH ? ended_process(pid, err) : r;
}

static int open_one_thread(struct perf_engine *engine, pid_t tid, struct error *err)
{
	struct process_info info;
	int r = process_info_read(tid, &info, err);

	if (r < 0)
		return r;
	r = perf_open_thread(engine, tid, err);
	return r == -ESRCH ? process_error(err, r, tid, "thread") : refused(r, tid, err);
}

static int want_seed(struct perf_engine *engine, pid_t pid, struct error *err)
{
	return vec_push(&engine->seeds, pid) < 0 ? error_set(err, -ENOMEM, "out of memory") : 0;
}

static int open_cgroup(struct perf_engine *engine, const char *folder, struct error *err)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return error_file(err, -errno, "cannot open the control group %s", folder);
	engine->grant.open_flags = PERF_FLAG_PID_CGROUP;
	r = perf_open_thread(engine, fd, err);
	(void)close(fd); /* the events hold a reference to the group */
	if (r < 0 && r != -EACCES && r != -EPERM && r != -EMFILE) {
		(void)error_set(err, r, "%s is not a control group that events can watch", folder);
		cgroup_folder_advise(err);
	}
	return r;
}

static int open_target(struct perf_engine *engine, const struct target *target, struct error *err)
{
	size_t i;
	int r = 0;

	if (target->kind == TARGET_MACHINE)
		r = perf_open_thread(engine, -1, err);
	if (target->kind == TARGET_CGROUP)
		r = open_cgroup(engine, target->cgroup, err);
	for (i = 0; i < target->count && r == 0; i++) {
		pid_t id = target->ids[i];

		if (target->kind == TARGET_COMMAND)
			r = open_command(engine, id, err);
		else if (target->kind == TARGET_PROCESSES)
			r = perf_open_process(engine, id, err);
		else
			r = open_one_thread(engine, id, err);
		if (r == 0 && target->kind == TARGET_PROCESSES)
			r = want_seed(engine, id, err);
		if (r == 0 && vec_push(&engine->targets, id) < 0)
			r = error_set(err, -ENOMEM, "out of memory");
	}
	for (i = 0; i < engine->rings.count && r == 0 && engine->programs; i++)
		if (!engine->rings.items[i].side)
			r = open_program_event(engine, &engine->rings.items[i], err);
	engine->sides_open = r == 0;
	return r;
}

/*
 * Reads what is already running. Only enabled events report new mappings, so this comes after
 * enabling: a mapping made meanwhile is seen twice, but never missed.
 */
int perf_seed(struct perf_engine *engine, struct error *err)
{
	struct pid_list list = {0};
	size_t i;
	int r = 0;

	machine_time_read(&engine->machine_start);
	if (engine->machine)
		r = process_list(&list, err);
	for (i = 0; i < list.count; i++)
		(void)process_tracker_seed(engine->output.tracker, list.items[i],
					   NULL); /* may be gone */
	vec_fini(&list);
	for (i = 0; i < engine->seeds.count && r == 0; i++) {
		r = process_tracker_seed(engine->output.tracker, engine->seeds.items[i], err);
		(void)sample_calls_meet(
			engine->calls,
			process_tracker_find(engine->output.tracker, engine->seeds.items[i]));
		if (r == -ESRCH)
			r = 0; /* it has just ended: its samples still have its name */
	}
	return r;
}

/* Lowers the rate to what the kernel allows, and says so. */
static uint32_t granted_rate(const struct engine_config *config, char *notice, size_t size)
{
	int64_t max_hz = event_setting("perf_event_max_sample_rate", 100000);

	if (config->period > 0 || max_hz <= 0 || config->frequency_hz <= max_hz)
		return config->frequency_hz;
	(void)snprintf(notice, size,
		       "rate lowered to %lld Hz: the kernel allows no more; raise it with: sudo "
		       "sysctl kernel.perf_event_max_sample_rate=%u",
		       (long long)max_hz, config->frequency_hz * 2);
	return (uint32_t)max_hz;
}

void perf_note(struct perf_engine *engine, const char *text)
{
	size_t used = strlen(engine->notice);

	(void)snprintf(engine->notice + used, sizeof(engine->notice) - used, "%s%s",
		       used > 0 ? "; " : "", text);
}

/* Says in one line what the kernel did not permit. */
static void note_grant(struct perf_engine *engine, const struct engine_config *config)
{
	char text[sizeof(engine->notice)];

	if (config->why_lesser) {
		(void)snprintf(text, sizeof(text), "perf events instead of eBPF: %s",
			       config->why_lesser);
		perf_note(engine, text);
	}
	if (!engine->grant.kernel)
		perf_note(engine,
			  "time in the kernel is left out: not allowed here; run as root, or: "
			  "sudo sysctl kernel.perf_event_paranoid=1");
	if (engine->grant.alone)
		perf_note(engine, "threads and processes that begin later are left out: groups of "
				  "events follow them from Linux 6.12 on; use -a, or one event");
	if (engine->grant.children_too)
		perf_note(engine, "processes that the target starts are recorded too: this kernel "
				  "cannot leave them out; filter reports with --pid");
}

static void note_member(void *self, const char *text)
{
	perf_note(self, text);
}

/* How many bytes of a ring the kernel fills before it wakes us. */
static uint32_t wakeup_bytes(const struct perf_engine *engine)
{
	uint32_t bytes = (uint32_t)(engine->ring_bytes / 4);
	uint32_t most = engine->programs ? engine->programs->wakeup_bytes : 0;

	if (most > 0 && bytes > most)
		bytes = most;
	return bytes;
}

/* Why the calls of interpreters are not read; NULL: they are. */
static const char *why_no_calls(const struct perf_engine *engine)
{
	if (!engine->copies)
		return "the perf engine does not read interpreted calls with --unwind fp";
	if (engine->overwrite_old)
		return "the perf engine does not read interpreted calls with --on-overflow "
		       "overwrite-old";
	if (!engine->clock && !engine->grant.attr.freq)
		return "the perf engine reads interpreted calls only at a rate; give -F";
	return NULL;
}

static bool is_interpreter(const char *path)
{
	return strstr(path_base_name(path), "python") != NULL;
}

static bool maps_interpreter(pid_t pid)
{
	struct maps maps = {0};
	bool found = false;

	if (maps_read(&maps, pid, MAPS_EXECUTABLE_ONLY, NULL) == 0)
		for (size_t i = 0; i < maps.count && !found; i++)
			found = is_interpreter(maps.items[i].path);
	maps_fini(&maps);
	return found;
}

/*
 * Whether there is an interpreter from the start, so that each sample should wake a reader. If one
 * is found later, the events are opened again: see perf_quicken().
 */
static bool is_likely(const struct target *target)
{
	if (target->kind == TARGET_COMMAND)
		return target->program && is_interpreter(target->program);
	for (size_t i = 0; i < target->count; i++)
		if (maps_interpreter(target->ids[i]))
			return true;
	return target->kind == TARGET_CGROUP; /* its events are not opened again */
}

static int init_grant(struct perf_engine *engine, const struct engine_config *config,
		      const struct target *target)
{
	struct event_request request = {
		.kind = engine->kind,
		.frequency_hz = granted_rate(config, engine->notice, sizeof(engine->notice)),
		.rate_given = config->rate_given,
		.period = config->period,
		.depth = config->depth,
		.wakeup_bytes = wakeup_bytes(engine),
		.kernel = config->kernel,
		.inherit = target->children &&
			   (target->kind == TARGET_COMMAND || target->kind == TARGET_PROCESSES),
		.inherit_thread = !target->children && (target->kind == TARGET_COMMAND ||
							target->kind == TARGET_PROCESSES),
		.enable_on_exec = target->kind == TARGET_COMMAND,
		.register_mask = engine->copies ? registers_perf_mask() : 0,
		.stack_bytes = copy_bytes_for(config),
		.programs = engine->programs != NULL,
		.group = engine->group.member_count > 0,
	};

	/* Samples have the format of a group even if no member is left. */
	engine->grouped = request.group;
	if (request.group)
		event_group_probe(&engine->group, &request, note_member, engine);
	engine->output.member_count = engine->group.member_count;
	event_grant_init(&engine->grant, &request);
	if (!engine->programs && config->python != ENGINE_PYTHON_OFF && !why_no_calls(engine) &&
	    is_likely(target))
		event_grant_wake_each(&engine->grant);
	if (engine->overwrite_old)
		event_grant_samples_only(&engine->grant);
	if (engine->grant.attr.freq || (engine->clock && config->period == 0))
		engine->output.stats.granted.frequency_hz = request.frequency_hz;
	return perf_rate_begin(engine, config->paused);
}

/*
 * Opens the target with rings as large as the kernel allows. The limit applies to all CPUs
 * together, so if one ring is refused, all are created again with half the size. The kernel wakes
 * us when a quarter is full, whatever the size.
 */
static int open_with_rings(struct perf_engine *engine, const struct target *target,
			   struct error *err)
{
	size_t wanted_bytes = engine->ring_bytes;
	int r = open_target(engine, target, err);

	while (r < 0 && engine->ring_refused && engine->ring_bytes / 2 >= RING_LEAST_BYTES) {
		perf_release(engine);
		engine->ring_refused = false;
		engine->seeds.count = engine->targets.count = 0;
		engine->ring_bytes /= 2;
		engine->grant.attr.wakeup_watermark = wakeup_bytes(engine);
		r = open_target(engine, target, err);
	}
	log_debug("rings of perf events: %zu kB for each CPU, %zu kB wanted",
		  engine->ring_bytes >> 10, wanted_bytes >> 10);
	if (r == 0 && engine->ring_bytes < wanted_bytes / 4)
		perf_note(
			engine,
			"buffers are small: the kernel allows no more; raise it with: sudo sysctl "
			"kernel.perf_event_mlock_kb=2048");
	return r;
}

/* A timer for updating the programs. */
static int add_timer(struct perf_engine *engine)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct itimerspec times = {.it_value = {.tv_nsec = 1}};

	engine->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	return engine->timer_fd < 0 ||
			       epoll_ctl(engine->epoll_fd, EPOLL_CTL_ADD, engine->timer_fd,
					 &event) < 0 ||
			       timerfd_settime(engine->timer_fd, 0, &times, NULL) < 0
		       ? -errno
		       : 0;
}

/* The event to sample; NULL with err set if there is none. */
static const struct event_kind *choose_event(struct perf_engine *engine,
					     const struct engine_config *config, struct error *err)
{
	if (config->heap.attach)
		return &event_heap;
	if (config->mode == ENGINE_MODE_OFFCPU)
		return &event_off_cpu;
	if (config->mode == ENGINE_MODE_WALL)
		return &event_wall;
	if (!probe_event_is(config->event))
		return event_group_parse(config->event, &engine->group, err) < 0
			       ? NULL
			       : engine->group.leader;
	return probe_event_find(config->event, config->function_offset, config->function_self,
				&engine->probe, err) < 0
		       ? NULL
		       : &engine->probe.kind;
}

/* Samples of programs come through a separate event; other records look the same. */
static void init_layout(struct perf_engine *engine)
{
	struct perf_event_attr attr = engine->grant.attr;

	if (engine->programs)
		event_output_init(&attr);
	perf_record_layout_init(&engine->layout, &attr);
}

/* What the weights of samples mean: the event, then the members of its group. */
static int describe_samples(struct perf_engine *engine, struct error *err)
{
	int r = 0;

	if (engine->kind == &event_heap)
		return 0; /* no samples */
	for (size_t i = 0; i <= engine->group.member_count && r == 0; i++) {
		const struct event_kind *kind =
			i == 0 ? engine->kind : engine->group.members[i - 1];
		struct schema schema = {.event = kind->name,
					.value = kind->value,
					.unit = kind->unit,
					.period = i == 0 ? engine->rate.period : 0};

		r = sink_schema(engine->output.sink, &schema, &engine->output.columns[i].schema);
	}
	return r < 0 ? error_errno(err, r, "the perf engine cannot register its events") : 0;
}

static int arm_programs(struct perf_engine *engine, const struct engine_config *config,
			const struct target *target, struct error *err)
{
	struct perf_programs_host host = {
		.output = &engine->output,
		.rate = &engine->rate,
		.ring_bytes = engine->ring_bytes,
		.clock = engine->clock,
		.kernel_frames_hidden = engine->grant.kernel_frames_hidden,
	};

	int r = perf_programs_arm(engine->programs, &host, config, target, err);
	int bell_fd = r == 0 ? perf_programs_bell_fd(engine->programs) : -1;

	if (bell_fd >= 0)
		(void)watch_ring(engine, bell_fd); /* else they are told later */
	return r;
}

static int check_period(const struct perf_engine *engine, const struct engine_config *config,
			struct error *err)
{
	if (!engine->clock || config->period == 0 || config->period >= LEAST_PERIOD_NS)
		return 0;
	(void)error_set(err, -EINVAL, "a period of %llu ns is too short for a clock",
			(unsigned long long)config->period);
	error_remedy(err, "give -c %u or more, or a rate with -F", (unsigned int)LEAST_PERIOD_NS);
	return -EINVAL;
}

/* Without memory for it, native frames are shown. */
static void init_calls(struct perf_engine *engine, const struct engine_config *config)
{
	engine->calls = sample_calls_new(engine->rings.count, engine->grant.attr.sample_regs_user,
					 engine->depth, why_no_calls(engine));
	if (!engine->calls)
		return;
	sample_calls_name_threads(engine->calls, engine->output.tracker);
	engine->output.frames.interpreters = sample_calls_interpreters(engine->calls);
	engine->output.frames.sink = engine->output.sink;
	engine->output.frames.calls_only = config->python == ENGINE_PYTHON_ONLY;
	engine->output.holders_only = config->holders_only;
	if (engine->grant.wakes_each)
		engine->readers = call_readers_open(engine);
}

static struct process_tracker *new_tracker(const struct perf_engine *engine, struct sink *sink)
{
	struct process_tracker *tracker = process_tracker_new(sink);

	if (tracker && engine->machine) /* programs walk nearly all stacks */
		process_tracker_set_lazy(tracker, engine->programs != NULL);
	return tracker;
}

int perf_open(const struct engine_config *config, const struct target *target, struct sink *sink,
	      struct perf_programs *programs, struct perf_engine **ret, struct error *err)
{
	struct perf_engine *engine = calloc(1, sizeof(*engine));
	int r;

	if (!engine)
		return error_set(err, -ENOMEM, "out of memory");
	engine->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	engine->timer_fd = -1;
	engine->output.sink = sink;
	engine->begun_ns = clock_monotonic_ns();
	engine->away = programs && programs->away;
	engine->kind = choose_event(engine, config, err);
	if (!engine->kind) {
		perf_close(engine);
		return err && err->code < 0 ? err->code : -EINVAL;
	}
	engine->clock = engine->kind->clock;
	r = check_period(engine, config, err);
	if (r < 0) {
		perf_close(engine);
		return r;
	}
	engine->machine = target->kind == TARGET_MACHINE;
	engine->by_cpu = engine->machine || target->kind == TARGET_CGROUP;
	engine->command = target->kind == TARGET_COMMAND;
	engine->programs = programs;
	engine->output.tracker = new_tracker(engine, sink);
	process_tracker_set_untitled(engine->output.tracker, config->untitled);
	engine->output.cache = stack_cache_new();
	engine->partial = target->kind == TARGET_THREADS;
	engine->output.frames.partial = engine->partial;
	engine->copies = !programs && copy_bytes_for(config) > 0;
	engine->output.marks_cuts = programs || engine->copies;
	engine->depth = config->depth;
	engine->overwrite_old = config->overwrite_old;
	r = cpu_list_online(&engine->cpus);
	engine->ring_bytes = programs ? programs->ring_bytes : ring_bytes_for(config);
	if (r == 0)
		r = init_grant(engine, config, target);
	if (!engine->output.tracker || !engine->output.cache)
		r = -ENOMEM;
	if (engine->epoll_fd < 0)
		r = -EMFILE;
	if (r == 0 && programs)
		r = add_timer(engine);
	if (r < 0)
		(void)error_errno(err, r, "cannot set up the perf engine");
	else
		r = open_with_rings(engine, target, err);
	if (r == 0 && programs)
		r = arm_programs(engine, config, target, err);
	if (r == 0)
		r = describe_samples(engine, err); /* last: it cannot be undone */
	if (r < 0) {
		engine->programs = NULL; /* still the caller's */
		perf_close(engine);
		return r;
	}
	init_layout(engine);
	note_grant(engine, config);
	if (!programs && config->python != ENGINE_PYTHON_OFF)
		init_calls(engine, config);
	*ret = engine;
	return 0;
}
