/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/record.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/outfile.h"
#include "base/scope.h"
#include "base/vec.h"
#include "pipeline/closing.h"
#include "pipeline/flight.h"
#include "pipeline/function_place.h"
#include "pipeline/jit_watch.h"
#include "pipeline/job_control.h"
#include "pipeline/kernel_addresses.h"
#include "pipeline/launch.h"
#include "pipeline/memory_watch.h"
#include "pipeline/own_process.h"
#include "pipeline/pace.h"
#include "pipeline/remote.h"
#include "pipeline/session_info.h"
#include "pipeline/status.h"
#include "pipeline/target_watch.h"
#include "proc/process_info.h"
#include "proc/thread_status.h"
#include "recording/writer.h"

#define DRAIN_MS 200
#define DRAIN_HURRIED_MS 20
#define FLUSH_NS NS_PER_SEC
#define CLOCK_PAIR_NS (10 * NS_PER_SEC)
#define LONELY_NS (100 * NS_PER_MS) /* in which a child of one who has ended may come */

struct session {
	const struct record_config *config;
	struct record_result *result;
	struct recording_writer *writer;
	struct flight *flight; /* NULL: all goes to the output */
	struct engine *engine;
	struct kernel_addresses *kernel;
	struct jit_watch jit;
	struct memory_watch memory; /* of a recording of the heap */
	struct child child;
	bool launched;
	bool created;  /* the output did not exist before */
	int output_fd; /* owned by the writer */
	int signal_fd;
	struct remote remote; /* where others ask how it goes */
	struct pace pace;
	struct leak_watch leaks;
	sigset_t old_mask;
	struct target_watch others; /* processes that we did not start */
	uint64_t start_ns;
	uint64_t flushed_ns;
	uint64_t clock_ns;
	int stop_signals; /* seen so far */
	int last_stop;    /* the last of them */
	int pause;        /* 1: somebody wants a pause, -1: its end, 0: neither */
	int suspend;      /* the signal that asks us to be stopped for a while; 0: none */
	bool write_asked; /* the last seconds are wanted */
	uint64_t drained_ns;
	uint64_t lonely_ns; /* since when nobody is left of those who joined; 0: some are */
	sigset_t taken;
};

