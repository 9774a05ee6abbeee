/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/event.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "base/scope.h"
#include "proc/own_program.h"

#define SOFTWARE(name, text, config)                                                               \
	{                                                                                          \
		name, text, name, "count", PERF_TYPE_SOFTWARE, config, false, 1                    \
	}
#define HARDWARE(name, text, config)                                                               \
	{                                                                                          \
		name, text, name, "count", PERF_TYPE_HARDWARE, config, false, 0                    \
	}

const struct event_kind event_kinds[] = {
	{"cpu-clock", "CPU time, by a timer on each CPU", "cpu", "nanoseconds", PERF_TYPE_SOFTWARE,
	 PERF_COUNT_SW_CPU_CLOCK, true, 0},
	{"task-clock", "CPU time, by a timer for each thread", "cpu", "nanoseconds",
	 PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, true, 0},
	SOFTWARE("page-faults", "accesses to pages that were not mapped yet",
		 PERF_COUNT_SW_PAGE_FAULTS),
	SOFTWARE("minor-faults", "page faults that read nothing from storage",
		 PERF_COUNT_SW_PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", "page faults that read from storage",
		 PERF_COUNT_SW_PAGE_FAULTS_MAJ),
	SOFTWARE("context-switches", "how often a thread left its CPU",
		 PERF_COUNT_SW_CONTEXT_SWITCHES),
	SOFTWARE("cpu-migrations", "how often a thread moved to another CPU",
		 PERF_COUNT_SW_CPU_MIGRATIONS),
	HARDWARE("cycles", "CPU cycles (needs a hardware PMU)", PERF_COUNT_HW_CPU_CYCLES),
	HARDWARE("instructions", "instructions (needs a hardware PMU)", PERF_COUNT_HW_INSTRUCTIONS),
	HARDWARE("cache-references", "cache accesses (needs a hardware PMU)",
		 PERF_COUNT_HW_CACHE_REFERENCES),
	HARDWARE("cache-misses", "cache misses (needs a hardware PMU)", PERF_COUNT_HW_CACHE_MISSES),
	HARDWARE("branches", "branches (needs a hardware PMU)", PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", "mispredicted branches (needs a hardware PMU)",
		 PERF_COUNT_HW_BRANCH_MISSES),
	HARDWARE("stalled-cycles-frontend",
		 "cycles that waited for instructions (needs a hardware PMU)",
		 PERF_COUNT_HW_STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend",
		 "cycles that waited for memory or execution units (needs a hardware PMU)",
		 PERF_COUNT_HW_STALLED_CYCLES_BACKEND),
	{0},
};

const struct event_kind event_off_cpu = {
	.name = "off-cpu",
	.value = "off-cpu",
	.unit = "nanoseconds",
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_DUMMY,
	.dummy = true,
};

const struct event_kind event_heap = {
	.name = "heap",
	.value = "heap",
	.unit = "bytes",
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_DUMMY,
	.dummy = true,
};

const struct event_kind event_wall = {
	.name = "wall",
	.value = "wall",
	.unit = "nanoseconds",
	.type = PERF_TYPE_SOFTWARE,
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.clock = true,
};

const struct event_kind *event_find(const char *name, struct error *err)
{
	const struct event_kind *kind;

	for (kind = event_kinds; kind->name; kind++)
		if (strcmp(kind->name, name) == 0)
			return kind;
	(void)error_set(err, -EINVAL, "there is no event called %s", name);
	error_remedy(err, "see: wick list events");
	return NULL;
}

int64_t event_setting(const char *name, int64_t fallback)
{
	char path[96];
	char text[32] = "";
	ssize_t n;
	long long value;

	(void)snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0 || sscanf(text, "%lld", &value) != 1)
		return fallback;
	return value;
}

void event_grant_init(struct event_grant *grant, const struct event_request *request)
{
	struct perf_event_attr *attr = &grant->attr;
	int64_t max_stack = event_setting("perf_event_max_stack", 127);

	*grant = (struct event_grant){.name = request->kind->name, .kernel = true};
	grant->kernel_frames_hidden = !request->kernel;
	grant->depth = request->depth < max_stack ? request->depth : (uint32_t)max_stack;
	attr->size = sizeof(*attr);
	attr->type = request->kind->type;
	attr->config = request->kind->config;
	attr->config1 = request->kind->config1;
	attr->config2 = request->kind->config2;
	attr->sample_type =
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN;
	if (request->kind->dummy) {
		attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	} else if (request->kind->clock) {
		/*
		 * A fixed period in nanoseconds instead of a frequency: the kernel
		 * then has nothing to adjust, and the weight of a sample is known.
		 */
		attr->sample_period =
			request->period ? request->period : NS_PER_SEC / request->frequency_hz;
	} else {
		attr->sample_type |= PERF_SAMPLE_PERIOD;
		attr->freq = request->period == 0 &&
			     (request->rate_given || request->kind->default_period == 0);
		if (attr->freq)
			attr->sample_freq = request->frequency_hz;
		else
			attr->sample_period =
				request->period ? request->period : request->kind->default_period;
	}
	if (request->programs) {
		attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	} else if (request->register_mask) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = request->register_mask;
		attr->sample_stack_user = request->stack_bytes;
	}
	if (request->group) {
		attr->sample_type |= PERF_SAMPLE_READ;
		attr->read_format = PERF_FORMAT_GROUP;
	}
	attr->sample_max_stack = (uint16_t)grant->depth;
	attr->disabled = 1;
	attr->enable_on_exec = request->enable_on_exec;
	attr->inherit = request->inherit || request->inherit_thread;
	attr->inherit_thread = request->inherit_thread;
	attr->exclude_hv = 1;
	attr->exclude_idle = 1;
	attr->exclude_guest = 1;
	attr->exclude_callchain_kernel = !request->kernel;
	attr->mmap = 1;
	attr->mmap2 = 1;
	/*
	 * Only for commands, whose events nobody else is likely to share: Linux also marks other
	 * observers' records of the same mapping as having a build id, although they have none.
	 * perf then takes the device for a length and crashes.
	 */
	attr->build_id = request->enable_on_exec;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->wakeup_watermark = request->wakeup_bytes;
}

