/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/doctor/doctor_limits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/limit_remedy.h"
#include "base/vec.h"

/* the highest rate and the default depth of wick record: a lower kernel limit matters */
#define WANTED_RATE_HZ 10000
#define WANTED_STACK 512
#define WANTED_MLOCK_KB 516 /* the kernel's own default */
#define WANTED_LOCKED_BYTES (64u << 10)
#define WANTED_FILES 1024
/* If less is free, the signal engine uses another directory. */
#define WANTED_SHARED_BYTES (8u << 20)

static void check_user(const struct doctor_facts *facts, struct finding *finding)
{
	finding_say(finding, VERDICT_OK, "your own programs can be sampled");
	if (facts->perf.user < 0)
		finding_explain_perf(finding, facts, facts->perf.user, 2);
}

static void check_kernel(const struct doctor_facts *facts, struct finding *finding)
{
	finding_say(finding, VERDICT_OK, "their time in the kernel can be sampled");
	if (facts->perf.kernel < 0)
		finding_explain_perf(finding, facts, facts->perf.kernel, 1);
}

static void check_machine(const struct doctor_facts *facts, struct finding *finding)
{
	finding_say(finding, VERDICT_OK, "all processes can be sampled (wick record -a)");
	if (facts->perf.machine < 0)
		finding_explain_perf(finding, facts, facts->perf.machine, 0);
}

static void check_hardware(const struct doctor_facts *facts, struct finding *finding)
{
	bool absent = facts->perf.hardware == -ENOENT || facts->perf.hardware == -ENODEV ||
		      facts->perf.hardware == -EOPNOTSUPP;

	finding_say(finding, VERDICT_OK, "cycles, cache-misses and similar events can be counted");
	if (facts->perf.hardware < 0)
		finding_explain_perf(finding, facts, facts->perf.hardware, 2);
	if (!absent)
		return;
	finding_say(finding, VERDICT_LIMITED, "none: this is most likely a virtual machine");
	finding_advise(finding, "cpu-clock works without them; to get them, give the guest a PMU "
				"(QEMU: -cpu host,pmu=on)");
}

static void check_paranoid(const struct doctor_facts *facts, struct finding *finding)
{
	if (facts->perf.paranoid == PERF_PROBE_UNKNOWN) {
		finding_say(finding, VERDICT_NO, "kernel.perf_event_paranoid cannot be read");
		finding_advise(finding,
			       "the kernel needs CONFIG_PERF_EVENTS=y and /proc must be mounted");
		return;
	}
	finding_say(finding, facts->perf.machine == 0 ? VERDICT_OK : VERDICT_LIMITED,
		    "kernel.perf_event_paranoid is %" PRId64, facts->perf.paranoid);
	if (facts->perf.machine < 0 && facts->perf.paranoid > 0 &&
	    !facts->own.refused[CONFINED_PERF_EVENT_OPEN])
		finding_advise(finding, "sudo sysctl kernel.perf_event_paranoid=0");
}

/* Checks that a kernel setting is at least wanted. */
static void check_least(const char *name, int64_t value, int64_t wanted, const char *felt,
			struct finding *finding)
{
	if (value == PERF_PROBE_UNKNOWN) {
		finding_say(finding, VERDICT_LIMITED, "%s cannot be read", name);
		return;
	}
	if (value >= wanted) {
		finding_say(finding, VERDICT_OK, "%s is %" PRId64, name, value);
		return;
	}
	finding_say(finding, VERDICT_LIMITED, "%s is %" PRId64 ": %s", name, value, felt);
	finding_advise(finding, "sudo sysctl %s=%" PRId64, name, wanted);
}

static void check_rate(const struct doctor_facts *facts, struct finding *finding)
{
	check_least("kernel.perf_event_max_sample_rate", facts->perf.max_sample_rate_hz,
		    WANTED_RATE_HZ, "higher rates are refused", finding);
}

static void check_mlock(const struct doctor_facts *facts, struct finding *finding)
{
	check_least("kernel.perf_event_mlock_kb", facts->perf.mlock_kb, WANTED_MLOCK_KB,
		    "buffers are small, samples may be lost", finding);
}

static void check_stack(const struct doctor_facts *facts, struct finding *finding)
{
	check_least("kernel.perf_event_max_stack", facts->perf.max_stack, WANTED_STACK,
		    "the kernel truncates longer call chains", finding);
}

static void check_mounts(const struct doctor_facts *facts, struct finding *finding)
{
	if (facts->own.lacks_proc) {
		finding_say(finding, VERDICT_NO,
			    "/proc is not mounted: wick cannot check anything without it");
		finding_advise(finding, "mount -t proc proc /proc");
	} else if (facts->own.lacks_sys) {
		finding_say(finding, VERDICT_LIMITED, "/sys is not mounted: no eBPF engine");
		finding_advise(finding, "mount -t sysfs sysfs /sys");
	} else {
		finding_say(finding, VERDICT_OK, "/proc and /sys are mounted");
	}
}

