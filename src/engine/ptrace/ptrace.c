/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/ptrace.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id_index.h"
#include "base/scope.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "engine/engine_stats.h"
#include "engine/ptrace/refusal.h"
#include "engine/ptrace/sampler.h"
#include "engine/ptrace/stop_times.h"
#include "engine/ptrace/stopper.h"
#include "engine/python_calls.h"
#include "language/language.h"
#include "model/sink.h"
#include "proc/kernel_stack.h"
#include "proc/process_info.h"
#include "proc/thread_status.h"
#include "process_stacks/interpreters.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/raw_stacks.h"
#include "process_stacks/thread_names.h"
#include "unwind/python_walk.h"

/* A stop costs more than a perf event, for which the usual default rate is meant. */
#define DEFAULT_HZ 97u
struct state_labels {
	char state;
	uint32_t id;
};

struct ptrace_engine {
	struct sink *sink;
	struct sampler *sampler;
	struct process_tracker *tracker;
	struct raw_stacks *stacks;
	struct interpreters *interpreters; /* NULL: not read */
	struct thread_names *names;
	bool python_only;
	bool holders_only;
	int timer_fd;
	int epoll_fd;
	uint32_t schema;
	uint32_t depth;
	uint32_t rate_hz;   /* current rate; 0: paused */
	uint64_t paused_ns; /* end of the last pause */
	bool waiting;       /* for the exec of the command, which starts the timer */
	VEC(struct state_labels) labels;
	struct engine_stats stats;
	char notice[640];
};

static int ptrace_engine_probe(struct error *err)
{
	return refusal_probe(err);
}

static void ptrace_engine_close(void *self)
{
	struct ptrace_engine *engine = self;

	sampler_close(engine->sampler);
	raw_stacks_free(engine->stacks);
	process_tracker_free(engine->tracker);
	thread_names_free(engine->names);
	interpreters_free(engine->interpreters);
	if (engine->timer_fd >= 0)
		(void)close(engine->timer_fd); /* nothing is pending on a timer */
	if (engine->epoll_fd >= 0)
		(void)close(engine->epoll_fd);
	vec_fini(&engine->labels);
	free(engine);
}

/* In place of the kernel's letter for a state, none of which it is. */
#define WAITS_FOR_LOCK 'g'

/* The label set of a state; 0: none. */
static uint32_t labels_of(struct ptrace_engine *engine, char state)
{
	const char text[2] = {state, '\0'};
	struct label label = {.key = "state",
			      .value = state == WAITS_FOR_LOCK ? LANGUAGE_STATE_WAITING : text};
	uint32_t id = 0;

	for (size_t i = 0; i < engine->labels.count; i++)
		if (engine->labels.items[i].state == state)
			return engine->labels.items[i].id;
	if (state == 0 || sink_labels(engine->sink, &label, 1, &id) < 0)
		return 0;
	(void)vec_push(&engine->labels,
		       (struct state_labels){state, id}); /* else it is looked up again */
	return id;
}

