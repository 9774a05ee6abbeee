/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/signal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id_index.h"
#include "base/log.h"
#include "base/vec.h"
#include "engine/engine_stats.h"
#include "engine/python_calls.h"
#include "engine/signal/heap_ring.h"
#include "engine/signal/hooks.h"
#include "engine/signal/missing_preload.h"
#include "engine/signal/module_lists.h"
#include "engine/signal/preload_path.h"
#include "engine/signal/process_file.h"
#include "engine/signal/python_frames.h"
#include "engine/signal/session.h"
#include "engine/signal/session_notes.h"
#include "engine/signal/signal_cost.h"
#include "engine/signal/table_arena.h"
#include "engine/signal/tick_clock.h"
#include "engine/signal/user_events.h"
#include "model/sink.h"
#include "proc/process_info.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/raw_stacks.h"

#define RING_WORDS 8192u       /* of a thread: 64 KiB */
#define RING_WORDS_FAST 32768u /* for more than FAST_HZ */
#define FAST_HZ 2000u
#define RING_WORDS_HEAP 65536u /* of a thread that records each allocation: 512 KiB */
/* A thread may be preempted between reading the clock and writing to the ring. */
#define HEAP_LATE_NS 5000000u

/* How often measuring the delivery of a tick is tried. */
#define DELIVERY_TRIES 20u

struct signal_engine {
	struct sink *sink;
	struct session session;
	struct table_arena *arena;
	struct process_tracker *tracker;
	struct raw_stacks *stacks;
	struct python_frames python;
	struct tick_clock clock;
	VEC(struct process_file *) files;
	VEC(char *) refused; /* names of invalid files */
	uint32_t schema;
	struct user_events *told; /* events reported by programs */
	struct heap_rings *heap;  /* NULL: not requested */
	bool samples;
	bool wall;
	bool children;
	bool overwrite_old; /* in full rings */
	bool stopped;
	int failed;               /* negative errno from callbacks that return nothing */
	uint32_t rate_hz;         /* current rate; 0: paused */
	uint64_t expected;        /* expected samples, at the rates so far */
	uint64_t expected_run_ns; /* run time counted so far */
	double ring_fill;         /* highest fill level since the last query */
	uint64_t delivery_ns;     /* cost of a tick in the kernel, without our handler */
	uint32_t delivery_tries;
	uint64_t handler_ns; /* average cost of our handler per tick */
	uint64_t ticks;      /* ticks counted so far */
	uint64_t ticks_cost_ns;
	uint64_t counts[SESSION_COUNTS]; /* of programs that have ended */
	uint32_t own_signal;             /* signal used where SIGPROF was taken; 0: none */
	bool given_up;                   /* by a program, after faults */
	uint64_t refused_events;         /* events from programs with invalid values */
	uint64_t sealed;                 /* programs that installed a seccomp filter */
	struct missing_preload absence;  /* why programs are not sampled */
	struct heap_marks heap_marks;
	struct hooks hooks;
	struct engine_stats stats;
	char notice[440];
};

static int signal_engine_probe(struct error *err)
{
	char path[4096];

	return preload_path(path, sizeof(path), err);
}

static void signal_engine_close(void *self)
{
	struct signal_engine *engine = self;

	for (size_t i = 0; i < engine->files.count; i++)
		process_file_close(engine->files.items[i]);
	for (size_t i = 0; i < engine->refused.count; i++)
		free(engine->refused.items[i]);
	vec_fini(&engine->files);
	vec_fini(&engine->refused);
	table_arena_free(engine->arena);
	heap_rings_free(engine->heap);
	user_events_free(engine->told);
	raw_stacks_free(engine->stacks);
	python_frames_fini(&engine->python);
	process_tracker_free(engine->tracker);
	session_close(&engine->session);
	free(engine);
}

/* Reads the modules of a process. */
static void learn_modules(void *self, struct process_file *file)
{
	struct signal_engine *engine = self;

	module_lists_learn(&(struct module_lists){engine->stacks, engine->tracker, engine->arena,
						  &engine->clock},
			   file);
	python_frames_look(&engine->python, file);
}

static void on_code(void *self, struct process_file *file, struct copied_parts *parts)
{
	struct signal_engine *engine = self;

	python_frames_learn(&engine->python, file, parts);
}

