/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <wick/profile.h>

#include "base/error.h"
#include "base/scope.h"
#include "engine/engine.h"
#include "libwick/profile_handle.h"
#include "libwick/public_error.h"
#include "libwick/reload_samples.h"
#include "libwick/sized_struct.h"
#include "load/pipe_copy.h"
#include "proc/process_info.h"
#include "record/record.h"

_Static_assert((int)WICK_RECORD_CPU == (int)ENGINE_MODE_CPU &&
		       (int)WICK_RECORD_WALL == (int)ENGINE_MODE_WALL &&
		       (int)WICK_RECORD_OFFCPU == (int)ENGINE_MODE_OFFCPU,
	       "public and internal modes must match");

#define LEAST_HZ 10
#define MOST_HZ 10000

/* The request, checked. */
struct job {
	struct wick_record_options options;
	struct load_request load;
	struct record_config config;
	pid_t pid;
	char title[64];
};

static int check(const struct job *job, struct error *err)
{
	const struct wick_record_options *options = &job->options;

	if (job->pid <= 0)
		return refuse_pid(job->pid, err);
	if (options->frequency_hz > 0 &&
	    (options->frequency_hz < LEAST_HZ || options->frequency_hz > MOST_HZ))
		return error_advise(err,
				    error_set(err, -ERANGE,
					      "sampling frequency %u Hz is out of range",
					      options->frequency_hz),
				    "use %d to %d Hz, or 0 for the default", LEAST_HZ, MOST_HZ);
	if (options->mode > WICK_RECORD_OFFCPU)
		return error_advise(err, error_set(err, -EINVAL, "unknown mode %u", options->mode),
				    "use a value of enum wick_record_mode");
	if (options->stop_fd && fcntl(*options->stop_fd, F_GETFD) < 0)
		return error_advise(
			err,
			error_set(err, -EBADF, "stop_fd points to descriptor %d, which is not open",
				  *options->stop_fd),
			"pass a readable descriptor, such as the read end of a pipe, or NULL");
	if (options->started_fd && fcntl(*options->started_fd, F_GETFD) < 0)
		return error_advise(
			err,
			error_set(err, -EBADF,
				  "started_fd points to descriptor %d, which is not open",
				  *options->started_fd),
			"pass a writable descriptor: an eventfd, the write end of a pipe, or NULL");
	return 0;
}

/* Eight bytes are what an eventfd takes. If nobody reads them, that is the caller's affair. */
static void tell_started(void *self, char *const *environment)
{
	const struct job *job = self;
	const uint64_t one = 1;

	(void)environment;
	if (write(*job->options.started_fd, &one, sizeof(one)) < 0)
		return;
}

static int configure(struct job *job, struct error *err)
{
	const struct wick_record_options *options = &job->options;
	struct process_info info = {.comm = "process"};
	struct target target = {.kind = TARGET_PROCESSES,
				.ids = &job->pid,
				.count = 1,
				.children = !options->no_children};

	/* For a process that does not exist, the engine sets the message. */
	(void)process_info_read(job->pid, &info, NULL);
	(void)snprintf(job->title, sizeof(job->title), "%s (process %d)", info.comm, (int)job->pid);
	job->config = (struct record_config){
		.engine = engine_find(options->engine ? options->engine : "auto", &target, err),
		.sampling = {.mode = (enum engine_mode)options->mode,
			     .may_fall_back = !options->engine,
			     .event = "cpu-clock",
			     .frequency_hz =
				     options->frequency_hz > 0 ? options->frequency_hz : 997,
			     .rate_given = options->frequency_hz > 0,
			     .depth = 512,
			     .stack_bytes = ENGINE_STACK_BYTES & ~7u,
			     .kernel = true},
		.target = target,
		.output = options->recording,
		.duration_ns = options->duration_ns,
		.title = job->title,
		/* Other work of the calling program is not a cost of sampling: no budget. */
		.is_guest = true,
		.stop_fd = options->stop_fd,
		.armed = options->started_fd ? tell_started : NULL,
		.self = job,
	};
	return job->config.engine ? 0 : err->code;
}

/* Records into an unnamed file, and loads it. */
static int record_unkept(struct job *job, struct profile **ret, struct error *err)
{
	struct record_result result;
	SCOPED(fd) int fd = pipe_copy_open(err);
	int r;

	if (fd < 0)
		return fd;
	job->config.output = "memory";
	job->config.output_fd = &fd;
	r = record_run(&job->config, &result, err);
	if (r < 0)
		return r;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_file(err, -errno, "cannot read a temporary file");
	job->load.options.order = true; /* it cannot be read again, see reload_samples.h */
	return load_profile_fd(scope_take_fd(&fd), job->title, &job->load.options, ret, err);
}

static int record_kept(struct job *job, struct profile **ret, struct error *err)
{
	struct record_result result;
	int r = record_run(&job->config, &result, err);

	if (r < 0 || !ret)
		return r;
	return load_profile(job->config.output, &job->load.options, ret, err);
}

int wick_profile_process(pid_t pid, const struct wick_record_options *options,
			 struct wick_profile **ret, struct wick_error *err)
{
	struct job job = {.pid = pid};
	struct profile *profile = NULL;
	struct error inner = {0};
	int r = sized_take(&job.options, sizeof(job.options), options, "wick_record_options",
			   &inner);

	if (r == 0)
		r = check(&job, &inner);
	if (r == 0 && !ret && !job.options.recording)
		r = error_advise(&inner,
				 error_set(&inner, -EINVAL,
					   "wick_profile_process() was asked for neither a profile "
					   "nor a recording"),
				 "pass a pointer for the profile, or name a recording file");
	if (r == 0)
		r = load_request_init(&job.load, job.options.load, &inner);
	if (r == 0)
		r = configure(&job, &inner);
	if (r == 0)
		r = job.options.recording ? record_kept(&job, ret ? &profile : NULL, &inner)
					  : record_unkept(&job, &profile, &inner);
	if (r == 0 && ret)
		r = wick_profile_wrap(profile, ret, &inner);
	if (r == 0 && ret && job.options.recording)
		(*ret)->reload = reload_new(job.options.recording, job.options.load);
	return r < 0 ? public_error(&inner, err) : 0;
}
