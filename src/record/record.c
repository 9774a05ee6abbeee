/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/record.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "proc/process_info.h"
#include "proc/thread_status.h"
#include "record/flight_recorder.h"
#include "record/job_control.h"
#include "record/own_process.h"
#include "record/recorder.h"
#include "record/remote/remote.h"
#include "record/remote/status.h"
#include "record/write_trailer.h"
#include "recording/writer.h"

#define DRAIN_MS 200
#define DRAIN_HURRIED_MS 20
#define FLUSH_NS NS_PER_SEC
#define CLOCK_PAIR_NS (10 * NS_PER_SEC)
#define LONELY_NS (100 * NS_PER_MS) /* time for a child of an ended process to appear */

static void pass_on(struct recorder *recorder, int number)
{
	if (recorder->launched && !child_ended(&recorder->child))
		(void)kill(recorder->child.pid, number); /* it may have ended */
}

/*
 * Passes the signal to a program that handles it; otherwise it is for us, because it would have
 * killed the program.
 */
static void heed_user_signal(struct recorder *recorder, int number)
{
	if (recorder->launched && thread_catches(recorder->child.pid, number))
		pass_on(recorder, number);
	else if (number == SIGUSR2 && recorder->flight)
		recorder->write_asked = true;
	else
		recorder->pause = number == SIGUSR2 ? 1 : -1;
}