static struct process_file *find_file(const struct signal_engine *engine, const char *name)
{
	for (size_t i = 0; i < engine->files.count; i++)
		if (strcmp(engine->files.items[i]->name, name) == 0)
			return engine->files.items[i];
	return NULL;
}

static bool is_refused(const struct signal_engine *engine, const char *name)
{
	for (size_t i = 0; i < engine->refused.count; i++)
		if (strcmp(engine->refused.items[i], name) == 0)
			return true;
	return false;
}

static void refuse(struct signal_engine *engine, const char *name)
{
	char *copy = strdup(name);

	if (copy && vec_push(&engine->refused, copy) < 0)
		free(copy); /* retried later */
}

/* Handles a new program: a new process, a forked child, or an exec. */
static void welcome(struct signal_engine *engine, struct process_file *file)
{
	uint64_t now_ns = clock_monotonic_ns();
	pid_t parent = (pid_t)file->head->forked_from;
	char comm[PROCESS_COMM_MAX] = "?";

	if (parent > 0 && process_tracker_find(engine->tracker, parent)) {
		process_tracker_fork(engine->tracker, now_ns, file->pid, file->pid, parent, parent);
		python_frames_fork(&engine->python, file->pid, parent);
		return;
	}
	(void)process_thread_comm(file->pid, file->pid, comm, sizeof(comm)); /* without a name */
	raw_stacks_forget(engine->stacks, file->pid);
	process_tracker_comm(engine->tracker, now_ns, file->pid, file->pid, comm, true);
}

/* Whether the process of a file already runs a later program that was handled before it. */
static bool is_past(const struct signal_engine *engine, const struct process_file *file)
{
	for (size_t i = 0; i < engine->files.count; i++)
		if (!engine->files.items[i]->is_new &&
		    process_file_is_later(engine->files.items[i], file))
			return true;
	return false;
}

static int drain_file(struct signal_engine *engine, struct process_file *file);

/* Reads the last records of a process's previous programs while their modules are known. */
static void finish_images(struct signal_engine *engine, const struct process_file *file)
{
	for (size_t i = 0; i < engine->files.count; i++) {
		int r = !engine->files.items[i]->is_new &&
					process_file_is_later(file, engine->files.items[i])
				? drain_file(engine, engine->files.items[i])
				: 0;

		engine->failed = r < 0 ? r : engine->failed;
	}
}

static int on_file(void *self, const char *name)
{
	struct signal_engine *engine = self;
	struct process_file *file = NULL;
	int r;

	if (find_file(engine, name) || is_refused(engine, name))
		return 0;
	r = process_file_open(engine->session.folder, name, &file);
	if (r == -EINVAL)
		refuse(engine, name);
	if (r < 0)
		return r; /* not ready: retried later */
	file->overwritten = engine->overwrite_old;
	file->is_new = true;
	if (vec_push(&engine->files, file) < 0)
		process_file_close(file);
	return 0;
}

/* The oldest new file; NULL: none. */
static struct process_file *first_new(const struct signal_engine *engine)
{
	struct process_file *first = NULL;

	for (size_t i = 0; i < engine->files.count; i++) {
		struct process_file *file = engine->files.items[i];

		if (file->is_new &&
		    (!first || file->head->created_ticks < first->head->created_ticks))
			first = file;
	}
	return first;
}

/* In order of their start: a child has the state of its parent at that time. */
static void welcome_all(struct signal_engine *engine)
{
	struct process_file *file;

	while ((file = first_new(engine))) {
		file->is_new = false;
		finish_images(engine, file);
		if (is_past(engine, file)) {
			/* Its previous program is over. */
			file->maps_seen = atomic_load(&file->head->maps_changed);
			file->maps_due = file->maps_seen;
			continue;
		}
		missing_preload_join(&engine->absence, file->pid);
		welcome(engine, file);
		learn_modules(engine, file);
		module_lists_publish(file);
	}
}

