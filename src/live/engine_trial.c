/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/engine_trial.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "engine/engine.h"
#include "live/live_session.h"
#include "live/trial_sink.h"
#include "record/launch.h"

#define RATE_HZ 997
#define DEPTH 512
#define ENOUGH_STACKS 20u        /* enough stacks of a program that would continue */
#define STEP_NS (20 * NS_PER_MS) /* between two checks */
#define SAMPLING_NS (NS_PER_SEC) /* how long to wait for stacks */
#define BEGIN_MS 2000            /* how long a program may take to start */

static struct live_session_config config_of(const struct trial_plan *plan, const pid_t *pid,
					    struct sink *sink)
{
	return (struct live_session_config){
		.engine = plan->engine,
		.sampling = {.mode = plan->wakers ? ENGINE_MODE_OFFCPU : ENGINE_MODE_CPU,
			     .wakers = plan->wakers,
			     .event = "cpu-clock",
			     .frequency_hz = RATE_HZ,
			     .rate_given = true,
			     .may_fall_back = !plan->engine,
			     .depth = DEPTH,
			     .stack_bytes = ENGINE_STACK_BYTES,
			     .heap = {.on = plan->heap,
				      .alone = plan->heap,
				      .attach = plan->heap && plan->attach}},
		.target = {.kind = plan->attach ? TARGET_PROCESSES : TARGET_COMMAND,
			   .ids = plan->attach ? pid : NULL,
			   .count = plan->attach},
		.command = plan->attach ? NULL : plan->program,
		.silent = true,
		.pace = {.keeps_rate = true},
		.sink = sink,
	};
}

/* Runs until the program has ended or, with attach, until there are enough stacks. */
static int look_on(struct live_session *watch, const struct trial_plan *plan,
		   const struct trial_sink *count, struct trial_result *ret)
{
	uint64_t end_ns = clock_monotonic_ns() + SAMPLING_NS;
	uint64_t now_ns;
	uint32_t events = 0;
	int r = 0;

	while (r == 0 && !(events & (WATCH_ENDED | WATCH_STOP)) &&
	       (now_ns = clock_monotonic_ns()) < end_ns) {
		if (plan->attach && count->stacks >= ENOUGH_STACKS)
			break;
		r = live_session_turn(watch, -1, now_ns + STEP_NS, &events, &ret->err);
	}
	if (r == 0 && (events & WATCH_ENDED)) {
		struct engine_stats stats;

		live_session_end_stats(watch, &stats);
		(void)snprintf(ret->why_none, sizeof(ret->why_none), "%s", stats.why_none);
	}
	return r;
}

static void try_engine(const struct trial_plan *plan, const pid_t *pid, struct trial_result *ret)
{
	struct trial_sink count;
	struct live_session_config config = config_of(plan, pid, &count.sink);
	struct live_session *watch = NULL;
	int exec_code;

	trial_sink_init(&count);
	if (!plan->engine) {
		config.target.program = plan->program[0];
		config.engine = engine_find("auto", &config.target, &ret->err);
	}
	ret->code = config.engine ? live_session_open(&config, &watch, &exec_code, &ret->err)
				  : ret->err.code;
	if (ret->code == 0) {
		(void)snprintf(ret->engine, sizeof(ret->engine), "%s", live_session_engine(watch));
		(void)snprintf(ret->notice, sizeof(ret->notice), "%s", live_session_notice(watch));
		ret->code = look_on(watch, plan, &count, ret);
	}
	ret->stacks = count.stacks;
	ret->whole_stacks = count.whole_stacks;
	ret->late_cut = trial_sink_late_cut(&count);
	ret->woken_stacks = count.woken_stacks;
	(void)live_session_close(watch); /* if it is still running: it is our own tiny program */
	trial_sink_fini(&count);
}

/* Waits for the byte that the program writes first. */
static int wait_for_start(int fd, struct error *err)
{
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	char byte;

	if (poll(&poll_fd, 1, BEGIN_MS) == 1 && read(fd, &byte, 1) == 1)
		return 0;
	return error_set(err, -ETIMEDOUT, "the test program did not start");
}

