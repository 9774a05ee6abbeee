/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/scope.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "load/names/function_place.h"
#include "load/names/kernel_addresses.h"
#include "model/entity.h"
#include "record/flight_recorder.h"
#include "record/job_control.h"
#include "record/own_process.h"
#include "record/record.h"
#include "record/remote/remote.h"
#include "record/session_info.h"
#include "recording/writer.h"

#define DYING_MS 5000 /* a large process takes this long to end */

static const int stop_list[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int pause_list[] = {SIGUSR1, SIGUSR2};

/*
 * Signals that were ignored at our start (nohup, a background job) would be delivered if they were
 * blocked.
 */
static bool is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static int take_signals(struct recorder *recorder, struct error *err)
{
	size_t i;

	(void)sigemptyset(&recorder->taken);
	if (recorder->config->is_guest) {
		(void)sigprocmask(SIG_BLOCK, NULL, &recorder->old_mask); /* only asks */
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(stop_list); i++)
		if (!is_ignored(stop_list[i]))
			(void)sigaddset(&recorder->taken, stop_list[i]);
	for (i = 0; i < ARRAY_SIZE(pause_list); i++)
		(void)sigaddset(&recorder->taken, pause_list[i]);
	if (recorder->config->leaks.at_signal > 0)
		(void)sigaddset(&recorder->taken, recorder->config->leaks.at_signal);
	job_control_add(&recorder->taken);
	if (sigprocmask(SIG_BLOCK, &recorder->taken, &recorder->old_mask) < 0)
		return error_errno(err, -errno, "cannot block signals");
	recorder->mask_changed = true;
	recorder->signal_fd = signalfd(-1, &recorder->taken, SFD_CLOEXEC | SFD_NONBLOCK);
	if (recorder->signal_fd < 0)
		return error_errno(err, -errno, "cannot watch signals");
	return 0;
}

static bool to_stdout(const struct recorder *recorder)
{
	return outfile_is_stdout(recorder->config->output);
}

static int open_output(struct recorder *recorder, struct error *err)
{
	const int *given = recorder->config->output_fd;
	int fd;
	int r;

	if (to_stdout(recorder) && isatty(STDOUT_FILENO)) {
		(void)error_set(err, -EINVAL, "cannot write a recording to a terminal");
		error_remedy(err, "pipe it somewhere, or name a file with -o FILE");
		return -EINVAL;
	}
	if (given)
		fd = fcntl(*given, F_DUPFD_CLOEXEC, 3);
	else
		fd = outfile_open(recorder->config->output, "-o FILE", &recorder->created, err);
	if (fd < 0)
		return given ? error_file(err, -errno, "cannot write %s", recorder->config->output)
			     : fd;
	r = given || to_stdout(recorder)
		    ? 0
		    : outfile_claim(fd, recorder->config->output, "-o FILE", err);
	if (r == 0)
		r = recording_writer_open(fd, recorder->config->output, &recorder->writer, err);
	if (r < 0)
		(void)close(fd); /* nothing was written */
	else
		recorder->output_fd = fd;
	return r;
}

/* The recording stays in memory; the output is written later. */
static int open_flight(struct recorder *recorder, struct error *err)
{
	int r = flight_open(recorder->config, &recorder->flight, err);
	int fd;

	if (r < 0)
		return r;
	fd = flight_take_fd(recorder->flight, err);
	if (fd < 0)
		return fd;
	r = recording_writer_open(fd, "the last seconds to memory", &recorder->writer, err);
	if (r < 0)
		(void)close(fd); /* nothing was written */
	else
		recorder->output_fd = fd;
	return r;
}

/* Splits "KEY=VALUE" of each label; the texts were checked when options were read. */
static int set_labels(struct recorder *recorder, struct error *err)
{
	const struct record_config *config = recorder->config;
	char *texts[LABELS_MAX] = {NULL};
	struct label labels[LABELS_MAX] = {{0}};
	size_t count = config->label_count;
	size_t i;
	int r = 0;

	if (count > LABELS_MAX) {
		(void)error_set(err, -E2BIG, "a recording can have at most %d labels", LABELS_MAX);
		error_remedy(err, "use fewer --label options");
		return -E2BIG;
	}
	for (i = 0; i < count && r == 0; i++) {
		char *separator;

		texts[i] = strdup(config->labels[i]);
		separator = texts[i] ? strchr(texts[i], '=') : NULL;
		if (separator)
			*separator = '\0';
		else
			r = -ENOMEM;
		labels[i] = (struct label){texts[i], separator ? separator + 1 : ""};
	}
	if (r == 0)
		r = recording_writer_set_labels(recorder->writer, labels, count);
	for (i = 0; i < count; i++)
		free(texts[i]);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

/* Recording starts now: truncate the old content of the file. */
static void empty_output(struct recorder *recorder)
{
	if (to_stdout(recorder))
		return; /* others may have written to it before us */
	if (ftruncate(recorder->output_fd, 0) < 0)
		errno = 0; /* a pipe or device: nothing to cut */
}

static int fork_program(struct recorder *recorder, char *const *environment, struct error *err)
{
	struct launch_plan plan = {
		.argv = recorder->config->command,
		.environment = environment,
		.mask = &recorder->old_mask,
		/* The output of the program would end up in the recording. */
		.stdout_fd = to_stdout(recorder) ? STDERR_FILENO : -1,
	};
	int r = child_fork(&recorder->child, &plan, err);

	recorder->launched = recorder->result->has_child = r == 0;
	return r;
}

static int open_engine(struct recorder *recorder, const struct target *target, struct error *err)
{
	const struct record_config *config = recorder->config;
	struct engine_config sampling = config->sampling;

	sampling.function_offset = function_place_find;
	sampling.away_budget = config->pace.budget;
	sampling.paused = pace_begins_paused(&config->pace);
	recorder->kernel = kernel_addresses_new(); /* without it some stacks lack frames */
	if (recorder->kernel) {
		sampling.kernel_address = kernel_addresses_find;
		sampling.kernel_self = recorder->kernel;
	}
	return engine_open(config->engine, &sampling, target,
			   recording_writer_sink(recorder->writer), &recorder->engine, err);
}

/* Forks the program and opens the engine on it, in the order that the engine needs. */
static int arm(struct recorder *recorder, struct target *target, struct error *err)
{
	const struct record_config *config = recorder->config;
	bool engine_first = config->engine->environment != NULL;
	int r = 0;

	if (config->command)
		target->program = config->command[0];
	if (engine_first)
		r = open_engine(recorder, target, err);
	if (r == 0 && config->command)
		r = fork_program(recorder,
				 engine_first ? engine_environment(recorder->engine) : NULL, err);
	if (r < 0)
		return r;
	if (!config->is_guest)
		own_process_raise_limits(); /* after the fork: the program keeps its own limits */
	if (target->kind == TARGET_COMMAND) {
		target->ids = &recorder->child.pid;
		target->count = 1;
	}
	if (!engine_first)
		return open_engine(recorder, target, err);
	engine_launched(recorder->engine, target->ids[0]);
	return 0;
}

/* Starts the program when everything is ready. */
static int launch(struct recorder *recorder, struct error *err)
{
	const struct record_config *config = recorder->config;
	struct target target = config->target;
	int r = arm(recorder, &target, err);

	if (r < 0)
		return r;
	recorder->start_ns = clock_monotonic_ns();
	if (target.kind != TARGET_COMMAND) {
		r = engine_start(recorder->engine, err);
		if (r < 0)
			return r;
	}
	if (config->command) {
		r = child_release(&recorder->child, config->command[0], err);
		recorder->result->exec_code = r;
	}
	return r;
}

static void begin_pace(struct recorder *recorder)
{
	struct pace_config pace = recorder->config->pace;

	pace.mode = recorder->config->sampling.mode;
	pace.machine = recorder->config->target.kind == TARGET_MACHINE;
	pace.group = recorder->config->target.kind == TARGET_CGROUP;
	pace.notice = recorder->config->notice;
	pace.self = recorder->config->self;
	pace_begin(&recorder->pace, &pace, recorder->engine);
}

/* The target runs: what was prepared becomes a recording. */
static void begin_recording(struct recorder *recorder, struct error *err)
{
	const struct record_config *config = recorder->config;

	empty_output(recorder);
	target_watch_begin(&recorder->others, &config->target);
	session_info_begin(recorder->writer, config, engine_name(recorder->engine),
			   recorder->start_ns);
	recorder_put_clocks(recorder, recorder->start_ns);
	recorder->flushed_ns = recorder->start_ns;
	/* A failure shows again at the next flush, after the program has been started. */
	(void)recording_writer_begin(recorder->writer, err);
	begin_pace(recorder);
	recorder->leaks.config = config->leaks;
	leak_watch_begin(&recorder->leaks, &(struct leak_job){recorder->engine, recorder->writer,
							      recorder->output_fd});
	if (!config->is_guest)
		recorder->remote = remote_open();
	if (config->notice && engine_notice(recorder->engine)[0])
		config->notice(config->self, engine_notice(recorder->engine));
	if (config->armed)
		config->armed(config->self, engine_environment(recorder->engine));
}

/* Whether it ended before it started. For engines, a killed process is gone before it has ended. */
static bool ended_early(struct recorder *recorder, int code)
{
	if (!recorder->launched || recorder->child.released)
		return false;
	for (int i = 0; i < DYING_MS && code == -ESRCH && !child_ended(&recorder->child); i++)
		(void)nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
	return child_ended(&recorder->child);
}

/* A program may be killed while it waits to start: then this is the failure to report. */
static int explain_early_end(struct recorder *recorder, int r, struct error *err)
{
	struct record_result *result = recorder->result;

	if (!ended_early(recorder, r))
		return r;
	result->killed_by = child_killed_by(&recorder->child);
	result->child_status = child_exit_status(&recorder->child);
	result->killed_early = true;
	(void)error_set(err, -ECANCELED, "%s was killed by signal %d (%s) before it started",
			recorder->config->command[0], result->killed_by,
			strsignal(result->killed_by));
	error_remedy(err, "start it again; nothing was recorded");
	return -ECANCELED;
}

int recorder_open(struct recorder *recorder, const struct record_config *config,
		  struct record_result *result, struct error *err)
{
	int r;

	*recorder = (struct recorder){
		.config = config, .result = result, .signal_fd = -1, .output_fd = -1};
	/* Before signals are blocked: opening a FIFO waits until it has a reader, or for Ctrl-C. */
	r = config->last_ns > 0 ? open_flight(recorder, err) : open_output(recorder, err);
	if (r == 0)
		r = set_labels(recorder, err);
	if (r == 0)
		r = take_signals(recorder, err);
	if (r == 0)
		r = launch(recorder, err);
	if (r == 0) {
		begin_recording(recorder, err);
		return 0;
	}
	r = explain_early_end(recorder, r, err);
	if (recorder->created)
		(void)unlink(config->output); /* we created it, and it is empty */
	recorder_end(recorder, RECORDER_END_ALL);
	return r;
}

bool recorder_is_stop(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(stop_list); i++)
		if (number == stop_list[i])
			return true;
	return false;
}

void recorder_put_clocks(struct recorder *recorder, uint64_t now_ns)
{
	recorder->clock_ns = now_ns;
	recording_writer_clock(recorder->writer, clock_monotonic_ns(), clock_realtime_ns());
}

void recorder_end(struct recorder *recorder, enum recorder_end until)
{
	remote_close(recorder->remote);
	recorder->remote = NULL;
	leak_watch_end(&recorder->leaks);
	engine_close(recorder->engine);
	recorder->engine = NULL;
	kernel_addresses_free(recorder->kernel);
	recorder->kernel = NULL;
	jit_watch_fini(&recorder->jit);
	memory_watch_fini(&recorder->memory);
	flight_close(recorder->flight);
	recorder->flight = NULL;
	recording_writer_free(recorder->writer);
	recorder->writer = NULL;
	if (until == RECORDER_END_RECORDING)
		return;
	if (recorder->launched) {
		child_fini(&recorder->child);
		engine_tidy(recorder->config->engine);
	}
	recorder->launched = false;
	target_watch_fini(&recorder->others);
	scope_release_fd(&recorder->signal_fd);
	recorder->signal_fd = -1;
	if (recorder->mask_changed)
		(void)sigprocmask(SIG_SETMASK, &recorder->old_mask, NULL); /* cannot fail */
	recorder->mask_changed = false;
}