static int on_sample(void *self, struct process_file *file, const struct process_sample *sample)
{
	struct signal_engine *engine = self;
	uint64_t time_ns = tick_clock_ns(&engine->clock, sample->ticks);
	struct raw_stack raw = {.pid = file->pid,
				.time_ns = time_ns,
				.pcs = sample->pcs,
				.count = sample->count,
				.end = sample->end};
	struct tracked_process *process;
	const char *state = engine->wall ? user_events_state(sample) : NULL;
	uint32_t labels = user_events_labels(engine->told, sample, state);
	uint32_t stack = ID_NONE;
	uint32_t thread;
	struct sample_batch batch = {
		.schema = sample->texts ? user_events_schema(engine->told, sample) : engine->schema,
		.count = 1,
		.stack = &stack,
		.thread = &thread,
		.cpu = &sample->cpu,
		.labels = &labels,
		.time_ns = &time_ns,
		.weight = &sample->weight_ns,
	};

	if (!python_frames_take(&engine->python, &raw) && !sample->texts)
		return 0;
	if (process_tracker_sample(engine->tracker, file->pid, (pid_t)sample->tid, &process,
				   &thread) == 0)
		stack = raw_stacks_id(engine->stacks, process, &raw);
	if (sample->texts && (batch.schema == ID_NONE || user_events_is_beyond(sample))) {
		engine->refused_events++;
		return 0;
	}
	if (stack == ID_NONE) {
		engine->stats.samples.lost++;
		return sink_loss(engine->sink, LOSS_NO_MEMORY, time_ns, 1);
	}
	if (sample->texts)
		return user_events_keep(engine->told, &batch);
	engine->stats.samples.count++;
	engine->stats.stacks.frames += sample->count;
	engine->stats.stacks.truncated += sample->end == UNWIND_DEPTH;
	engine->stats.stacks.ends[sample->end - UNWIND_ROOT]++;
	engine->stats.run_ns += engine->wall ? 0 : sample->weight_ns;
	engine->stats.samples.seen_ns += sample->weight_ns;
	return sink_batch(engine->sink, &batch, NULL);
}

static int on_heap(void *self, struct process_file *file, struct heap_ring **ring, uint32_t tid,
		   struct process_words *words)
{
	struct signal_engine *engine = self;

	if (!engine->heap)
		return 0; /* not requested */
	return heap_ring_read(engine->heap, ring, file, tid, words);
}

static void on_thread(void *self, struct process_file *file, uint32_t tid, const char *comm,
		      bool ended)
{
	struct signal_engine *engine = self;
	char now[PROCESS_COMM_MAX];

	/* Its name was recorded at its start; threads set their names later. */
	if (!ended && (pid_t)tid != file->pid &&
	    process_thread_comm(file->pid, (pid_t)tid, now, sizeof(now)) == 0)
		comm = now;
	if (!ended && process_tracker_find(engine->tracker, file->pid) && comm[0])
		process_tracker_comm(engine->tracker, clock_monotonic_ns(), file->pid, (pid_t)tid,
				     comm, false);
	if (ended && (pid_t)tid != file->pid)
		process_tracker_exit(engine->tracker, file->pid, (pid_t)tid);
}

/* Whether the program of a file has ended or executed another. */
static bool has_ended(const struct signal_engine *engine, const struct process_file *file)
{
	if (is_past(engine, file))
		return true;
	return kill(file->pid, 0) < 0 && errno == ESRCH;
}

static void count_up(struct signal_engine *engine, struct process_file *file)
{
	const _Atomic uint64_t *counts = file->head->counts;

	(void)process_file_look(file); /* else the old copy is used */
	for (size_t i = 0; i < SESSION_COUNTS; i++)
		engine->counts[i] += atomic_load(&counts[i]);
	heap_marks_take(&engine->heap_marks, &engine->clock, file->head);
	hooks_count(&engine->hooks, file->head);
	if (atomic_load(&file->head->own_signal))
		engine->own_signal = atomic_load(&file->head->signal);
	if (atomic_load(&file->head->state) == SESSION_PROCESS_OFF)
		engine->given_up = true;
	if (atomic_load(&file->head->state) == SESSION_PROCESS_SEALED)
		engine->sealed++;
}