/* Reads pending signals. A signal from the terminal has already reached the program. */
static void read_signals(struct recorder *recorder)
{
	struct signalfd_siginfo info;

	while (read(recorder->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		int number = (int)info.ssi_signo;

		if (job_control_is(number)) {
			recorder->suspend = number;
			continue;
		}
		if (number == recorder->config->leaks.at_signal) {
			leak_watch_ask(&recorder->leaks, LEAK_AT_SIGNAL);
			continue;
		}
		if (number == SIGUSR1 || number == SIGUSR2) {
			heed_user_signal(recorder, number);
			continue;
		}
		if (info.ssi_code <= 0) /* sent by a process */
			pass_on(recorder, number);
		if (recorder_is_stop(number)) {
			recorder->stop_signals++;
			recorder->last_stop = number;
		}
	}
}

/* In the file, or in memory with --last. */
static uint64_t kept_bytes(const struct recorder *recorder)
{
	return recorder->flight ? flight_bytes(recorder->flight, recorder->writer)
				: recording_writer_bytes(recorder->writer);
}

/* Writes the data so far to the file; with --last, soon after the answer. */
static int write_now(struct recorder *recorder, struct error *err)
{
	int r;

	recorder->write_asked = recorder->flight != NULL;
	if (recorder->flight)
		return 0;
	r = engine_drain(recorder->engine, err);
	return r < 0 ? r : recording_writer_flush(recorder->writer, err);
}

/* Reports a failure that does not end the recording. */
static void tell(const struct record_config *config, const struct error *err)
{
	char text[sizeof(err->text) + sizeof(err->remedy) + 16];

	(void)snprintf(text, sizeof(text), "%s\n      %s", err->text, err->remedy);
	config->notice(config->self, text);
}

/* Why the rate cannot be changed, as the engine reported. */
static const struct error *pace_refused(const struct pace *pace, struct error *err)
{
	(void)error_set(err, -EIO, "%s", pace->refusal);
	error_remedy(err, "end the recording instead, with Ctrl-C or kill -INT %d", (int)getpid());
	return err;
}

/* Answers a query or request of another process. */
static void answer(void *self, enum remote_request request, struct bytes *reply)
{
	struct recorder *recorder = self;
	const struct target *target = &recorder->config->target;
	struct recorder_status status = {
		.title = recorder->config->title,
		.pids = recorder->launched ? &recorder->child.pid : target->ids,
		.pid_count = recorder->launched ? 1 : target->count,
		.engine = engine_name(recorder->engine),
		.pace = &recorder->pace,
		.elapsed_ns = clock_monotonic_ns() - recorder->start_ns,
		.output = recorder->config->output,
	};
	struct engine_stats stats;
	struct error err = {0};

	if ((request == REMOTE_PAUSE || request == REMOTE_RESUME) &&
	    pace_ask(&recorder->pace, request == REMOTE_PAUSE, clock_monotonic_ns()) < 0)
		status.error = pace_refused(&recorder->pace, &err);
	if ((request == REMOTE_WRITE && write_now(recorder, &err) < 0) ||
	    (request == REMOTE_SCAN && leak_watch_scan(&recorder->leaks, &err) < 0))
		status.error = &err;
	engine_progress(recorder->engine, &stats);
	status.stats = &stats;
	status.kept_bytes = kept_bytes(recorder);
	status_write(&status, reply);
}

/* Waits until there is something to do. */
static void wait_for_work(struct recorder *recorder, int timeout_ms)
{
	struct pollfd fds[TARGET_WATCH_MAX + REMOTE_FDS + 4];
	const int *stop_fd = recorder->config->stop_fd;
	nfds_t n = 0;

	fds[n++] = (struct pollfd){.fd = recorder->signal_fd, .events = POLLIN};
	fds[n++] = (struct pollfd){.fd = stop_fd ? *stop_fd : -1, .events = POLLIN};
	fds[n++] = (struct pollfd){.fd = recorder->engine ? engine_fd(recorder->engine) : -1,
				   .events = POLLIN};
	fds[n++] = (struct pollfd){.fd = recorder->launched ? recorder->child.pid_fd : -1,
				   .events = POLLIN};
	for (size_t i = 0; i < recorder->others.count; i++)
		fds[n++] = (struct pollfd){.fd = recorder->others.pid_fds[i], .events = POLLIN};
	n += remote_fds(recorder->remote, fds + n);
	if (poll(fds, n, timeout_ms) < 0)
		return;
	if (fds[0].revents & POLLIN)
		read_signals(recorder);
	if (fds[1].revents != 0)
		recorder->stop_signals = 1;
	remote_serve(recorder->remote, clock_monotonic_ns(), answer, recorder);
}

/* Whether all joined processes have ended, and no new one has come for a while. */
static bool members_ended(struct recorder *recorder, uint64_t now_ns)
{
	if (!target_watch_ended(&recorder->others) || engine_has_members(recorder->engine)) {
		recorder->lonely_ns = 0;
		return false;
	}
	if (recorder->lonely_ns == 0)
		recorder->lonely_ns = now_ns;
	return now_ns - recorder->lonely_ns >= LONELY_NS;
}

static bool target_ended(struct recorder *recorder, uint64_t now_ns)
{
	if (recorder->launched)
		return child_ended(&recorder->child);
	return recorder->config->target.joins ? members_ended(recorder, now_ns)
					      : target_watch_ended(&recorder->others);
}

/* When the duration is over, counted from the start of sampling; UINT64_MAX: never. */
static uint64_t end_ns(const struct recorder *recorder)
{
	uint64_t limit_ns = recorder->config->duration_ns;
	uint64_t begin_ns = recorder->start_ns + recorder->config->pace.delay_ns;

	return limit_ns == 0 || limit_ns > UINT64_MAX - begin_ns ? UINT64_MAX : begin_ns + limit_ns;
}

static bool is_over(struct recorder *recorder, uint64_t now_ns)
{
	if (target_ended(recorder, now_ns))
		recorder->result->end = RECORD_TARGET_ENDED;
	else if (recorder->stop_signals > 0)
		recorder->result->end = RECORD_STOPPED;
	else if (now_ns >= end_ns(recorder))
		recorder->result->end = RECORD_TIME_UP;
	else
		return false;
	return true;
}

static int drain(struct recorder *recorder, uint64_t now_ns, struct error *err)
{
	int r = engine_drain(recorder->engine, err);

	recorder->drained_ns = now_ns;
	if (r == 0 && now_ns - recorder->clock_ns >= CLOCK_PAIR_NS)
		recorder_put_clocks(recorder, now_ns);
	if (r == 0 && now_ns - recorder->flushed_ns >= FLUSH_NS) {
		r = recording_writer_flush(recorder->writer, err);
		recorder->flushed_ns = now_ns;
	}
	return r;
}

/* Drains the engine's buffers during other work. */
static int drain_meanwhile(void *self, struct error *err)
{
	struct recorder *recorder = self;
	uint64_t now_ns = clock_monotonic_ns();

	return now_ns - recorder->drained_ns < DRAIN_MS * NS_PER_MS ? 0
								    : drain(recorder, now_ns, err);
}

static int write_last(struct recorder *recorder, uint64_t now_ns, bool is_end, struct error *err)
{
	const struct record_config *config = recorder->config;
	struct flight_moment moment = {
		.writer = recorder->writer,
		.jit = &recorder->jit,
		.engine = engine_name(recorder->engine),
		.result = recorder->result,
		.start_ns = recorder->start_ns,
		.now_ns = now_ns,
		.last = is_end,
		.meanwhile = is_end ? NULL : drain_meanwhile,
		.self = recorder,
	};
	struct flight_written written = {0};
	int r = flight_write(recorder->flight, &moment, &written, err);

	recorder->result->file_bytes = written.file_bytes;
	if (r == 0 && config->wrote)
		config->wrote(config->self, &written);
	return r;
}

/* Drops old data, and writes the rest if requested. */
static int look_at_flight(struct recorder *recorder, uint64_t now_ns, struct error *err)
{
	const struct record_config *config = recorder->config;
	struct error why = {0};
	int r;

	if (!recorder->flight)
		return 0;
	engine_progress(recorder->engine, &recorder->result->stats);
	r = flight_look(recorder->flight, recorder->writer, &recorder->result->stats, now_ns, err);
	if (r < 0 || !recorder->write_asked)
		return r;
	recorder->write_asked = false;
	own_process_usage(&recorder->result->own_cpu_ns, &recorder->result->own_rss_bytes);
	/* Writing can be retried: a failure is no reason to lose the data in memory. */
	if (write_last(recorder, now_ns, false, &why) < 0 && config->notice)
		tell(config, &why);
	return 0;
}

/* The latest time for the next turn: buffers fill, and a time limit or delay may end. */
static uint64_t next_look_ns(const struct recorder *recorder, uint64_t now_ns)
{
	uint64_t pace_ns = pace_next_ns(&recorder->pace);
	uint64_t next_ns =
		now_ns + (recorder->pace.hurried ? DRAIN_HURRIED_MS : DRAIN_MS) * NS_PER_MS;

	if (recorder->config->sampling.heap.on && recorder->memory.next_ns < next_ns)
		next_ns = recorder->memory.next_ns;
	if (pace_ns < next_ns)
		next_ns = pace_ns;
	if (end_ns(recorder) < next_ns)
		next_ns = end_ns(recorder);
	if (leak_watch_next_ns(&recorder->leaks) < next_ns)
		next_ns = leak_watch_next_ns(&recorder->leaks);
	if (recorder->lonely_ns != 0 && recorder->lonely_ns + LONELY_NS < next_ns)
		next_ns = recorder->lonely_ns + LONELY_NS;
	return next_ns > now_ns ? next_ns : now_ns;
}

/* Pauses or resumes if a signal asked for it. */
static void heed_pause(struct recorder *recorder, uint64_t now_ns)
{
	if (recorder->pause)
		(void)pace_ask(&recorder->pace, recorder->pause > 0,
			       now_ns); /* the failure is reported */
	recorder->pause = 0;
}

/* Suspends this program if requested; the target continues meanwhile. */
static int stand_by(struct recorder *recorder, struct error *err)
{
	int number = recorder->suspend;
	int r = 0;

	recorder->suspend = 0;
	if (number == 0)
		return 0;
	if (recorder->engine)
		r = engine_suspend(recorder->engine, err);
	if (r < 0)
		return r;
	job_control_stop(number);
	return recorder->engine ? engine_resume(recorder->engine, err) : 0;
}

static void show_progress(struct recorder *recorder, uint64_t now_ns)
{
	const struct record_config *config = recorder->config;
	struct engine_stats stats;

	if (!config->progress)
		return;
	engine_progress(recorder->engine, &stats);
	config->progress(config->self, now_ns - recorder->start_ns, &stats, kept_bytes(recorder));
}

static int run_loop(struct recorder *recorder, struct error *err)
{
	uint64_t now_ns = clock_monotonic_ns();
	int r = 0;

	while (r == 0 && !is_over(recorder, now_ns)) {
		uint64_t next_ns = next_look_ns(recorder, now_ns);
		uint64_t late_ns;

		wait_for_work(recorder, (int)((next_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS));
		r = stand_by(recorder, err);
		now_ns = clock_monotonic_ns();
		late_ns = now_ns > next_ns ? now_ns - next_ns : 0;
		if (r == 0)
			r = drain(recorder, now_ns, err);
		if (r < 0)
			break;
		leak_watch_look(&recorder->leaks, now_ns);
		heed_pause(recorder, now_ns);
		pace_look(&recorder->pace, now_ns, late_ns);
		r = look_at_flight(recorder, now_ns, err);
		jit_watch_look(&recorder->jit, recording_writer_dictionary(recorder->writer),
			       now_ns);
		if (recorder->config->sampling.heap.on)
			memory_watch_look(&recorder->memory, recorder->writer, now_ns);
		show_progress(recorder, now_ns);
	}
	return r;
}

/* Stops sampling and writes what makes the file complete. */
static int finish(struct recorder *recorder, struct error *err)
{
	struct record_result *result = recorder->result;
	uint64_t over_ns = clock_monotonic_ns();
	int r;

	/* For a program that continues without us, this is the last chance for a scan. */
	if (result->end != RECORD_TARGET_ENDED && leak_watch_scan(&recorder->leaks, NULL) < 0 &&
	    recorder->leaks.why.code < 0)
		result->leak_failures++; /* the failure is reported */
	leak_watch_finish(&recorder->leaks);
	result->leak_failures += recorder->leaks.failures;
	r = engine_stop(recorder->engine, err);
	result->leak_scans = recorder->leaks.scans;
	result->leaks = recorder->leaks.last;

	result->duration_ns = over_ns - recorder->start_ns;
	pace_end(&recorder->pace, over_ns);
	result->paused_ns = recorder->pace.paused_ns;
	result->lowest_hz = recorder->pace.lowered > 0 ? recorder->pace.lowest_hz : 0;
	result->rate_failures = recorder->pace.failures;
	engine_stats(recorder->engine, &result->stats);
	own_process_usage(&result->own_cpu_ns, &result->own_rss_bytes);
	if (r < 0 && recorder->flight)
		(void)write_last(recorder, over_ns, true, NULL); /* the first failure is reported */
	if (r < 0)
		return r;
	r = recorder->flight ? write_last(recorder, over_ns, true, err)
			     : write_trailer(recorder->writer, recorder->config, result,
					     &recorder->jit, over_ns, err);
	own_process_usage(&result->own_cpu_ns, &result->own_rss_bytes);
	return r;
}

/*
 * The file is finished. The summary may take a while, and from now on a stop signal kills this
 * program like any other. Signals that arrived earlier were meant for the recording: timeout(1),
 * for example, sends its signal twice.
 */
static void let_second_stop_through(struct recorder *recorder)
{
	read_signals(recorder);
	if (recorder->stop_signals > 0)
		(void)sigprocmask(SIG_SETMASK, &recorder->old_mask, NULL); /* cannot fail */
}

/* The program continues: we exit with its status, unless a signal asks us to leave. */
static void wait_for_child(struct recorder *recorder)
{
	int stops = recorder->stop_signals;

	(void)sigprocmask(SIG_BLOCK, &recorder->taken, NULL); /* they are read from a descriptor */
	while (!child_ended(&recorder->child) && recorder->stop_signals < stops + 1) {
		wait_for_work(recorder, recorder->child.pid_fd >= 0 ? -1 : DRAIN_MS);
		(void)stand_by(recorder, NULL); /* without an engine nothing can fail */
	}
	recorder->result->child_running = !child_ended(&recorder->child);
	recorder->result->child_status = recorder->result->child_running
						 ? 128 + recorder->last_stop
						 : child_exit_status(&recorder->child);
}

/* Whether the target is stopped, by a signal or a debugger. */
static bool is_stopped(const struct recorder *recorder)
{
	const struct target *target = &recorder->config->target;
	struct process_info info;
	pid_t pid;

	if (recorder->launched)
		pid = recorder->child.pid;
	else if (target->kind == TARGET_PROCESSES && target->count > 0)
		pid = target->ids[0];
	else
		return false;
	return process_info_read(pid, &info, NULL) == 0 && (info.state == 'T' || info.state == 't');
}

/* Collects the results after the loop, before the parts are closed. */
static void look_back(struct recorder *recorder)
{
	struct record_result *result = recorder->result;

	if (!recorder->flight)
		result->file_bytes = recording_writer_bytes(recorder->writer);
	result->child_running = recorder->launched && !child_ended(&recorder->child);
	result->killed_by = recorder->launched ? child_killed_by(&recorder->child) : 0;
	result->target_stopped = is_stopped(recorder);
}

/*
 * Reports a failed write instead of what followed from it: an engine that cannot deliver its
 * samples does not know the name of the file, and the writer does not know the option that chose
 * it.
 */
static void explain_failure(const struct recorder *recorder, struct error *err)
{
	int code = recording_writer_check(recorder->writer, err);

	if ((code == -ENOSPC || code == -EDQUOT) && !recorder->config->is_guest)
		error_remedy(err, "free some space, or choose another place with -o FILE");
}

int record_run(const struct record_config *config, struct record_result *ret, struct error *err)
{
	struct recorder recorder;
	int r;

	*ret = (struct record_result){0};
	r = recorder_open(&recorder, config, ret, err);
	if (r < 0)
		return r;
	r = run_loop(&recorder, err);
	if (r == 0)
		r = finish(&recorder, err);
	else if (recorder.flight)
		(void)finish(&recorder,
			     NULL); /* the data from before the failure is worth keeping */
	if (r < 0)
		explain_failure(&recorder, err);
	let_second_stop_through(&recorder);
	look_back(&recorder);
	/* The callback may need memory: free that of the recording first. */
	recorder_end(&recorder, RECORDER_END_RECORDING);
	if (config->finished)
		config->finished(config->self, ret, r < 0 ? err : NULL);
	if (recorder.launched)
		wait_for_child(&recorder);
	recorder_end(&recorder, RECORDER_END_ALL);
	return r;
}