static void check_btf(const struct doctor_facts *facts, struct finding *finding)
{
	finding_say(finding, VERDICT_OK, "/sys/kernel/btf/vmlinux is readable");
	if (facts->perf.btf)
		return;
	if (facts->own.lacks_sys) {
		check_mounts(facts, finding);
		return;
	}
	finding_say(finding, VERDICT_LIMITED, "/sys/kernel/btf/vmlinux is missing: no eBPF engine");
	finding_advise(finding, "use a kernel with CONFIG_DEBUG_INFO_BTF=y, or --engine perf");
}

static void check_ptrace(const struct doctor_facts *facts, struct finding *finding)
{
	static const char *const meanings[] = {
		"you can attach to your own processes",
		"you can attach to child processes only, root to all",
		"only root can attach to processes",
		"nobody can attach to processes",
	};

	if (facts->perf.ptrace_scope == PERF_PROBE_UNKNOWN) {
		finding_say(finding, VERDICT_OK,
			    "Yama is not active: you can attach to your own processes");
		return;
	}
	if (facts->perf.ptrace_scope < 0 ||
	    facts->perf.ptrace_scope >= (int64_t)ARRAY_SIZE(meanings)) {
		finding_say(finding, VERDICT_LIMITED, "kernel.yama.ptrace_scope is %" PRId64,
			    facts->perf.ptrace_scope);
		return;
	}
	finding_say(finding, facts->perf.ptrace_scope == 0 ? VERDICT_OK : VERDICT_LIMITED,
		    "kernel.yama.ptrace_scope is %" PRId64 ": %s", facts->perf.ptrace_scope,
		    meanings[facts->perf.ptrace_scope]);
	if (facts->perf.ptrace_scope == 3) {
		finding_advise(finding,
			       "boot without kernel.yama.ptrace_scope=3: it cannot be lowered");
	} else if (facts->perf.ptrace_scope > 0) {
		finding_advise(finding, "sudo sysctl kernel.yama.ptrace_scope=0");
		finding_advise_grant(finding);
	}
}

/* Matters only without the right to lock any amount of memory. */
static void check_locked(const struct doctor_facts *facts, struct finding *finding)
{
	uint64_t bytes = facts->own.locked_bytes;

	if (bytes == UINT64_MAX || confinement_may(&facts->own, CONFINEMENT_IPC_LOCK)) {
		finding_say(finding, VERDICT_OK, "no limit (RLIMIT_MEMLOCK)");
		return;
	}
	finding_say(finding, bytes < WANTED_LOCKED_BYTES ? VERDICT_LIMITED : VERDICT_OK,
		    "RLIMIT_MEMLOCK is %" PRIu64 " kB%s", bytes >> 10,
		    bytes < WANTED_LOCKED_BYTES ? ": rings of perf events are small" : "");
	if (bytes < WANTED_LOCKED_BYTES)
		finding_advise(finding,
			       "as root: ulimit -l 8192; in a systemd unit: "
			       "LimitMEMLOCK=8M; in a container: --ulimit memlock=8388608");
}

static void check_files(const struct doctor_facts *facts, struct finding *finding)
{
	uint64_t files = facts->own.open_files;

	if (files >= WANTED_FILES) {
		finding_say(finding, VERDICT_OK, "RLIMIT_NOFILE can be raised to %" PRIu64, files);
		return;
	}
	finding_say(finding, VERDICT_LIMITED,
		    "RLIMIT_NOFILE is %" PRIu64 ": each thread needs one for each CPU", files);
	(void)limit_remedy_for(RLIMIT_NOFILE, &(struct rlimit){files, files}, facts->own.is_root,
			       LIMIT_MANY_FILES, finding->remedy, sizeof(finding->remedy));
}

static void check_shared_memory(const struct doctor_facts *facts, struct finding *finding)
{
	bool small = facts->own.shared_bytes < WANTED_SHARED_BYTES;

	finding_say(finding, VERDICT_OK, "/dev/shm is writable, %.0f MB free",
		    (double)facts->own.shared_bytes / 1e6);
	if (facts->own.shared_memory && !small)
		return;
	if (!facts->own.shared_memory)
		finding_say(
			finding, VERDICT_LIMITED,
			"/dev/shm is not writable: samples taken inside programs go through /tmp");
	else
		finding_say(finding, VERDICT_LIMITED,
			    "/dev/shm has only %.1f MB free: samples taken inside programs go "
			    "through /tmp",
			    (double)facts->own.shared_bytes / 1e6);
	finding_advise(finding, "sudo mount -t tmpfs -o mode=1777,size=256m tmpfs /dev/shm; in a "
				"container: --shm-size 256m");
}