static void let_go(struct signal_engine *engine, size_t index)
{
	struct process_file *file = engine->files.items[index];
	char path[sizeof(engine->session.folder) + sizeof(file->name) + 1];

	count_up(engine, file);
	python_frames_forget(&engine->python, file);
	if (atomic_load(&file->head->state) == SESSION_PROCESS_LIVE && !is_past(engine, file))
		engine->absence.silent_ends++;
	(void)snprintf(path, sizeof(path), "%s/%s", engine->session.folder, file->name);
	(void)unlink(path); /* the whole folder is removed at the end */
	process_file_close(file);
	memmove(engine->files.items + index, engine->files.items + index + 1,
		(engine->files.count - index - 1) * sizeof(*engine->files.items));
	engine->files.count--;
}

static int drain_file(struct signal_engine *engine, struct process_file *file)
{
	struct process_reader reader = {.ready = learn_modules,
					.sample = on_sample,
					.thread = on_thread,
					.heap = on_heap,
					.code = on_code,
					.self = engine};
	uint64_t missed;
	uint64_t lost;
	int r;

	r = process_file_drain(file, &reader);
	module_lists_publish(file);
	engine->ring_fill = file->fill > engine->ring_fill ? file->fill : engine->ring_fill;
	file->fill = 0;
	lost = process_file_take_lost(file);
	missed = process_file_take_missed(file);
	engine->stats.samples.lost += lost + missed;
	engine->stats.heap.missed += missed;
	if (r == 0 && lost > 0)
		r = sink_loss(engine->sink, LOSS_RING_FULL, clock_monotonic_ns(), lost);
	if (r == 0 && missed > 0)
		r = sink_loss(engine->sink, LOSS_NO_MEMORY, clock_monotonic_ns(), missed);
	return r;
}

static int signal_engine_drain(void *self, struct error *err)
{
	struct signal_engine *engine = self;
	uint64_t begin_ns = clock_monotonic_ns();
	int r;

	engine->ring_fill *= ENGINE_FILL_FADES;
	session_beat(&engine->session);
	session_empty_wake(&engine->session);
	tick_clock_pair(&engine->clock);
	r = session_each_file(&engine->session, on_file, engine, err);
	if (r < 0 && engine->heap)
		return r; /* programs would wait for ever to be read */
	welcome_all(engine);
	r = engine->failed;
	missing_preload_look(&engine->absence);
	for (size_t i = 0; i < engine->files.count && r == 0;) {
		bool ended = has_ended(engine, engine->files.items[i]);

		r = drain_file(engine, engine->files.items[i]);
		if (ended && r == 0)
			let_go(engine, i);
		else
			i++;
	}
	if (r == 0)
		r = user_events_hand_on(engine->told, NULL);
	if (r == 0 && engine->heap)
		r = heap_rings_until(engine->heap, begin_ns - HEAP_LATE_NS);
	if (r < 0)
		return error_file(err, r, "the signal engine cannot write the recording");
	r = raw_stacks_trim(engine->stacks, err);
	if (r > 0 && engine->heap)
		heap_rings_forget(engine->heap);
	return r < 0 ? r : 0;
}

static int signal_engine_start(void *self, struct error *err)
{
	(void)self;
	(void)err; /* programs join by themselves when they are started */
	return 0;
}

static int signal_engine_fd(void *self)
{
	return ((struct signal_engine *)self)->session.wake_fd;
}

static int signal_engine_stop(void *self, struct error *err)
{
	struct signal_engine *engine = self;

	if (engine->stopped)
		return 0;
	atomic_store(&engine->session.control->mode, 0);
	engine->stopped = true;
	return signal_engine_drain(self, err);
}

/* Remarks about unexpected events. */
static void add_remarks(const struct signal_engine *engine, struct engine_stats *stats)
{
	const uint64_t *counts = engine->counts;
	const char *absent = missing_preload_tell(&engine->absence, engine->session.folder, false);
	uint64_t damaged = engine->heap ? heap_rings_damaged(engine->heap) : 0;

	if (absent && (stats->samples.count > 0 || stats->heap.events > 0))
		session_note(stats, "%s", absent);
	if (counts[SESSION_FAULTS] > 0)
		session_note(
			stats,
			"wick's own code caused %llu fault%s in the program%s; please report it",
			(unsigned long long)counts[SESSION_FAULTS],
			session_note_s(counts[SESSION_FAULTS]),
			engine->given_up ? ", which ended sampling" : "");
	if (engine->own_signal > 0)
		session_note(stats, "a program uses SIGPROF: sampling with signal %u",
			     engine->own_signal);
	if (engine->sealed > 0)
		session_note(stats, "seccomp filter installed, sampling stopped: %llu program%s",
			     (unsigned long long)engine->sealed, session_note_s(engine->sealed));
	if (engine->refused_events > 0)
		session_note(stats, "%llu event%s dropped: too many names, or a weight above 2^63",
			     (unsigned long long)engine->refused_events,
			     session_note_s(engine->refused_events));
	session_note_heap(stats, counts, &engine->heap_marks);
	if (damaged > 0)
		session_note(stats,
			     "%llu allocation%s dropped: the program reported inconsistent values",
			     (unsigned long long)damaged, session_note_s(damaged));
	hooks_remark(&engine->hooks, stats);
	session_note_threads(stats, counts);
}

