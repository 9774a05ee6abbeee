/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/live_session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "load/names/function_place.h"
#include "load/names/kernel_addresses.h"
#include "record/job_control.h"
#include "record/launch.h"
#include "record/own_process.h"
#include "record/target_watch.h"

#define DRAIN_NS (200 * NS_PER_MS)
#define DRAIN_HURRIED_NS (20 * NS_PER_MS)
#define END_MS 1000 /* how long a program may take to end after SIGTERM */

struct live_session {
	struct engine *engine;
	struct kernel_addresses *kernel;
	struct pace pace;
	struct child child;
	bool launched;
	bool ended; /* the target; the engine is stopped */
	struct target target;
	VEC(pid_t) ids;
	struct target_watch others; /* processes that we did not start */
	int signal_fd;
	sigset_t old_mask;
	bool reloads;
	int stop_signal;
	int suspend_signal;
};

static int take_signals(struct live_session *watch, struct error *err)
{
	static const int taken[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH};
	struct sigaction action;
	sigset_t mask;

	(void)sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		/*
		 * Leave out ignored signals, as under nohup: if blocked, they would be delivered.
		 */
		if (sigaction(taken[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			(void)sigaddset(&mask, taken[i]);
	job_control_add(&mask);
	(void)sigprocmask(SIG_BLOCK, &mask, &watch->old_mask); /* cannot fail */
	watch->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return watch->signal_fd < 0 ? error_errno(err, -errno, "cannot watch signals") : 0;
}

static int open_engine(struct live_session *watch, const struct live_session_config *config,
		       struct error *err)
{
	struct engine_config sampling = config->sampling;

	sampling.function_offset = function_place_find;
	sampling.away_budget = config->pace.budget;
	watch->kernel = kernel_addresses_new(); /* without it some stacks lack frames */
	if (watch->kernel) {
		sampling.kernel_address = kernel_addresses_find;
		sampling.kernel_self = watch->kernel;
	}
	return engine_open(config->engine, &sampling, &watch->target, config->sink, &watch->engine,
			   err);
}

static int fork_program(struct live_session *watch, const struct live_session_config *config,
			struct error *err)
{
	struct launch_plan plan = {
		.argv = config->command,
		.environment = watch->engine ? engine_environment(watch->engine) : NULL,
		.mask = &watch->old_mask,
		/* Its output would be mixed with ours. */
		.stdout_fd = config->silent ? -1 : STDERR_FILENO,
		.silent = config->silent,
	};
	int r = child_fork(&watch->child, &plan, err);

	watch->launched = r == 0;
	return r;
}

/* Some engines are opened before the program starts, others need an existing process. */
static int arm(struct live_session *watch, const struct live_session_config *config,
	       struct error *err)
{
	bool engine_first = config->engine->environment != NULL;
	int r = 0;

	if (config->command)
		watch->target.program = config->command[0];
	if (engine_first)
		r = open_engine(watch, config, err);
	if (r == 0 && config->command)
		r = fork_program(watch, config, err);
	if (r < 0)
		return r;
	own_process_raise_limits(); /* after the fork: the program keeps its own limits */
	if (watch->target.kind == TARGET_COMMAND) {
		watch->target.ids = &watch->child.pid;
		watch->target.count = 1;
	}
	if (!engine_first)
		return open_engine(watch, config, err);
	engine_launched(watch->engine, watch->target.ids[0]);
	return 0;
}

static int start(struct live_session *watch, const struct live_session_config *config,
		 int *ret_exec, struct error *err)
{
	struct pace_config pace = config->pace;
	int r = take_signals(watch, err);

	if (r == 0)
		r = arm(watch, config, err);
	if (r == 0 && watch->target.kind != TARGET_COMMAND)
		r = engine_start(watch->engine, err);
	if (r == 0 && config->command) {
		r = child_release(&watch->child, config->command[0], err);
		*ret_exec = r;
	}
	if (r < 0)
		return r;
	target_watch_begin(&watch->others, &watch->target);
	pace.mode = config->sampling.mode;
	pace.machine = config->target.kind == TARGET_MACHINE;
	pace.group = config->target.kind == TARGET_CGROUP;
	pace_begin(&watch->pace, &pace, watch->engine);
	return 0;
}

int live_session_open(const struct live_session_config *config, struct live_session **ret,
		      int *ret_exec, struct error *err)
{
	struct live_session *watch = calloc(1, sizeof(*watch));
	int r = 0;

	*ret_exec = 0;
	if (!watch)
		return error_set(err, -ENOMEM, "out of memory");
	watch->signal_fd = -1;
	watch->reloads = config->reloads;
	watch->target = config->target;
	for (size_t i = 0; i < config->target.count && r == 0; i++)
		r = vec_push(&watch->ids, config->target.ids[i]);
	watch->target.ids = watch->ids.items;
	r = r < 0 ? error_set(err, r, "out of memory") : start(watch, config, ret_exec, err);
	if (r < 0) {
		(void)live_session_close(watch); /* its program was not released */
		return r;
	}
	*ret = watch;
	return 0;
}

/*
 * Ends a program that we started: sends SIGTERM and waits for it. Returns its PID if it is still
 * running, else 0.
 */
static pid_t end_child(struct live_session *watch)
{
	pid_t left = 0;

	if (!watch->launched)
		return 0;
	if (watch->child.released && !child_ended(&watch->child)) {
		struct pollfd fd = {.fd = watch->child.pid_fd, .events = POLLIN};

		(void)kill(watch->child.pid, SIGTERM); /* it may have ended */
		(void)poll(&fd, fd.fd >= 0, END_MS);
		left = child_ended(&watch->child) ? 0 : watch->child.pid; /* it ignores SIGTERM */
	}
	child_fini(&watch->child);
	return left;
}

pid_t live_session_close(struct live_session *watch)
{
	pid_t left;

	if (!watch)
		return 0;
	engine_close(watch->engine); /* no thread is held any more */
	left = end_child(watch);
	kernel_addresses_free(watch->kernel);
	if (watch->signal_fd >= 0) {
		struct signalfd_siginfo info;

		/*
		 * A signal that arrived twice must not kill us when it is unblocked. A caller that
		 * has blocked it itself wants to see it.
		 */
		while (!sigismember(&watch->old_mask, SIGTERM) &&
		       read(watch->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
			continue;
		(void)close(watch->signal_fd);
		(void)sigprocmask(SIG_SETMASK, &watch->old_mask, NULL); /* cannot fail */
	}
	target_watch_fini(&watch->others);
	vec_fini(&watch->ids);
	free(watch);
	return left;
}

static uint32_t read_signals(struct live_session *watch)
{
	struct signalfd_siginfo info;
	uint32_t events = 0;

	while (read(watch->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		int number = (int)info.ssi_signo;

		if (number == SIGWINCH) {
			events |= WATCH_RESIZED;
		} else if (number == SIGHUP && watch->reloads) {
			events |= WATCH_RELOAD;
		} else if (job_control_is(number)) {
			events |= WATCH_SUSPEND;
			watch->suspend_signal = number;
		} else {
			events |= WATCH_STOP;
			watch->stop_signal = number;
		}
	}
	return events;
}

static bool target_ended(struct live_session *watch)
{
	return watch->launched ? child_ended(&watch->child) : target_watch_ended(&watch->others);
}

/* The latest time to drain the engine, or when something else is due. */
static uint64_t next_look_ns(const struct live_session *watch, uint64_t now_ns, uint64_t until_ns)
{
	uint64_t drain_ns = now_ns + (watch->pace.hurried ? DRAIN_HURRIED_NS : DRAIN_NS);
	uint64_t pace_ns = pace_next_ns(&watch->pace);

	if (!watch->ended && drain_ns < until_ns)
		until_ns = drain_ns;
	if (!watch->ended && pace_ns < until_ns)
		until_ns = pace_ns;
	return until_ns > now_ns ? until_ns : now_ns;
}

static int look_at_engine(struct live_session *watch, uint64_t due_ns, struct error *err)
{
	uint64_t now_ns = clock_monotonic_ns();
	int r;

	if (watch->ended)
		return 0;
	if (target_ended(watch)) {
		watch->ended = true;
		return engine_stop(watch->engine, err);
	}
	r = engine_drain(watch->engine, err);
	if (r == 0)
		pace_look(&watch->pace, now_ns, now_ns > due_ns ? now_ns - due_ns : 0);
	return r;
}

int live_session_turn(struct live_session *watch, int input_fd, uint64_t until_ns,
		      uint32_t *ret_events, struct error *err)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t due_ns = next_look_ns(watch, now_ns, until_ns);
	struct pollfd fds[] = {
		{.fd = watch->signal_fd, .events = POLLIN},
		{.fd = watch->ended ? -1 : engine_fd(watch->engine), .events = POLLIN},
		{.fd = watch->launched && !watch->ended ? watch->child.pid_fd : -1,
		 .events = POLLIN},
		{.fd = input_fd, .events = POLLIN},
	};
	int r;

	*ret_events = 0;
	if (poll(fds, ARRAY_SIZE(fds), (int)((due_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS)) < 0)
		return errno == EINTR
			       ? 0
			       : error_errno(err, -errno, "cannot wait for signals and samples");
	if (fds[0].revents)
		*ret_events |= read_signals(watch);
	if (fds[3].revents & ~POLLIN)
		*ret_events |= WATCH_STOP; /* the terminal is gone */
	else if (fds[3].revents)
		*ret_events |= WATCH_INPUT;
	r = look_at_engine(watch, due_ns, err);
	if (watch->ended)
		*ret_events |= WATCH_ENDED;
	return r;
}

int live_session_stop(struct live_session *watch, struct error *err)
{
	bool ended = watch->ended;

	watch->ended = true;
	return ended ? 0 : engine_stop(watch->engine, err);
}

uint32_t live_session_paused(const struct live_session *watch)
{
	return watch->pace.hz == 0 ? watch->pace.paused : 0;
}

void live_session_change(struct live_session *watch, uint32_t asked_hz, double budget)
{
	pace_change(&watch->pace, asked_hz, budget, clock_monotonic_ns());
}

void live_session_pause(struct live_session *watch, bool paused)
{
	/* If it fails, sampling goes on as before; the budget still limits it. */
	(void)pace_ask(&watch->pace, paused, clock_monotonic_ns());
}

int live_session_stand_by(struct live_session *watch, struct error *err)
{
	int r = watch->ended ? 0 : engine_suspend(watch->engine, err);

	if (r < 0)
		return r;
	job_control_stop(watch->suspend_signal);
	return watch->ended ? 0 : engine_resume(watch->engine, err);
}

pid_t live_session_first_id(const struct live_session *watch)
{
	return watch->target.count > 0 ? watch->target.ids[0] : 0;
}

int live_session_stop_signal(const struct live_session *watch)
{
	return watch->stop_signal;
}

void live_session_stats(struct live_session *watch, struct engine_stats *ret)
{
	engine_progress(watch->engine, ret);
}

void live_session_end_stats(struct live_session *watch, struct engine_stats *ret)
{
	engine_stats(watch->engine, ret);
}

uint32_t live_session_rate_hz(const struct live_session *watch)
{
	return watch->pace.hz;
}

const char *live_session_engine(const struct live_session *watch)
{
	return engine_name(watch->engine);
}

const char *live_session_notice(const struct live_session *watch)
{
	return engine_notice(watch->engine);
}

int live_session_child_status(const struct live_session *watch)
{
	return watch->launched && watch->child.reaped ? child_exit_status(&watch->child) : -1;
}
