/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/capture.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/run_command.h"
#include "base/scope.h"

#define OWN_PROGRAM "/proc/self/exe"
#define PID_DIGITS 11u
#define ARGUMENTS_MAX 24
/* For starting, stopping and looking up names on a busy host. */
#define SLACK_NS (60 * NS_PER_SEC)
#define MAX_BYTES (64u << 20)

struct arguments {
	const char *items[ARGUMENTS_MAX];
	size_t count;
	char pids[CAPTURE_PIDS_MAX * PID_DIGITS + 1];
	char seconds[24];
	char rate[24];
	char overhead[32];
	char breaker[32];
	char sample[32];
	char path[64]; /* of the recording, in memory */
};

/* There is always room: the lists below are short. */
static void add(struct arguments *arguments, const char *name, const char *value)
{
	arguments->items[arguments->count++] = name;
	if (value)
		arguments->items[arguments->count++] = value;
}

static void put_pids(struct arguments *arguments, const struct capture *capture)
{
	size_t used = 0;

	for (size_t i = 0; i < capture->pid_count && i < CAPTURE_PIDS_MAX; i++)
		used += (size_t)snprintf(arguments->pids + used, sizeof(arguments->pids) - used,
					 "%s%d", i > 0 ? "," : "", (int)capture->pids[i]);
}

static const char *program_of(const struct capture *capture)
{
	return capture->kind == CAPTURE_HEAP ? "heap" : "record";
}

static void set_record(struct arguments *arguments, const struct capture *capture)
{
	/* Each fits. */
	(void)snprintf(arguments->seconds, sizeof(arguments->seconds), "%" PRIu32 "s",
		       capture->seconds);
	(void)snprintf(arguments->rate, sizeof(arguments->rate), "%" PRIu32, capture->rate_hz);
	(void)snprintf(arguments->overhead, sizeof(arguments->overhead), "%.3f", capture->overhead);
	(void)snprintf(arguments->sample, sizeof(arguments->sample), "%" PRIu64,
		       capture->sample_bytes);
	put_pids(arguments, capture);
	(void)snprintf(arguments->breaker, sizeof(arguments->breaker), "%.3f", capture->breaker);
	add(arguments, OWN_PROGRAM, program_of(capture));
	if (capture->pid_count > 0)
		add(arguments, "-p", arguments->pids);
	else
		add(arguments, "-a", NULL);
	add(arguments, "-d", arguments->seconds);
	add(arguments, "-o", arguments->path);
	if (capture->kind == CAPTURE_HEAP) {
		add(arguments, "--sample", arguments->sample);
		return;
	}
	if (capture->kind == CAPTURE_OFFCPU)
		add(arguments, "--mode", "offcpu");
	else
		add(arguments, "-F", arguments->rate);
	add(arguments, "--overhead", capture->overhead > 0 ? arguments->overhead : "off");
	add(arguments, "--breaker", capture->breaker > 0 ? arguments->breaker : "off");
}

/* Why nothing was recorded. */
static int explain(const struct capture *capture, int status, struct error *err)
{
	for (size_t i = 0; i < capture->pid_count; i++)
		if (kill(capture->pids[i], 0) < 0 && errno == ESRCH) {
			(void)error_set(err, -ESRCH, "process %d has ended", (int)capture->pids[i]);
			error_remedy(err, "ask for the processes that run now");
			return -ESRCH;
		}
	if (status == -ETIMEDOUT)
		(void)error_set(err, -EIO, "wick %s took too long and was ended",
				program_of(capture));
	else
		(void)error_set(err, -EIO, "wick %s failed with status %d", program_of(capture),
				status);
	error_remedy(err, "to see why, run on the host: wick %s -p PID -d 5", program_of(capture));
	return -EIO;
}

static int tell_end(const char *program, struct error *err)
{
	(void)error_set(err, -ECANCELED, "wick %s was stopped because the agent is stopping",
			program);
	error_remedy(err, "ask again when the agent is running again");
	return -ECANCELED;
}

static int convert(const struct arguments *arguments, const atomic_bool *stop, struct bytes *out,
		   struct error *err)
{
	const char *const items[] = {
		OWN_PROGRAM, "export", arguments->path, "--format", "pprof", "-o", "-", NULL};
	int r = run_command_until(items, SLACK_NS, MAX_BYTES, stop, out);

	if (r == 0)
		return 0;
	if (atomic_load(stop))
		return tell_end("export", err);
	(void)error_set(err, -EIO, "the recording cannot be converted: status %d", r);
	error_remedy(err, "to see why, run on the host: wick export --format pprof FILE");
	return -EIO;
}

int capture_run(const struct capture *capture, const atomic_bool *stop, struct bytes *out,
		struct error *err)
{
	SCOPED(fd) int fd = memfd_create("wick-capture", MFD_CLOEXEC);
	struct arguments arguments = {0};
	struct bytes ignored = {0};
	int r;

	if (fd < 0)
		return error_errno(err, -errno, "cannot keep a recording in memory");
	(void)snprintf(arguments.path, sizeof(arguments.path), "/proc/%d/fd/%d", (int)getpid(),
		       fd); /* it fits */
	set_record(&arguments, capture);
	r = run_command_until(arguments.items, capture->seconds * NS_PER_SEC + SLACK_NS, MAX_BYTES,
			      stop, &ignored);
	bytes_fini(&ignored);
	if (atomic_load(stop))
		return tell_end(program_of(capture), err);
	return r != 0 ? explain(capture, r, err) : convert(&arguments, stop, out, err);
}