static void add_absence(const struct signal_engine *engine, struct engine_stats *stats)
{
	const char *why = missing_preload_tell(&engine->absence, engine->session.folder, true);

	(void)snprintf(stats->why_none, sizeof(stats->why_none), "%s", why ? why : "");
}

static uint64_t count_of(const struct signal_engine *engine, enum session_count what)
{
	uint64_t count = engine->counts[what];

	for (size_t i = 0; i < engine->files.count; i++)
		count += atomic_load(&engine->files.items[i]->head->counts[what]);
	return count;
}

/*
 * The cost of ticks for the target so far: our handler, estimated from timed ticks, and signal
 * delivery. Ticks without a sample cost as well: threads that mostly wait for a CPU have more of
 * these.
 */
static uint64_t ticks_cost_ns(struct signal_engine *engine)
{
	uint64_t times = count_of(engine, SESSION_HANDLER_TIMES);
	uint64_t ticks = count_of(engine, SESSION_TICKS);

	if (times == 0)
		return 0;
	/* On a busy machine it may fail. */
	if (engine->delivery_ns == 0 && engine->delivery_tries++ < DELIVERY_TRIES)
		engine->delivery_ns = signal_delivery_ns();
	engine->handler_ns = count_of(engine, SESSION_HANDLER_NS) / times;
	/* Earlier ticks keep their estimate: revising the sum would make it jump. */
	engine->ticks_cost_ns +=
		(ticks - engine->ticks) * (engine->delivery_ns + engine->handler_ns);
	engine->ticks = ticks;
	return engine->ticks_cost_ns;
}

/* Adds the samples expected since the last call, at the current rate. */
static void expect(struct signal_engine *engine)
{
	uint64_t ran_ns = engine->stats.run_ns - engine->expected_run_ns;

	engine->expected += ran_ns * engine->rate_hz / NS_PER_SEC;
	engine->expected_run_ns = engine->stats.run_ns;
}

static void signal_engine_stats(void *self, bool final, struct engine_stats *ret)
{
	struct signal_engine *engine = self;

	*ret = engine->stats;
	ret->stacks.by_tables = true;
	python_calls_stats(engine->python.interpreters, &ret->python);
	ret->cost.target_ns = ticks_cost_ns(engine);
	ret->cost.sample_ns = ret->samples.count > 0 ? ret->cost.target_ns / ret->samples.count : 0;
	for (size_t i = 0; engine->samples && i < engine->files.count; i++)
		ret->memory.buffer_bytes += process_file_ring_bytes(engine->files.items[i]);
	/* A thread that records everything wakes us when its ring is half full, and waits. */
	ret->memory.ring_fill = engine->samples ? engine->ring_fill : 0;
	ret->heap.events = engine->heap ? heap_rings_events(engine->heap) : 0;
	if (!final)
		return;
	log_debug("signal: %llu ticks of %llu ns, delivered in %llu ns",
		  (unsigned long long)engine->ticks, (unsigned long long)engine->handler_ns,
		  (unsigned long long)engine->delivery_ns);
	for (size_t i = 0; i < engine->files.count; i++)
		count_up(engine, engine->files.items[i]);
	expect(engine);
	ret->samples.expected = engine->expected;
	add_remarks(engine, ret);
	add_absence(engine, ret);
}

