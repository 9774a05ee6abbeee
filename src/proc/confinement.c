/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/vec.h"
#include "proc/thread_status.h"

const char *const confined_call_names[CONFINED_CALLS] = {
	[CONFINED_PERF_EVENT_OPEN] = "perf_event_open",
	[CONFINED_BPF] = "bpf",
	[CONFINED_PTRACE] = "ptrace",
	[CONFINED_PROCESS_VM_READV] = "process_vm_readv",
	[CONFINED_TIMER_CREATE] = "timer_create",
	[CONFINED_PIDFD_OPEN] = "pidfd_open",
};

/*
 * Makes a call that the kernel refuses because of its arguments, before it checks privileges.
 * Returns whether the kernel itself answered: otherwise something in front of it did.
 */
static bool reaches_kernel(enum confined_call call, bool may_bpf)
{
	switch (call) {
	case CONFINED_PERF_EVENT_OPEN: /* flags are checked first */
		return syscall(SYS_perf_event_open, NULL, 0, -1, -1, ~0ul) < 0 && errno == EINVAL;
	case CONFINED_BPF: /* older kernels refuse it at once without the privilege */
		return syscall(SYS_bpf, -1, NULL, 0) >= 0 ||
		       (errno != ENOSYS && (errno != EPERM || !may_bpf));
	case CONFINED_PTRACE: /* no process has this pid */
		return syscall(SYS_ptrace, PTRACE_CONT, 0, NULL, NULL) < 0 && errno == ESRCH;
	case CONFINED_PROCESS_VM_READV: /* there are no flags */
		return syscall(SYS_process_vm_readv, getpid(), NULL, 0ul, NULL, 0ul, 1ul) < 0 &&
		       errno == EINVAL;
	case CONFINED_TIMER_CREATE: /* there is no such clock */
		return syscall(SYS_timer_create, INT_MAX, NULL, NULL) < 0 && errno == EINVAL;
	case CONFINED_PIDFD_OPEN:
		(void)syscall(SYS_pidfd_open, -1, 0); /* any result will do */
		return true;
	case CONFINED_CALLS:
		break;
	}
	return true;
}

/* In a separate process: a filter may kill the caller. */
static bool is_refused(enum confined_call call, bool may_bpf)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit(reaches_kernel(call, may_bpf) ? 0 : 1);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return false;
	return status != 0;
}

/* Reads the start of a file; "" on failure. */
static void read_start(const char *root, const char *path, char *ret, size_t size)
{
	char whole[PATH_MAX];
	ssize_t n = -1;

	(void)snprintf(whole, sizeof(whole), "%s%s", root, path);
	{
		SCOPED(fd) int fd = open(whole, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

		if (fd >= 0)
			n = read(fd, ret, size - 1);
	}
	ret[n > 0 ? n : 0] = '\0';
}

static bool is_there(const char *root, const char *path)
{
	char whole[PATH_MAX];

	(void)snprintf(whole, sizeof(whole), "%s%s", root, path);
	return access(whole, F_OK) == 0;
}

/* Traces of container engines, the most specific first. */
static void find_container(struct confinement *ret, const char *root)
{
	static const struct {
		const char *word; /* in the name of the control group */
		const char *name;
	} groups[] = {
		{"kubepods", "kubernetes"},   {"docker", "docker"}, {"libpod", "podman"},
		{"containerd", "containerd"}, {"lxc", "lxc"},
	};
	char text[4096];
	const char *name = "";

	read_start(root, "/proc/self/cgroup", text, sizeof(text));
	for (size_t i = 0; i < ARRAY_SIZE(groups) && !name[0]; i++)
		if (strstr(text, groups[i].word))
			name = groups[i].name;
	if (!name[0] && is_there(root, "/run/.containerenv"))
		name = "podman";
	if (!name[0] && is_there(root, "/.dockerenv"))
		name = "docker";
	if (!name[0]) {
		read_start(root, "/run/systemd/container", text, sizeof(text));
		text[strcspn(text, "\n")] = '\0';
		name = text;
	}
	(void)snprintf(ret->container, sizeof(ret->container), "%.15s", name);
}

/* "none [integrity] confidentiality": the one in brackets applies. */
static void find_lockdown(struct confinement *ret, const char *root)
{
	char text[128];
	char *begin;

	read_start(root, "/sys/kernel/security/lockdown", text, sizeof(text));
	begin = strchr(text, '[');
	if (!begin)
		return;
	begin[strcspn(begin, "]")] = '\0';
	(void)snprintf(ret->lockdown, sizeof(ret->lockdown), "%.23s", begin + 1);
}

static uint64_t limit_of(int resource, bool most)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
		return UINT64_MAX;
	if (most)
		limit.rlim_cur = limit.rlim_max;
	return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : (uint64_t)limit.rlim_cur;
}

static void find_shared_memory(struct confinement *ret, const char *root)
{
	struct statvfs status;
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/dev/shm", root);
	ret->shared_memory = access(path, W_OK | X_OK) == 0 && statvfs(path, &status) == 0;
	if (ret->shared_memory)
		ret->shared_bytes = (uint64_t)status.f_bavail * status.f_frsize;
}

void confinement_read(struct confinement *ret, const char *root)
{
	uint64_t strict = 0;
	bool may_bpf;

	*ret = (struct confinement){
		.is_root = geteuid() == 0,
		.locked_bytes = limit_of(RLIMIT_MEMLOCK, false),
		.open_files = limit_of(RLIMIT_NOFILE, true),
		.lacks_proc = !is_there(root, "/proc/self"),
		.lacks_sys = !is_there(root, "/sys/kernel"),
	};
	/* What cannot be read stays zero: no capabilities, no filter. */
	(void)thread_status_read(0, "CapEff", 16, &ret->capabilities);
	(void)thread_status_read(0, "Seccomp", 10, &ret->seccomp);
	(void)thread_status_read(0, "NoNewPrivs", 10, &strict);
	ret->no_new_privileges = strict != 0;
	may_bpf = confinement_may(ret, CONFINEMENT_BPF) ||
		  confinement_may(ret, CONFINEMENT_SYS_ADMIN);
	for (int i = 0; ret->seccomp != 0 && i < CONFINED_CALLS; i++)
		ret->refused[i] = is_refused((enum confined_call)i, may_bpf);
	find_container(ret, root);
	find_lockdown(ret, root);
	find_shared_memory(ret, root);
}