static int on_taken(void *self, const struct stack_sample *sample, struct error *err)
{
	struct ptrace_engine *engine = self;
	struct tracked_process *process;
	/* The time of a pause does not count. */
	uint64_t since_ns =
		sample->since_ns > engine->paused_ns ? sample->since_ns : engine->paused_ns;
	uint64_t weight = sample->time_ns > since_ns ? sample->time_ns - since_ns : 0;
	uint32_t labels =
		labels_of(engine, sample->waits_for_lock ? WAITS_FOR_LOCK : sample->state);
	struct raw_stack raw = {
		.pid = sample->pid,
		.time_ns = sample->time_ns,
		.pcs = sample->pcs,
		.count = sample->count,
		.kernel_pcs = sample->kernel_pcs,
		.kernel_count = sample->kernel_count,
		.end = sample->end,
		.words = sample->words,
		.word_count = sample->word_count,
		.words_cut = sample->words_cut,
		.words_only = engine->python_only,
		.interpreter = sample->interpreter,
	};
	uint32_t stack = ID_NONE;
	uint32_t cpu = 0;
	uint32_t thread;
	struct sample_batch batch = {
		.schema = engine->schema,
		.count = 1,
		.stack = &stack,
		.thread = &thread,
		.cpu = &cpu,
		.labels = &labels,
		.time_ns = &sample->time_ns,
		.weight = &weight,
	};

	if (engine->holders_only &&
	    (sample->word_count == 0 || !(sample->words[0] & PYTHON_WORD_HOLDS))) {
		interpreters_counts(engine->interpreters)->others++;
		interpreters_counts(engine->interpreters)->with_calls -= sample->word_count > 0;
		return 0;
	}
	if (process_tracker_sample(engine->tracker, sample->pid, sample->tid, &process, &thread) ==
	    0)
		stack = raw_stacks_id(engine->stacks, process, &raw);
	if (stack == ID_NONE) {
		engine->stats.samples.lost++;
		return sink_loss(engine->sink, LOSS_NO_MEMORY, sample->time_ns, 1);
	}
	engine->stats.samples.count++;
	engine->stats.samples.seen_ns += weight;
	engine->stats.stacks.frames += sample->count + sample->kernel_count;
	engine->stats.stacks.truncated += sample->end == UNWIND_DEPTH;
	engine->stats.stacks.by_tables = true;
	engine->stats.stacks.ends[sample->end - UNWIND_ROOT]++;
	return sink_batch(engine->sink, &batch, err);
}

static void on_started(void *self, pid_t pid, pid_t tid, pid_t parent_pid, pid_t parent_tid)
{
	struct ptrace_engine *engine = self;

	/* A thread is announced when it is first sampled, because by then it has set its name. */
	if (pid != parent_pid)
		process_tracker_fork(engine->tracker, clock_monotonic_ns(), pid, tid, parent_pid,
				     parent_tid);
}

static void on_ended(void *self, pid_t pid, pid_t tid)
{
	struct ptrace_engine *engine = self;

	if (pid == tid)
		raw_stacks_forget(engine->stacks, pid);
	process_tracker_exit(engine->tracker, pid, tid);
}

static void on_remapped(void *self, pid_t pid)
{
	struct ptrace_engine *engine = self;

	(void)raw_stacks_learn(engine->stacks, pid, 0);
}

/* Sets the timer to the current rate, or stops it in a pause. */
static int arm_timer(struct ptrace_engine *engine)
{
	uint64_t step_ns = engine->rate_hz > 0 ? NS_PER_SEC / engine->rate_hz : 0;
	struct timespec step = {.tv_sec = (time_t)(step_ns / NS_PER_SEC),
				.tv_nsec = (long)(step_ns % NS_PER_SEC)};
	struct itimerspec times = {.it_interval = step, .it_value = step};

	return timerfd_settime(engine->timer_fd, 0, &times, NULL) < 0 ? -errno : 0;
}

static void on_execed(void *self, pid_t pid)
{
	struct ptrace_engine *engine = self;
	char comm[PROCESS_COMM_MAX] = "?";

	raw_stacks_forget(engine->stacks, pid);
	(void)process_thread_comm(pid, pid, comm, sizeof(comm)); /* else it has no name */
	process_tracker_comm(engine->tracker, clock_monotonic_ns(), pid, pid, comm, true);
	/* Later execs must not delay the next tick: a build execs all the time. */
	if (engine->waiting)
		(void)arm_timer(engine); /* cannot fail with a valid time */
	engine->waiting = false;
}

static int attach(struct ptrace_engine *engine, const struct target *target, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < target->count && r == 0; i++) {
		pid_t id = target->ids[i];
		pid_t pid = target->kind == TARGET_THREADS ? thread_process(id) : id;

		if (pid < 0)
			return process_error(err, -ESRCH, id, "thread");
		r = target->kind == TARGET_THREADS
			    ? sampler_attach_thread(engine->sampler, pid, id, err)
			    : sampler_attach_process(engine->sampler, pid, err);
		if (r == 0 && target->kind != TARGET_COMMAND)
			r = process_tracker_seed(engine->tracker, pid, err);
	}
	return r;
}

