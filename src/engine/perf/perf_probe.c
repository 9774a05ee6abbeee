/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/perf_probe.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/error.h"
#include "base/scope.h"

struct trial {
	uint32_t type;
	uint64_t config;
	bool kernel;
	pid_t pid;
	int cpu;
};

/* Opens a sampling event that never starts. Returns 0 or a negative errno. */
static int try_event(const struct trial *trial)
{
	struct perf_event_attr attr = {
		.type = trial->type,
		.size = sizeof(attr),
		.config = trial->config,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		.disabled = 1,
		.exclude_kernel = !trial->kernel,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, trial->pid, trial->cpu, -1,
			  PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	(void)close((int)fd); /* nothing was written */
	return 0;
}

static int64_t read_setting(const char *path)
{
	SCOPED(file) FILE *file = fopen(path, "re");
	char line[32];
	char *end;
	long long value;

	if (!file || !fgets(line, sizeof(line), file))
		return PERF_PROBE_UNKNOWN;
	errno = 0;
	value = strtoll(line, &end, 10);
	return errno != 0 || end == line ? PERF_PROBE_UNKNOWN : (int64_t)value;
}

/*
 * The kernel shows zeros to users it does not trust. A symbol may really be at address zero
 * (per-CPU symbols of x86-64), so several are read.
 */
static bool sees_kernel_symbols(void)
{
	SCOPED(file) FILE *file = fopen("/proc/kallsyms", "re");
	char line[512];
	int i;

	for (i = 0; file && i < 2000 && fgets(line, sizeof(line), file); i++) {
		if (strtoull(line, NULL, 16) != 0)
			return true;
	}
	return false;
}

void perf_probe_settings(struct perf_probe *ret, int code)
{
	struct utsname host;

	*ret = (struct perf_probe){
		.user = code,
		.kernel = code,
		.machine = code,
		.hardware = code,
		.paranoid = read_setting("/proc/sys/kernel/perf_event_paranoid"),
		.max_sample_rate_hz = read_setting("/proc/sys/kernel/perf_event_max_sample_rate"),
		.mlock_kb = read_setting("/proc/sys/kernel/perf_event_mlock_kb"),
		.max_stack = read_setting("/proc/sys/kernel/perf_event_max_stack"),
		.kptr_restrict = read_setting("/proc/sys/kernel/kptr_restrict"),
		.unprivileged_bpf_disabled =
			read_setting("/proc/sys/kernel/unprivileged_bpf_disabled"),
		.ptrace_scope = read_setting("/proc/sys/kernel/yama/ptrace_scope"),
		.kernel_symbols = sees_kernel_symbols(),
		.btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0,
	};
	if (uname(&host) == 0) {
		(void)snprintf(ret->release, sizeof(ret->release), "%s", host.release);
		(void)snprintf(ret->cpu, sizeof(ret->cpu), "%s", host.machine);
	}
}

static int try_own(void)
{
	return try_event(
		&(struct trial){PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false, 0, -1});
}

int perf_probe_own(struct error *err)
{
	int r = try_own();

	if (r == 0)
		return 0;
	if (r == -EMFILE)
		return error_errno(err, r, "cannot open a perf event");
	(void)error_errno(err, r, "perf events are not allowed here");
	error_remedy(err, "run as root, or: sudo sysctl kernel.perf_event_paranoid=2");
	return r;
}

void perf_probe(struct perf_probe *ret)
{
	static const uint32_t software = PERF_TYPE_SOFTWARE;
	static const uint64_t cpu_clock = PERF_COUNT_SW_CPU_CLOCK;

	perf_probe_settings(ret, 0);
	ret->user = try_own();
	ret->kernel = try_event(&(struct trial){software, cpu_clock, true, 0, -1});
	ret->machine = try_event(&(struct trial){software, cpu_clock, true, -1, sched_getcpu()});
	ret->hardware = try_event(
		&(struct trial){PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false, 0, -1});
}