/* The mode that programs should run in. */
static uint32_t mode_of(const struct signal_engine *engine, bool paused)
{
	uint32_t mode = engine->heap ? SESSION_HEAP : 0;

	if (engine->samples)
		mode |= engine->wall ? SESSION_WALL : SESSION_CPU;
	return mode | (paused ? SESSION_PAUSED : 0);
}

static int signal_engine_set_rate(void *self, uint32_t frequency_hz, struct error *err)
{
	struct signal_engine *engine = self;
	struct session_control *control = engine->session.control;
	int r = signal_engine_drain(self, err); /* pending samples belong to the current rate */

	if (r < 0)
		return r;
	expect(engine);
	if (frequency_hz > 0)
		atomic_store(&control->frequency_hz, frequency_hz);
	atomic_store(&control->mode, mode_of(engine, frequency_hz == 0));
	engine->rate_hz = frequency_hz;
	return 0;
}

static const char *signal_engine_notice(void *self)
{
	return ((struct signal_engine *)self)->notice;
}

static char *const *signal_engine_environment(void *self)
{
	struct signal_engine *engine = self;

	return engine->session.environment;
}

static void signal_engine_launched(void *self, pid_t pid)
{
	struct signal_engine *engine = self;

	engine->absence.pid = pid;
	if (!engine->children)
		atomic_store(&engine->session.control->only_pid, (uint32_t)pid);
}

static bool signal_engine_has_members(void *self)
{
	struct signal_engine *engine = self;

	(void)session_each_file(&engine->session, on_file, engine, NULL); /* retried */
	for (size_t i = 0; i < engine->files.count; i++)
		if (!is_past(engine, engine->files.items[i]) &&
		    !process_is_over(engine->files.items[i]->pid))
			return true;
	return false;
}

static bool signal_engine_next_process(void *self, size_t *at, struct engine_process *ret)
{
	struct signal_engine *engine = self;

	while (*at < engine->files.count) {
		struct process_file *file = engine->files.items[(*at)++];

		if (!process_file_look(file) || file->head->inside_address == 0 ||
		    has_ended(engine, file))
			continue;
		*ret = (struct engine_process){
			.pid = file->pid,
			.waits = process_file_waits(file),
			.inside = file->head->inside_address,
			/* A forked child has older blocks, which are its parent's. */
			.has_older = file->head->forked_from != 0,
			.bypasses = atomic_load(&file->head->counts[SESSION_HEAP_BYPASSED]) > 0};
		return true;
	}
	return false;
}

static void signal_engine_scanned(void *self, pid_t pid)
{
	struct signal_engine *engine = self;

	for (size_t i = 0; i < engine->files.count; i++)
		if (engine->files.items[i]->pid == pid)
			process_file_let_end(engine->files.items[i]);
}

static int signal_engine_suits(const struct target *target, struct error *err)
{
	if (target->joins)
		return 0;
	if (target->kind == TARGET_COMMAND)
		return target->program ? preload_check(target->program, err) : 0;
	(void)error_set(err, -EOPNOTSUPP,
			"the signal engine can only sample programs that it starts");
	error_remedy(err,
		     "give a program to run, or attach to a running process with --engine ptrace");
	return -EOPNOTSUPP;
}

/* Rejects what this engine does not support. */
static int check(const struct engine_config *config, const struct target *target, struct error *err)
{
	int r = signal_engine_suits(target, err);

	return r < 0 ? r : engine_check_time(&signal_engine_ops, config, "cpu-clock", err);
}

static void set_control(struct signal_engine *engine, const struct engine_config *config)
{
	struct session_control *control = engine->session.control;

	control->depth = config->depth;
	/* If old samples are overwritten, each has its whole stack: four times the space. */
	control->ring_words = config->frequency_hz > FAST_HZ || config->overwrite_old
				      ? RING_WORDS_FAST
				      : RING_WORDS;
	control->overwrite_old = config->overwrite_old;
	control->frame_pointers_only = config->unwind == ENGINE_UNWIND_FP;
	atomic_store(&control->frequency_hz, config->frequency_hz);
	engine->rate_hz = config->paused ? 0 : config->frequency_hz;
	control->heap_lossy = config->heap.lossy;
	control->heap_maps = config->heap.maps;
	control->leaks = config->heap.leaks;
	control->heap_sample_bytes = config->heap.sample_bytes;
	control->heap_max_bytes = config->heap.max_bytes;
	control->heap_free_stacks = config->heap.free_stacks;
	hooks_ask(&engine->hooks, control);
	if (config->heap.on && config->heap.sample_bytes == 0)
		control->ring_words = RING_WORDS_HEAP;
	atomic_store(&control->mode, mode_of(engine, config->paused));
}