static int watch_fd(int epoll_fd, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

static int set_up(struct ptrace_engine *engine, const struct engine_config *config,
		  const struct target *target, struct error *err)
{
	struct sampler_config sampler = {
		.depth = config->depth,
		.frame_pointers = config->unwind == ENGINE_UNWIND_FP,
		.flags = STOPPER_STATES,
		.taken = on_taken,
		.started = on_started,
		.execed = on_execed,
		.ended = on_ended,
		.remapped = on_remapped,
		.self = engine,
	};
	struct schema schema = {.event = "wall", .value = "wall", .unit = "nanoseconds"};
	int r;

	if (target->kind != TARGET_THREADS)
		sampler.flags |= STOPPER_NEW_THREADS | (target->children ? STOPPER_CHILDREN : 0);
	if (target->kind == TARGET_COMMAND)
		sampler.flags |= STOPPER_OWN_CHILD;
	if (engine->stats.granted.kernel) {
		sampler.kernel_address = config->kernel_address;
		sampler.kernel_self = config->kernel_self;
	}
	engine->python_only = config->python == ENGINE_PYTHON_ONLY;
	if (config->python != ENGINE_PYTHON_OFF)
		engine->interpreters = interpreters_new();
	engine->holders_only = config->holders_only && engine->interpreters;
	sampler.interpreters = engine->interpreters;
	engine->tracker = process_tracker_new(engine->sink);
	engine->stacks = engine->tracker ? raw_stacks_new(engine->sink, engine->tracker) : NULL;
	engine->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	engine->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!engine->tracker || !engine->stacks || engine->timer_fd < 0 || engine->epoll_fd < 0)
		return error_set(err, -ENOMEM, "out of memory or descriptors");
	/* Without memory, threads have the kernel's names. */
	if (engine->interpreters)
		engine->names = thread_names_new(engine->tracker, engine->interpreters, true);
	schema.period = NS_PER_SEC / engine->stats.granted.frequency_hz;
	r = sink_schema(engine->sink, &schema, &engine->schema);
	if (r < 0)
		return error_errno(err, r, "the ptrace engine cannot register its events");
	r = sampler_open(&sampler, &engine->sampler, err);
	if (r < 0)
		return r;
	r = watch_fd(engine->epoll_fd, engine->timer_fd);
	if (r == 0)
		r = watch_fd(engine->epoll_fd, sampler_fd(engine->sampler));
	return r < 0 ? error_errno(err, r, "the ptrace engine cannot wait for threads")
		     : attach(engine, target, err);
}

/* Rejects what this engine does not support. */
static int check(const struct engine_config *config, const struct target *target, struct error *err)
{
	int r = engine_check_time(&ptrace_engine_ops, config, "wall", err);

	if (r < 0)
		return r;
	if (target->kind != TARGET_MACHINE && target->kind != TARGET_CGROUP)
		return 0;
	(void)error_set(err, -EOPNOTSUPP, "the ptrace engine cannot watch %s",
			target->kind == TARGET_MACHINE ? "the whole machine" : "a control group");
	error_remedy(err, "give processes with -p, or use --engine perf");
	return -EOPNOTSUPP;
}

static int ptrace_engine_open(const struct engine_config *config, const struct target *target,
			      struct sink *sink, void **ret_self, struct error *err)
{
	struct ptrace_engine *engine;
	int r = check(config, target, err);

	if (r < 0)
		return r;
	engine = calloc(1, sizeof(*engine));
	if (!engine)
		return error_set(err, -ENOMEM, "out of memory");
	engine->sink = sink;
	engine->timer_fd = engine->epoll_fd = -1;
	engine->depth = config->depth;
	engine->waiting = target->kind == TARGET_COMMAND;
	engine->stats.granted.frequency_hz = config->frequency_hz;
	engine->stats.granted.kernel =
		config->kernel && config->kernel_address && kernel_stack_probe() == 0;
	if (!config->rate_given && config->frequency_hz > DEFAULT_HZ)
		engine->stats.granted.frequency_hz = DEFAULT_HZ;
	engine->rate_hz = config->paused ? 0 : engine->stats.granted.frequency_hz;
	(void)snprintf(engine->notice, sizeof(engine->notice),
		       "the ptrace engine samples wall-clock time of all threads, %u times a "
		       "second, %s%s%s%s%s",
		       engine->stats.granted.frequency_hz,
		       engine->stats.granted.kernel ? "with kernel frames of sleeping threads"
						    : "without kernel frames",
		       config->unwind == ENGINE_UNWIND_FP ? ", by frame pointers only" : "",
		       config->stack_bytes < ENGINE_STACK_BYTES
			       ? "; it copies no stacks: --stack-size has no effect"
			       : "",
		       config->why_lesser ? "; " : "",
		       config->why_lesser ? config->why_lesser : "");
	r = set_up(engine, config, target, err);
	if (r < 0) {
		ptrace_engine_close(engine);
		return r;
	}
	*ret_self = engine;
	return 0;
}