static const int stop_list[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int pause_list[] = {SIGUSR1, SIGUSR2};

/* What was ignored when we began (nohup, a background job) would come all the same, blocked. */
static bool is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static int take_signals(struct session *session, struct error *err)
{
	size_t i;

	(void)sigemptyset(&session->taken);
	if (session->config->is_guest) {
		(void)sigprocmask(SIG_BLOCK, NULL, &session->old_mask); /* only asks */
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(stop_list); i++)
		if (!is_ignored(stop_list[i]))
			(void)sigaddset(&session->taken, stop_list[i]);
	for (i = 0; i < ARRAY_SIZE(pause_list); i++)
		(void)sigaddset(&session->taken, pause_list[i]);
	if (session->config->leaks.at_signal > 0)
		(void)sigaddset(&session->taken, session->config->leaks.at_signal);
	job_control_add(&session->taken);
	if (sigprocmask(SIG_BLOCK, &session->taken, &session->old_mask) < 0)
		return error_errno(err, -errno, "cannot block signals");
	session->signal_fd = signalfd(-1, &session->taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (session->signal_fd < 0)
		return error_errno(err, -errno, "cannot watch signals");
	return 0;
}

static bool to_stdout(const struct session *session)
{
	return strcmp(session->config->output, "-") == 0;
}

/* Two that write into one file would leave neither whole. */
static int claim_output(int fd, const char *path, struct error *err)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
		return 0; /* or there are no locks here */
	(void)error_set(err, -EBUSY, "%s is being written by another recording", path);
	error_remedy(err, "wait for its end, or choose another name with -o FILE");
	return -EBUSY;
}

static int open_output(struct session *session, struct error *err)
{
	const int *given = session->config->output_fd;
	int fd;
	int r;

	if (to_stdout(session) && isatty(STDOUT_FILENO)) {
		(void)error_set(err, -EINVAL, "a recording does not go to a terminal");
		error_remedy(err, "pipe it somewhere, or name a file with -o FILE");
		return -EINVAL;
	}
	if (given)
		fd = fcntl(*given, F_DUPFD_CLOEXEC, 3);
	else
		fd = outfile_open(session->config->output, &session->created, err);
	if (fd < 0)
		return given ? error_file(err, -errno, "cannot write %s", session->config->output)
			     : fd;
	r = given || to_stdout(session) ? 0 : claim_output(fd, session->config->output, err);
	if (r == 0)
		r = recording_writer_open(fd, session->config->output, &session->writer, err);
	if (r < 0)
		(void)close(fd); /* nothing was written */
	session->output_fd = fd;
	return r;
}

/* The recording stays in memory; the output is written later. */
static int open_flight(struct session *session, struct error *err)
{
	int r = flight_open(session->config, &session->flight, err);

	if (r == 0)
		r = session->output_fd = flight_take_fd(session->flight, err);
	if (r < 0)
		return r;
	r = recording_writer_open(session->output_fd, "the last seconds to memory",
				  &session->writer, err);
	if (r < 0)
		(void)close(session->output_fd); /* nothing was written */
	return r;
}

/* From here on there is something to record: what was in the file goes. */
static void empty_output(struct session *session)
{
	if (to_stdout(session))
		return; /* others may have written to it before us */
	if (ftruncate(session->output_fd, 0) < 0)
		errno = 0; /* a pipe or device: nothing to cut */
}

static int fork_program(struct session *session, char *const *environment, struct error *err)
{
	struct launch_plan plan = {
		.argv = session->config->command,
		.environment = environment,
		.mask = &session->old_mask,
		/* What the program prints would end up inside the recording. */
		.stdout_fd = to_stdout(session) ? STDERR_FILENO : -1,
	};
	int r = child_fork(&session->child, &plan, err);

	session->launched = session->result->has_child = r == 0;
	return r;
}

static int open_engine(struct session *session, const struct target *target, struct error *err)
{
	const struct record_config *config = session->config;
	struct engine_config sampling = config->sampling;

	sampling.function_offset = function_place_find;
	sampling.paused = pace_begins_paused(&config->pace);
	session->kernel = kernel_addresses_new(); /* without it stacks lack some frames */
	if (session->kernel) {
		sampling.kernel_address = kernel_addresses_find;
		sampling.kernel_self = session->kernel;
	}
	return engine_open(config->engine, &sampling, target,
			   recording_writer_sink(session->writer), &session->engine, err);
}

/* Forks the program and arms the engine on it, in the order that the engine needs. */
static int arm(struct session *session, struct target *target, struct error *err)
{
	const struct record_config *config = session->config;
	bool engine_first = config->engine->environment != NULL;
	int r = 0;

	if (config->command)
		target->program = config->command[0];
	if (engine_first)
		r = open_engine(session, target, err);
	if (r == 0 && config->command)
		r = fork_program(session, engine_first ? engine_environment(session->engine) : NULL,
				 err);
	if (r < 0)
		return r;
	if (!config->is_guest)
		own_process_raise_limits(); /* after the fork: the program keeps its own limits */
	if (target->kind == TARGET_COMMAND) {
		target->ids = &session->child.pid;
		target->count = 1;
	}
	if (!engine_first)
		return open_engine(session, target, err);
	engine_launched(session->engine, target->ids[0]);
	return 0;
}

/* Starts the program once everything is armed. */
static int launch(struct session *session, struct error *err)
{
	const struct record_config *config = session->config;
	struct target target = config->target;
	int r = arm(session, &target, err);

	if (r < 0)
		return r;
	session->start_ns = clock_monotonic_ns();
	if (target.kind != TARGET_COMMAND) {
		r = engine_start(session->engine, err);
		if (r < 0)
			return r;
	}
	if (config->command) {
		r = child_release(&session->child, config->command[0], err);
		session->result->exec_code = r;
	}
	return r;
}

static void pass_on(struct session *session, int number)
{
	if (session->launched && !child_ended(&session->child))
		(void)kill(session->child.pid, number); /* it may be gone by now */
}

/* For a program that has a use for it; else for us: it would have been the program's end. */
static void heed_user_signal(struct session *session, int number)
{
	if (session->launched && thread_catches(session->child.pid, number))
		pass_on(session, number);
	else if (number == SIGUSR2 && session->flight)
		session->write_asked = true;
	else
		session->pause = number == SIGUSR2 ? 1 : -1;
}

/* Reads the signals that came. One from the terminal has reached the program already. */
static void read_signals(struct session *session)
{
	struct signalfd_siginfo info;
	size_t i;

	while (read(session->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		int number = (int)info.ssi_signo;

		if (job_control_is(number)) {
			session->suspend = number;
			continue;
		}
		if (number == session->config->leaks.at_signal) {
			leak_watch_ask(&session->leaks, LEAK_AT_SIGNAL);
			continue;
		}
		if (number == SIGUSR1 || number == SIGUSR2) {
			heed_user_signal(session, number);
			continue;
		}
		if (info.ssi_code <= 0) /* sent by a process */
			pass_on(session, number);
		for (i = 0; i < ARRAY_SIZE(stop_list); i++)
			if (number == stop_list[i]) {
				session->stop_signals++;
				session->last_stop = number;
			}
	}
}

/* In the file, or in memory with --last. */
static uint64_t kept_bytes(const struct session *session)
{
	return session->flight ? flight_bytes(session->flight, session->writer)
			       : recording_writer_bytes(session->writer);
}

/* What there is so far goes into the file; with --last soon after the answer. */
static int write_now(struct session *session, struct error *err)
{
	int r;

	session->write_asked = session->flight != NULL;
	if (session->flight)
		return 0;
	r = engine_drain(session->engine, err);
	return r < 0 ? r : recording_writer_flush(session->writer, err);
}

/* A failure that is not the end of it. */
static void tell(const struct record_config *config, const struct error *err)
{
	char text[sizeof(err->text) + sizeof(err->remedy) + 16];

	(void)snprintf(text, sizeof(text), "%s\n      %s", err->text, err->remedy);
	config->notice(config->self, text);
}

/* Why the rate cannot be changed, which the engine said when it was asked to. */
static const struct error *pace_refused(const struct pace *pace, struct error *err)
{
	(void)error_set(err, -EIO, "%s", pace->refusal);
	error_remedy(err, "end the recording instead, with Ctrl-C or kill -INT %d", (int)getpid());
	return err;
}

/* Answers somebody who asks how it goes, or wants something of us. */
static void answer(void *self, enum remote_request request, struct bytes *reply)
{
	struct session *session = self;
	const struct target *target = &session->config->target;
	struct recorder_status status = {
		.title = session->config->title,
		.pids = session->launched ? &session->child.pid : target->ids,
		.pid_count = session->launched ? 1 : target->count,
		.engine = engine_name(session->engine),
		.pace = &session->pace,
		.elapsed_ns = clock_monotonic_ns() - session->start_ns,
		.output = session->config->output,
	};
	struct engine_stats stats;
	struct error err = {0};

	if ((request == REMOTE_PAUSE || request == REMOTE_RESUME) &&
	    pace_ask(&session->pace, request == REMOTE_PAUSE, clock_monotonic_ns()) < 0)
		status.error = pace_refused(&session->pace, &err);
	if ((request == REMOTE_WRITE && write_now(session, &err) < 0) ||
	    (request == REMOTE_SCAN && leak_watch_scan(&session->leaks, &err) < 0))
		status.error = &err;
	engine_progress(session->engine, &stats);
	status.stats = &stats;
	status.kept_bytes = kept_bytes(session);
	status_write(&status, reply);
}

/* Waits until there is something to do. */
static void wait_for_work(struct session *session, int timeout_ms)
{
	struct pollfd fds[TARGET_WATCH_MAX + 5];
	const int *stop_fd = session->config->stop_fd;
	nfds_t n = 0;
	size_t i;

	fds[n++] = (struct pollfd){.fd = session->signal_fd, .events = POLLIN};
	fds[n++] = (struct pollfd){.fd = session->engine ? engine_fd(session->engine) : -1,
				   .events = POLLIN};
	fds[n++] = (struct pollfd){.fd = session->launched ? session->child.pid_fd : -1,
				   .events = POLLIN};
	fds[n++] = (struct pollfd){.fd = session->engine ? remote_fd(&session->remote) : -1,
				   .events = POLLIN};
	fds[n++] = (struct pollfd){.fd = stop_fd ? *stop_fd : -1, .events = POLLIN};
	for (i = 0; i < session->others.count; i++)
		fds[n++] = (struct pollfd){.fd = session->others.pid_fds[i], .events = POLLIN};
	if (poll(fds, n, timeout_ms) < 0)
		return;
	if (fds[0].revents & POLLIN)
		read_signals(session);
	if (fds[4].revents != 0)
		session->stop_signals = 1;
	/* One who has said nothing so far does not stay for ever. */
	if (fds[3].revents != 0 || session->remote.peer_fd >= 0)
		remote_serve(&session->remote, clock_monotonic_ns(), answer, session);
}

/* Whether those who joined have ended, and nobody came in their place for a while. */
static bool members_ended(struct session *session, uint64_t now_ns)
{
	if (!target_watch_ended(&session->others) || engine_has_members(session->engine)) {
		session->lonely_ns = 0;
		return false;
	}
	if (session->lonely_ns == 0)
		session->lonely_ns = now_ns;
	return now_ns - session->lonely_ns >= LONELY_NS;
}

static bool target_ended(struct session *session, uint64_t now_ns)
{
	if (session->launched)
		return child_ended(&session->child);
	return session->config->target.joins ? members_ended(session, now_ns)
					     : target_watch_ended(&session->others);
}

/* When the time is up that was given, from when sampling begins; UINT64_MAX: never. */
static uint64_t end_ns(const struct session *session)
{
	uint64_t limit_ns = session->config->duration_ns;
	uint64_t begin_ns = session->start_ns + session->config->pace.delay_ns;

	return limit_ns == 0 || limit_ns > UINT64_MAX - begin_ns ? UINT64_MAX : begin_ns + limit_ns;
}

static bool is_over(struct session *session, uint64_t now_ns)
{
	if (target_ended(session, now_ns))
		session->result->end = RECORD_TARGET_ENDED;
	else if (session->stop_signals > 0)
		session->result->end = RECORD_STOPPED;
	else if (now_ns >= end_ns(session))
		session->result->end = RECORD_TIME_UP;
	else
		return false;
	return true;
}

static void put_clocks(struct session *session, uint64_t now_ns)
{
	session->clock_ns = now_ns;
	recording_writer_clock(session->writer, clock_monotonic_ns(), clock_realtime_ns());
}

static int drain(struct session *session, uint64_t now_ns, struct error *err)
{
	int r = engine_drain(session->engine, err);

	session->drained_ns = now_ns;
	if (r == 0 && now_ns - session->clock_ns >= CLOCK_PAIR_NS)
		put_clocks(session, now_ns);
	if (r == 0 && now_ns - session->flushed_ns >= FLUSH_NS) {
		r = recording_writer_flush(session->writer, err);
		session->flushed_ns = now_ns;
	}
	return r;
}

/* Keeps the engine's buffers from filling up while something else is done. */
static int drain_meanwhile(void *self, struct error *err)
{
	struct session *session = self;
	uint64_t now_ns = clock_monotonic_ns();

	return now_ns - session->drained_ns < DRAIN_MS * NS_PER_MS ? 0
								   : drain(session, now_ns, err);
}

static int write_last(struct session *session, uint64_t now_ns, bool is_end, struct error *err)
{
	const struct record_config *config = session->config;
	struct flight_moment moment = {
		.writer = session->writer,
		.jit = &session->jit,
		.engine = engine_name(session->engine),
		.result = session->result,
		.start_ns = session->start_ns,
		.now_ns = now_ns,
		.last = is_end,
		.meanwhile = is_end ? NULL : drain_meanwhile,
		.self = session,
	};
	struct flight_written written = {0};
	int r = flight_write(session->flight, &moment, &written, err);

	session->result->file_bytes = written.file_bytes;
	if (r == 0 && config->wrote)
		config->wrote(config->self, &written);
	return r;
}

/* Forgets what is too old, and writes the rest when that was asked for. */
static int look_at_flight(struct session *session, uint64_t now_ns, struct error *err)
{
	const struct record_config *config = session->config;
	struct error why = {0};
	int r;

	if (!session->flight)
		return 0;
	engine_progress(session->engine, &session->result->stats);
	r = flight_look(session->flight, session->writer, &session->result->stats, now_ns, err);
	if (r < 0 || !session->write_asked)
		return r;
	session->write_asked = false;
	own_process_usage(&session->result->own_cpu_ns, &session->result->own_rss_bytes);
	/* It can be tried again: that is no reason to lose what is in memory. */
	if (write_last(session, now_ns, false, &why) < 0 && config->notice)
		tell(config, &why);
	return 0;
}

/* When to look at the latest: buffers fill, and a time limit or delay may be over. */
static uint64_t next_look_ns(const struct session *session, uint64_t now_ns)
{
	uint64_t pace_ns = pace_next_ns(&session->pace);
	uint64_t next_ns =
		now_ns + (session->pace.hurried ? DRAIN_HURRIED_MS : DRAIN_MS) * NS_PER_MS;

	if (session->config->sampling.heap.on && session->memory.next_ns < next_ns)
		next_ns = session->memory.next_ns;
	if (pace_ns < next_ns)
		next_ns = pace_ns;
	if (end_ns(session) < next_ns)
		next_ns = end_ns(session);
	if (leak_watch_next_ns(&session->leaks) < next_ns)
		next_ns = leak_watch_next_ns(&session->leaks);
	if (session->lonely_ns != 0 && session->lonely_ns + LONELY_NS < next_ns)
		next_ns = session->lonely_ns + LONELY_NS;
	return next_ns > now_ns ? next_ns : now_ns;
}

/* Pauses or goes on when a signal asked for it. */
static void heed_pause(struct session *session, uint64_t now_ns)
{
	if (session->pause)
		(void)pace_ask(&session->pace, session->pause > 0, now_ns); /* that is told */
	session->pause = 0;
}

/* Stops this program when it was asked to; what it watches goes its way meanwhile. */
static int stand_by(struct session *session, struct error *err)
{
	int number = session->suspend;
	int r = 0;

	session->suspend = 0;
	if (number == 0)
		return 0;
	if (session->engine)
		r = engine_suspend(session->engine, err);
	if (r < 0)
		return r;
	job_control_stop(number);
	return session->engine ? engine_resume(session->engine, err) : 0;
}

static void show_progress(struct session *session, uint64_t now_ns)
{
	const struct record_config *config = session->config;
	struct engine_stats stats;

	if (!config->progress)
		return;
	engine_progress(session->engine, &stats);
	config->progress(config->self, now_ns - session->start_ns, &stats, kept_bytes(session));
}

static int run_loop(struct session *session, struct error *err)
{
	uint64_t now_ns = clock_monotonic_ns();
	int r = 0;

	while (r == 0 && !is_over(session, now_ns)) {
		uint64_t next_ns = next_look_ns(session, now_ns);
		uint64_t late_ns;

		wait_for_work(session, (int)((next_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS));
		r = stand_by(session, err);
		now_ns = clock_monotonic_ns();
		late_ns = now_ns > next_ns ? now_ns - next_ns : 0;
		if (r == 0)
			r = drain(session, now_ns, err);
		if (r == 0)
			leak_watch_look(&session->leaks, now_ns);
		heed_pause(session, now_ns);
		pace_look(&session->pace, now_ns, late_ns);
		if (r == 0)
			r = look_at_flight(session, now_ns, err);
		jit_watch_look(&session->jit, recording_writer_dictionary(session->writer), now_ns);
		if (session->config->sampling.heap.on)
			memory_watch_look(&session->memory, session->writer, now_ns);
		show_progress(session, now_ns);
	}
	return r;
}

/* Stops sampling and writes what makes the file complete. */
static int finish(struct session *session, struct error *err)
{
	struct record_result *result = session->result;
	uint64_t over_ns = clock_monotonic_ns();
	int r;

	/* Who goes on without us has no other end. */
	if (result->end != RECORD_TARGET_ENDED && leak_watch_scan(&session->leaks, NULL) < 0 &&
	    session->leaks.why.code < 0)
		result->leak_failures++; /* that is told */
	leak_watch_end(&session->leaks);
	result->leak_failures += session->leaks.failures;
	r = engine_stop(session->engine, err);
	result->leak_scans = session->leaks.scans;
	result->leaks = session->leaks.last;

	result->duration_ns = over_ns - session->start_ns;
	pace_end(&session->pace, over_ns);
	result->paused_ns = session->pace.paused_ns;
	result->lowest_hz = session->pace.lowered > 0 ? session->pace.lowest_hz : 0;
	result->rate_failures = session->pace.failures;
	engine_stats(session->engine, &result->stats);
	own_process_usage(&result->own_cpu_ns, &result->own_rss_bytes);
	if (r < 0 && session->flight)
		(void)write_last(session, over_ns, true, NULL); /* the first failure is told */
	if (r < 0)
		return r;
	r = session->flight ? write_last(session, over_ns, true, err)
			    : closing_write(session->writer, session->config, result, &session->jit,
					    over_ns, err);
	own_process_usage(&result->own_cpu_ns, &result->own_rss_bytes);
	return r;
}

/*
 * The file is finished; summing it up may take a while, and being asked to stop
 * again ends that, as it would end any program. What came before this moment
 * asked for what was under way: timeout(1), for one, sends its signal twice.
 */
static void let_second_stop_through(struct session *session)
{
	read_signals(session);
	if (session->stop_signals > 0)
		(void)sigprocmask(SIG_SETMASK, &session->old_mask, NULL); /* cannot fail */
}

/* The program goes on: its status is what we end with, unless asked to leave. */
static void wait_for_child(struct session *session)
{
	int stops = session->stop_signals;

	(void)sigprocmask(SIG_BLOCK, &session->taken, NULL); /* they are read from a descriptor */
	while (!child_ended(&session->child) && session->stop_signals < stops + 1) {
		wait_for_work(session, session->child.pid_fd >= 0 ? -1 : DRAIN_MS);
		(void)stand_by(session, NULL); /* without an engine nothing can fail */
	}
	session->result->child_running = !child_ended(&session->child);
	session->result->child_status = session->result->child_running
						? 128 + session->last_stop
						: child_exit_status(&session->child);
}

static void session_fini(struct session *session)
{
	leak_watch_end(&session->leaks);
	engine_close(session->engine);
	kernel_addresses_free(session->kernel);
	jit_watch_fini(&session->jit);
	memory_watch_fini(&session->memory);
	flight_close(session->flight);
	recording_writer_free(session->writer);
	if (session->launched)
		child_fini(&session->child);
	target_watch_fini(&session->others);
	remote_close(&session->remote);
	if (session->signal_fd >= 0) {
		(void)close(session->signal_fd);
		(void)sigprocmask(SIG_SETMASK, &session->old_mask, NULL);
	}
}

static void begin_pace(struct session *session)
{
	struct pace_config pace = session->config->pace;

	pace.mode = session->config->sampling.mode;
	pace.machine = session->config->target.kind == TARGET_MACHINE;
	pace.notice = session->config->notice;
	pace.self = session->config->self;
	if (!session->config->is_guest)
		remote_open(&session->remote);
	pace_begin(&session->pace, &pace, session->engine);
}

static int set_up(struct session *session, struct error *err)
{
	int r = take_signals(session, err);

	if (r == 0)
		r = session->config->last_ns > 0 ? open_flight(session, err)
						 : open_output(session, err);
	if (r == 0)
		r = launch(session, err);
	if (r < 0) {
		if (session->created)
			(void)unlink(session->config->output); /* we made it, and it is empty */
		return r;
	}
	empty_output(session);
	target_watch_begin(&session->others, &session->config->target);
	session_info_begin(session->writer, session->config, engine_name(session->engine),
			   session->start_ns);
	put_clocks(session, session->start_ns);
	session->flushed_ns = session->start_ns;
	/* A failure shows at the next flush again, when the program has its due. */
	(void)recording_writer_begin(session->writer, err);
	begin_pace(session);
	session->leaks.config = session->config->leaks;
	leak_watch_begin(&session->leaks,
			 &(struct leak_job){session->engine, session->writer, session->output_fd});
	if (session->config->notice && engine_notice(session->engine)[0])
		session->config->notice(session->config->self, engine_notice(session->engine));
	if (session->config->armed)
		session->config->armed(session->config->self, engine_environment(session->engine));
	return 0;
}

/* Whether what is watched stands still, by a signal or a debugger. */
static bool is_stopped(const struct session *session)
{
	const struct target *target = &session->config->target;
	struct process_info info;
	pid_t pid;

	if (session->launched)
		pid = session->child.pid;
	else if (target->kind == TARGET_PROCESSES && target->count > 0)
		pid = target->ids[0];
	else
		return false;
	return process_info_read(pid, &info, NULL) == 0 && (info.state == 'T' || info.state == 't');
}

int record_run(const struct record_config *config, struct record_result *ret, struct error *err)
{
	struct session session = {
		.config = config, .result = ret, .signal_fd = -1, .remote = {-1, -1, 0}};
	int r;

	*ret = (struct record_result){0};
	r = set_up(&session, err);
	if (r < 0) {
		session_fini(&session);
		return r;
	}
	r = run_loop(&session, err);
	if (r == 0)
		r = finish(&session, err);
	else if (session.flight)
		(void)finish(&session, NULL); /* what came before the failure is worth having */
	let_second_stop_through(&session);
	if (!session.flight)
		ret->file_bytes = recording_writer_bytes(session.writer);
	ret->child_running = session.launched && !child_ended(&session.child);
	ret->killed_by = session.launched ? child_killed_by(&session.child) : 0;
	ret->target_stopped = is_stopped(&session);
	/* What comes now may need memory of its own: that of the recorder goes first. */
	engine_close(session.engine);
	session.engine = NULL;
	recording_writer_free(session.writer);
	session.writer = NULL;
	if (config->finished)
		config->finished(config->self, ret, r < 0 ? err : NULL);
	if (session.launched)
		wait_for_child(&session);
	session_fini(&session);
	return r;
}