static int set_up(struct signal_engine *engine, const struct engine_config *config,
		  struct error *err)
{
	const char *event = engine->wall ? "wall" : "cpu-clock";
	struct schema schema = {.event = event,
				.value = engine->wall ? "wall" : "cpu",
				.unit = "nanoseconds",
				.period = NS_PER_SEC / config->frequency_hz};
	int r = session_open(&engine->session, err);

	if (r < 0)
		return r;
	engine->tracker = process_tracker_new(engine->sink);
	engine->stacks = engine->tracker ? raw_stacks_new(engine->sink, engine->tracker) : NULL;
	python_frames_init(&engine->python, config, engine->tracker);
	engine->arena = table_arena_new(engine->session.tables_fd);
	engine->told = user_events_new(engine->sink);
	if (config->heap.on)
		engine->heap = heap_rings_new(engine->sink, &engine->python, engine->stacks,
					      &engine->clock, config->heap.sample_bytes);
	if (!engine->stacks || !engine->arena || !engine->told ||
	    (config->heap.on && !engine->heap))
		return error_set(err, -ENOMEM, "out of memory");
	if (engine->samples)
		r = sink_schema(engine->sink, &schema, &engine->schema);
	if (r < 0)
		return error_errno(err, r, "the signal engine cannot register its events");
	tick_clock_pair(&engine->clock);
	engine->heap_marks.start_ns = clock_monotonic_ns();
	set_control(engine, config);
	return 0;
}

static int signal_engine_open(const struct engine_config *config, const struct target *target,
			      struct sink *sink, void **ret_self, struct error *err)
{
	struct signal_engine *engine;
	int r = check(config, target, err);

	if (r < 0)
		return r;
	engine = calloc(1, sizeof(*engine));
	if (!engine)
		return error_set(err, -ENOMEM, "out of memory");
	engine->sink = sink;
	engine->wall = config->mode == ENGINE_MODE_WALL;
	engine->children = target->children;
	engine->overwrite_old = config->overwrite_old;
	engine->samples = !config->heap.alone;
	engine->absence.heap = config->heap.alone;
	engine->absence.sampled = config->heap.sample_bytes > 0;
	engine->hooks =
		(struct hooks){.items = config->heap.hooks, .count = config->heap.hook_count};
	engine->stats.granted.frequency_hz = config->frequency_hz;
	engine->stats.granted.depth_limit = config->depth;
	engine->session = (struct session){.tables_fd = -1, .wake_fd = -1, .control_fd = -1};
	r = set_up(engine, config, err);
	if (r < 0) {
		signal_engine_close(engine);
		return r;
	}
	if (engine->samples)
		(void)snprintf(engine->notice, sizeof(engine->notice),
			       "the signal engine samples inside the program, without kernel "
			       "frames%s%s%s%s",
			       engine->session.notice[0] ? "; " : "", engine->session.notice,
			       config->why_lesser ? "; " : "",
			       config->why_lesser ? config->why_lesser : "");
	else
		(void)snprintf(engine->notice, sizeof(engine->notice), "%s",
			       engine->session.notice);
	*ret_self = engine;
	return 0;
}

const struct engine_ops signal_engine_ops = {
	.name = "signal",
	.reads_calls = true,
	.summary = "timers inside programs that wick starts; needs no privileges",
	.probe = signal_engine_probe,
	.suits = signal_engine_suits,
	.environment = signal_engine_environment,
	.launched = signal_engine_launched,
	.has_members = signal_engine_has_members,
	.next_process = signal_engine_next_process,
	.scanned = signal_engine_scanned,
	.open = signal_engine_open,
	.start = signal_engine_start,
	.fd = signal_engine_fd,
	.drain = signal_engine_drain,
	.stop = signal_engine_stop,
	.stats = signal_engine_stats,
	.notice = signal_engine_notice,
	.set_rate = signal_engine_set_rate,
	.close = signal_engine_close,
	.tidy = session_tidy,
};