static int ptrace_engine_start(void *self, struct error *err)
{
	int r = arm_timer(self);

	return r < 0 ? error_errno(err, r, "cannot start a timer") : 0;
}

static int ptrace_engine_fd(void *self)
{
	const struct ptrace_engine *engine = self;

	return engine->epoll_fd;
}

static int ptrace_engine_drain(void *self, struct error *err)
{
	struct ptrace_engine *engine = self;
	uint64_t ticks;
	int r = read(engine->timer_fd, &ticks, sizeof(ticks)) == (ssize_t)sizeof(ticks)
			? sampler_round(engine->sampler, err)
			: sampler_pump(engine->sampler, err);

	if (r == 0)
		r = raw_stacks_trim(engine->stacks, err);
	return r < 0 ? r : 0;
}

static int ptrace_engine_stop(void *self, struct error *err)
{
	struct ptrace_engine *engine = self;
	struct itimerspec never = {0};

	(void)timerfd_settime(engine->timer_fd, 0, &never, NULL); /* cannot fail */
	sampler_detach(engine->sampler);
	(void)err;
	return 0;
}

static int ptrace_engine_set_rate(void *self, uint32_t frequency_hz, struct error *err)
{
	struct ptrace_engine *engine = self;
	int r = 0;

	if (engine->rate_hz == 0)
		engine->paused_ns = clock_monotonic_ns();
	engine->rate_hz = frequency_hz;
	if (!engine->waiting)
		r = arm_timer(engine);
	return r < 0 ? error_errno(err, r, "cannot set a timer") : 0;
}

static int ptrace_engine_suspend(void *self, struct error *err)
{
	struct ptrace_engine *engine = self;

	return sampler_suspend(engine->sampler, err);
}

static int ptrace_engine_resume(void *self, struct error *err)
{
	struct ptrace_engine *engine = self;

	return sampler_resume(engine->sampler, err);
}

static void ptrace_engine_stats(void *self, bool final, struct engine_stats *ret)
{
	const struct ptrace_engine *engine = self;

	(void) final;
	*ret = engine->stats;
	ret->stacks.unique = raw_stacks_unique(engine->stacks);
	python_calls_stats(engine->interpreters, &ret->python);
	ret->granted.depth_limit = engine->depth;
	ret->cost.sample_ns = stop_times_quantile_ns(sampler_times(engine->sampler), 0.5);
	ret->cost.target_ns = ret->cost.sample_ns * engine->stats.samples.count;
}

static const char *ptrace_engine_notice(void *self)
{
	const struct ptrace_engine *engine = self;

	return engine->notice;
}

const struct engine_ops ptrace_engine_ops = {
	.name = "ptrace",
	.reads_calls = true,
	.summary = "stops threads to walk their stacks; wall-clock time, without perf events",
	.probe = ptrace_engine_probe,
	.open = ptrace_engine_open,
	.start = ptrace_engine_start,
	.fd = ptrace_engine_fd,
	.drain = ptrace_engine_drain,
	.stop = ptrace_engine_stop,
	.stats = ptrace_engine_stats,
	.notice = ptrace_engine_notice,
	.set_rate = ptrace_engine_set_rate,
	.close = ptrace_engine_close,
	.suspend = ptrace_engine_suspend,
	.resume = ptrace_engine_resume,
};