static int start_program(const struct trial_plan *plan, struct child *child, struct error *err)
{
	int ends[2];
	sigset_t mask;
	struct launch_plan launch = {.argv = plan->program, .mask = &mask};
	int r;

	(void)sigemptyset(&mask);
	*child = (struct child){.pid = -1, .gate_fd = -1, .report_fd = -1, .pid_fd = -1};
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, -errno, "cannot start the test program");
	launch.stdout_fd = ends[1];
	r = child_fork(child, &launch, err);
	(void)close(ends[1]); /* so that the program's end is seen */
	if (r == 0)
		r = child_release(child, plan->program[0], err);
	if (r == 0)
		r = wait_for_start(ends[0], err);
	(void)close(ends[0]);
	return r;
}

static void try_attaching(const struct trial_plan *plan, struct trial_result *ret)
{
	struct child child;

	ret->code = start_program(plan, &child, &ret->err);
	if (ret->code == 0)
		try_engine(plan, &child.pid, ret);
	if (child.pid > 0 && !child.reaped) {
		(void)kill(child.pid, SIGKILL); /* it may have ended */
		(void)waitpid(child.pid, NULL, 0);
		child.reaped = 1;
	}
	child_fini(&child);
}

static void __attribute__((noreturn)) run_trial(int fd, const struct trial_plan *plan)
{
	struct trial_result result = {0};

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* else it ends by itself, a little later */
	if (plan->attach)
		try_attaching(plan, &result);
	else
		try_engine(plan, NULL, &result);
	/* If this fails, the reader notices that data is missing. */
	_exit(write(fd, &result, sizeof(result)) == (ssize_t)sizeof(result) ? 0 : 1);
}

void trial_start(struct trial *trial, const struct trial_plan *plan)
{
	int ends[2] = {-1, -1};

	*trial = (struct trial){
		.pid = -1, .fd = -1, .deadline_ns = clock_monotonic_ns() + plan->limit_ns};
	if (pipe2(ends, O_CLOEXEC) == 0)
		trial->pid = fork();
	trial->code = trial->pid < 0 ? -errno : 0;
	if (trial->pid == 0)
		run_trial(ends[1], plan);
	if (ends[1] >= 0)
		(void)close(ends[1]); /* so that its end is seen here */
	trial->fd = ends[0];
}

/* Whether the whole result came in time. */
static bool read_result(const struct trial *trial, struct trial_result *ret)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct pollfd fd = {.fd = trial->fd, .events = POLLIN};
	int left_ms =
		now_ns < trial->deadline_ns ? (int)((trial->deadline_ns - now_ns) / NS_PER_MS) : 0;

	while (poll(&fd, 1, left_ms) < 0 && errno == EINTR)
		continue;
	return (fd.revents & POLLIN) && read(trial->fd, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret);
}

static void explain_silence(int status, struct trial_result *ret)
{
	struct error *err = &ret->err;

	/* A slow trial was killed by us. */
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		ret->killed_by = WTERMSIG(status);
	if (ret->killed_by == SIGSYS)
		ret->code = error_set(err, -EPERM, "a seccomp filter killed it");
	else if (ret->killed_by != 0)
		ret->code = error_set(err, -EIO, "it was killed by signal %d", ret->killed_by);
	else
		ret->code = error_set(err, -ETIMEDOUT, "it did not answer in time");
}

void trial_finish(struct trial *trial, struct trial_result *ret)
{
	int status = 0;

	*ret = (struct trial_result){0};
	if (trial->pid < 0) {
		ret->code = error_errno(&ret->err, trial->code, "cannot start a process");
	} else if (read_result(trial, ret)) {
		(void)waitpid(trial->pid, &status, 0); /* it is exiting */
	} else {
		(void)kill(trial->pid, SIGKILL); /* it may have ended */
		(void)waitpid(trial->pid, &status, 0);
		*ret = (struct trial_result){0};
		explain_silence(status, ret);
	}
	if (trial->fd >= 0)
		(void)close(trial->fd);
	trial->pid = trial->fd = -1;
}