static void check_seccomp(const struct doctor_facts *facts, struct finding *finding)
{
	char refused[128];

	doctor_list_refused(facts, ~0u, refused, sizeof(refused));
	if (facts->own.seccomp == 0) {
		finding_say(finding, VERDICT_OK, "no seccomp filter");
	} else if (!refused[0]) {
		finding_say(finding, VERDICT_OK,
			    "a seccomp filter is active, but blocks none of the system calls that "
			    "sandboxes usually block");
	} else {
		finding_say(finding, VERDICT_LIMITED, "a seccomp filter blocks %s", refused);
		finding_advise_sandbox(finding, facts);
	}
}

static void check_container(const struct doctor_facts *facts, struct finding *finding)
{
	if (facts->own.container[0])
		finding_say(finding, VERDICT_OK, "this is a container (%s): run sysctl on its host",
			    facts->own.container);
	else
		finding_say(finding, VERDICT_OK, "none detected");
}

static void check_lockdown(const struct doctor_facts *facts, struct finding *finding)
{
	const char *level = facts->own.lockdown;

	if (strcmp(level, "confidentiality") != 0) {
		finding_say(finding, VERDICT_OK, "%s", level[0] ? level : "none");
		return;
	}
	finding_say(finding, VERDICT_LIMITED,
		    "confidentiality: eBPF programs may not read the "
		    "kernel's memory");
	finding_advise(finding, "boot with lockdown=integrity, or use --engine perf");
}

static void check_capabilities(const struct doctor_facts *facts, struct finding *finding)
{
	static const struct {
		unsigned int bit;
		const char *name;
	} wanted[] = {{CONFINEMENT_BPF, "cap_bpf"},
		      {CONFINEMENT_PERFMON, "cap_perfmon"},
		      {CONFINEMENT_SYS_PTRACE, "cap_sys_ptrace"},
		      {CONFINEMENT_SYSLOG, "cap_syslog"}};
	bool marked = getxattr("/proc/self/exe", "security.capability", NULL, 0) > 0;
	char missing[128] = "";
	size_t length = 0;

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		if (!confinement_may(&facts->own, wanted[i].bit))
			length += (size_t)snprintf(missing + length, sizeof(missing) - length,
						   "%s%s", length > 0 ? ", " : "", wanted[i].name);
	if (!missing[0]) {
		finding_say(finding, VERDICT_OK, "all that wick uses");
		return;
	}
	finding_say(finding, VERDICT_LIMITED, "missing: %s%s", missing,
		    marked && facts->own.no_new_privileges
			    ? " (the binary has them, but no_new_privs is set)"
			    : "");
	finding_advise_rights(finding, facts);
}

static void check_unprivileged_bpf(const struct doctor_facts *facts, struct finding *finding)
{
	if (facts->perf.unprivileged_bpf_disabled == PERF_PROBE_UNKNOWN)
		finding_say(finding, VERDICT_OK, "kernel.unprivileged_bpf_disabled does not exist");
	else
		finding_say(finding, VERDICT_OK,
			    "kernel.unprivileged_bpf_disabled is %" PRId64
			    "; this does not affect wick, which uses cap_bpf",
			    facts->perf.unprivileged_bpf_disabled);
}

const struct doctor_check doctor_mounts[] = {
	{"mounts", "mounts", check_mounts},
	{NULL, NULL, NULL},
};

const struct doctor_check doctor_limits[] = {
	{"perf_user", "perf: own programs", check_user},
	{"perf_kernel", "perf: with kernel", check_kernel},
	{"perf_machine", "perf: whole machine", check_machine},
	{"hardware_counters", "hardware counters", check_hardware},
	{"perf_event_paranoid", "permission", check_paranoid},
	{"capabilities", "capabilities", check_capabilities},
	{"ptrace", "ptrace", check_ptrace},
	{"btf", "BTF", check_btf},
	{"unprivileged_bpf", "eBPF", check_unprivileged_bpf},
	{"lockdown", "lockdown", check_lockdown},
	{"seccomp", "system calls", check_seccomp},
	{"container", "container", check_container},
	{"perf_event_max_sample_rate", "rate limit", check_rate},
	{"perf_event_mlock_kb", "buffer limit", check_mlock},
	{"memlock", "locked memory", check_locked},
	{"open_files", "open files", check_files},
	{"shared_memory", "shared memory", check_shared_memory},
	{"perf_event_max_stack", "stack limit", check_stack},
	{NULL, NULL, NULL},
};
