/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/live_stacks.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "engine/ptrace/sampler.h"
#include "engine/ptrace/stopper.h"
#include "record/job_control.h"

/* The most text that may wait for its reader. Above this no more is produced. */
#define BACKLOG_BYTES (256u << 10)

struct session {
	const struct live_stacks_config *config;
	struct sampler *sampler;
	uint64_t round; /* number of the last round with a stack */
	bool taken;     /* there was a stack in this round */
	struct bytes out;
	size_t written; /* of out */
	int timer_fd;
	int signal_fd;
	sigset_t old_mask;
};

static int on_taken(void *self, const struct stack_sample *sample, struct error *err)
{
	struct session *session = self;

	session->round += !session->taken;
	session->taken = true;
	session->config->taken(session->config->self, session->round, sample, &session->out);
	return session->out.failed ? error_set(err, -ENOMEM, "out of memory") : 0;
}

static void on_changed(void *self, pid_t pid)
{
	struct session *session = self;

	(void)pid;
	if (session->config->remapped)
		session->config->remapped(session->config->self);
}

static int take_signals(struct session *session, struct error *err)
{
	static const int stops[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action;
	sigset_t mask;

	(void)sigemptyset(&mask);
	for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
		/*
		 * Leave out ignored signals, as under nohup: if blocked, they would be delivered.
		 */
		if (sigaction(stops[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			(void)sigaddset(&mask, stops[i]);
	job_control_add(&mask);
	(void)sigprocmask(SIG_BLOCK, &mask, &session->old_mask); /* cannot fail */
	session->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	return session->signal_fd < 0 ? error_errno(err, -errno, "cannot watch signals") : 0;
}

static int attach(struct session *session, struct error *err)
{
	const struct live_stacks_config *config = session->config;
	struct sampler_config sampler = {
		.depth = config->depth,
		.frame_pointers = config->frame_pointers,
		.flags = (config->threads ? STOPPER_NEW_THREADS : 0) |
			 (config->kernel_address ? STOPPER_STATES : 0),
		.calls_in_place = config->python != ENGINE_PYTHON_OFF,
		.calls_only = config->python == ENGINE_PYTHON_ONLY,
		.kernel_address = config->kernel_address,
		.kernel_self = config->kernel_self,
		.taken = on_taken,
		.execed = on_changed,
		.remapped = on_changed,
		.self = session,
	};
	int r = sampler_open(&sampler, &session->sampler, err);

	if (r < 0)
		return r;
	return config->threads
		       ? sampler_attach_process(session->sampler, config->pid, err)
		       : sampler_attach_thread(session->sampler, config->pid, config->pid, err);
}

/* The first tick comes at once. */
static int start_timer(struct session *session, struct error *err)
{
	uint64_t step_ns = session->config->interval_ns;
	struct itimerspec times = {
		.it_value = {.tv_nsec = 1},
		.it_interval = {.tv_sec = (time_t)(step_ns / NS_PER_SEC),
				.tv_nsec = (long)(step_ns % NS_PER_SEC)},
	};

	session->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (session->timer_fd < 0 || timerfd_settime(session->timer_fd, 0, &times, NULL) < 0)
		return error_errno(err, -errno, "cannot start a timer");
	return 0;
}

/* Writes a piece that a pipe with room accepts without blocking. */
static int write_piece(struct session *session, struct error *err)
{
	size_t left = session->out.size - session->written;
	ssize_t n = write(session->config->out_fd, session->out.data + session->written,
			  left < PIPE_BUF ? left : PIPE_BUF);

	if (n < 0 && errno != EINTR && errno != EAGAIN)
		return error_file(err, -errno, "cannot write the result");
	session->written += n > 0 ? (size_t)n : 0;
	if (session->written == session->out.size)
		session->written = session->out.size = 0;
	return 0;
}

/* One turn: a round if it is due, else whatever the threads need. */
static int turn(struct session *session, struct error *err)
{
	uint64_t ticks;
	bool due = read(session->timer_fd, &ticks, sizeof(ticks)) == (ssize_t)sizeof(ticks);

	session->taken = false;
	return due && session->out.size < BACKLOG_BYTES ? sampler_round(session->sampler, err)
							: sampler_pump(session->sampler, err);
}

static int timeout_ms(const struct session *session, uint64_t start_ns)
{
	uint64_t limit_ns = session->config->duration_ns;
	uint64_t spent_ns = clock_monotonic_ns() - start_ns;

	if (limit_ns == 0)
		return -1;
	if (spent_ns >= limit_ns)
		return 0;
	return limit_ns - spent_ns > 3600 * NS_PER_SEC
		       ? 3600 * 1000
		       : (int)((limit_ns - spent_ns + NS_PER_MS - 1) / NS_PER_MS);
}

/*
 * Consumes pending signals, so that they do not kill us when they are unblocked. Returns whether to
 * stop. While we are suspended the process continues.
 */
static int read_signals(const struct session *session, bool *ret_stop, struct error *err)
{
	struct signalfd_siginfo info;
	int r = 0;

	*ret_stop = false;
	while (r == 0 && read(session->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (!job_control_is((int)info.ssi_signo)) {
			*ret_stop = true;
			continue;
		}
		r = sampler_suspend(session->sampler, err);
		if (r < 0)
			break;
		job_control_stop((int)info.ssi_signo);
		r = sampler_resume(session->sampler, err);
	}
	return r;
}

static int run_loop(struct session *session, struct error *err)
{
	const struct live_stacks_config *config = session->config;
	struct pollfd fds[] = {
		{.fd = session->signal_fd, .events = POLLIN},
		{.fd = session->timer_fd, .events = POLLIN},
		{.fd = sampler_fd(session->sampler), .events = POLLIN},
		{.fd = -1, .events = POLLOUT},
	};
	uint64_t start_ns = clock_monotonic_ns();
	bool stop = false;
	int r = 0;

	while (r == 0 && sampler_thread_count(session->sampler) > 0 &&
	       (config->count == 0 || session->round < config->count)) {
		int left_ms = timeout_ms(session, start_ns);

		fds[3].fd = session->out.size > 0 ? config->out_fd : -1;
		if (poll(fds, ARRAY_SIZE(fds), left_ms) < 0 && errno != EINTR)
			return error_errno(err, -errno, "cannot wait for signals and samples");
		r = read_signals(session, &stop, err);
		if (left_ms == 0 || stop)
			break;
		if (r == 0 && fds[3].revents != 0)
			r = write_piece(session, err);
		if (r == 0)
			r = turn(session, err);
	}
	return r;
}

int live_stacks_run(const struct live_stacks_config *config, struct live_stacks_result *ret,
		    struct error *err)
{
	struct session session = {.config = config, .timer_fd = -1, .signal_fd = -1};
	int r = take_signals(&session, err);

	*ret = (struct live_stacks_result){0};
	if (r == 0)
		r = attach(&session, err);
	if (r == 0)
		config->attached(config->self, &session.out);
	if (r == 0)
		r = start_timer(&session, err);
	if (r == 0)
		r = run_loop(&session, err);
	if (session.sampler) {
		ret->ended = sampler_thread_count(session.sampler) == 0;
		ret->times = *sampler_times(session.sampler);
	}
	sampler_close(session.sampler);
	if (session.timer_fd >= 0)
		(void)close(session.timer_fd); /* nothing is pending on it */
	if (session.signal_fd >= 0)
		(void)close(session.signal_fd);
	(void)sigprocmask(SIG_SETMASK, &session.old_mask, NULL); /* cannot fail */
	/* No thread is held any more: this may wait for the reader, and Ctrl-C ends it. */
	while (r == 0 && session.out.size > 0)
		r = write_piece(&session, err);
	bytes_fini(&session.out);
	return r;
}