void event_grant_wake_each(struct event_grant *grant)
{
	grant->wakes_each = true;
	grant->attr.watermark = 0;
	grant->attr.wakeup_events = 1;
}

void event_output_init(struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type =
			PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
		.sample_period = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

static void tell_tasks(struct perf_event_attr *attr, bool wanted)
{
	attr->mmap = wanted;
	attr->mmap2 = wanted;
	attr->comm = wanted;
	attr->comm_exec = wanted;
	attr->task = wanted;
}

void event_grant_samples_only(struct event_grant *grant)
{
	tell_tasks(&grant->attr, false);
	grant->attr.write_backward = 1;
}

void event_grant_side(const struct event_grant *grant, struct event_grant *ret)
{
	struct perf_event_attr *attr = &ret->attr;

	*ret = *grant;
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->config1 = attr->config2 = 0;
	attr->freq = 0;
	attr->sample_period = 0;
	attr->sample_type &= PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	attr->read_format = 0;
	attr->sample_regs_user = 0;
	attr->sample_stack_user = 0;
	attr->write_backward = 0;
	tell_tasks(attr, true);
}

bool event_lower(struct event_grant *grant, int code)
{
	struct perf_event_attr *attr = &grant->attr;

	if (code == -EINVAL && attr->inherit && (attr->sample_type & PERF_SAMPLE_READ)) {
		/* Before Linux 6.12. */
		attr->inherit = attr->inherit_thread = 0;
		grant->alone = true;
		return true;
	}
	if (code == -EINVAL && attr->build_id) { /* before Linux 5.12 */
		attr->build_id = 0;
		return true;
	}
	if (code == -EINVAL && attr->inherit_thread) { /* before Linux 5.13 */
		attr->inherit_thread = 0;
		grant->children_too = true;
		return true;
	}
	if ((code == -EACCES || code == -EPERM) && grant->kernel) {
		attr->exclude_kernel = 1;
		attr->exclude_callchain_kernel = 1;
		grant->kernel = false;
		return true;
	}
	if (code == -EOVERFLOW && attr->sample_max_stack > 127) {
		attr->sample_max_stack = 127;
		grant->depth = 127;
		return true;
	}
	return false;
}

/* kernel.perf_event_paranoid must be at most this; NO_SETTING if no value allows it. */
#define NO_SETTING (-2)

static int paranoid_for(const struct event_grant *grant, pid_t tid)
{
	if (grant->attr.type >= PERF_TYPE_MAX)
		return NO_SETTING; /* a probe */
	if (grant->attr.type == PERF_TYPE_TRACEPOINT)
		return -1;
	return tid < 0 || (grant->open_flags & PERF_FLAG_PID_CGROUP) ? 0 : 2;
}

static int refused(const struct event_grant *grant, int code, pid_t tid, struct error *err)
{
	int64_t paranoid = event_setting("perf_event_paranoid", 2);
	int needed = paranoid_for(grant, tid);
	const char *for_what = "";
	char setting[64] = "";

	if (needed < 0)
		for_what = needed == NO_SETTING ? " for functions" : " for tracepoints";
	else if (grant->open_flags & PERF_FLAG_PID_CGROUP)
		for_what = " for a control group";
	else if (tid < 0)
		for_what = " for the whole machine";
	if (needed != NO_SETTING && paranoid > needed)
		(void)snprintf(setting, sizeof(setting),
			       "sudo sysctl kernel.perf_event_paranoid=%d, or ", needed);
	(void)error_errno(err, code,
			  "perf events%s are not allowed here (kernel.perf_event_paranoid is %lld)",
			  for_what, (long long)paranoid);
	error_remedy(err, "%s" OWN_PROGRAM_REMEDY, setting);
	return code;
}

static int explain(const struct event_grant *grant, int code, pid_t tid, struct error *err)
{
	if (code == -ESRCH)
		return code;
	if (code == -EACCES || code == -EPERM)
		return refused(grant, code, tid, err);
	if (code == -EMFILE || code == -ENFILE) /* the message includes the remedy */
		return error_errno(err, code, "each thread needs a perf event on each CPU");
	if (code == -ENOENT || code == -EOPNOTSUPP || code == -ENODEV) {
		(void)error_set(err, code, "this machine cannot count %s", grant->name);
		error_remedy(err, "use -e cpu-clock, or see: wick list events");
		return code;
	}
	return error_errno(err, code, "cannot open a perf event");
}

int event_open(struct event_grant *grant, pid_t tid, int cpu, struct error *err)
{
	for (;;) {
		long fd = syscall(SYS_perf_event_open, &grant->attr, tid, cpu, -1,
				  PERF_FLAG_FD_CLOEXEC | grant->open_flags);
		int code = -errno;

		if (fd >= 0)
			return (int)fd;
		if (!event_lower(grant, code))
			return explain(grant, code, tid, err);
	}
}

bool event_works(const struct event_kind *kind)
{
	struct event_request request = {
		.kind = kind, .frequency_hz = 97, .depth = 127, .wakeup_bytes = 4096};
	struct event_grant grant;
	int fd;

	event_grant_init(&grant, &request);
	fd = event_open(&grant, 0, -1, NULL);
	if (fd < 0)
		return false;
	(void)close(fd); /* it was never enabled */
	return true;
}
