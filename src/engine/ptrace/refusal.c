/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/refusal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "base/error.h"
#include "base/scope.h"
#include "proc/own_program.h"
#include "proc/process_info.h"
#include "proc/thread_status.h"

#define CAPABILITY_PTRACE 19 /* CAP_SYS_PTRACE */

/* The ptrace_scope of Yama: 1 children only, 2 with a capability, 3 nobody; 0 without Yama. */
static int read_scope(void)
{
	SCOPED(file) FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int digit = file ? fgetc(file) : '0';

	return digit >= '0' && digit <= '9' ? digit - '0' : 0;
}

static bool is_privileged(void)
{
	uint64_t mask = 0;

	return thread_status_read(0, "CapEff", 16, &mask) == 0 && (mask >> CAPABILITY_PTRACE & 1);
}

static int explain_tracer(int code, pid_t pid, pid_t tracer, struct error *err)
{
	struct process_info info = {.comm = "?"};

	(void)process_info_read(tracer, &info, NULL); /* else it has no name */
	(void)error_set(err, code, "cannot attach to process %d: %s (process %d) is tracing it",
			(int)pid, info.comm, (int)tracer);
	error_remedy(err, "detach that debugger first, or record without ptrace: wick record -p %d",
		     (int)pid);
	return code;
}

static int explain_scope(int code, pid_t pid, struct error *err)
{
	(void)error_errno(err, code, "cannot attach to process %d", (int)pid);
	if (read_scope() > 0)
		error_remedy(err,
			     "run as root, or: sudo sysctl kernel.yama.ptrace_scope=0 (it is %d)",
			     read_scope());
	else
		error_remedy(err, "run as root: the process is protected, or a sandbox forbids it");
	return code;
}

int refusal_explain(int code, pid_t pid, pid_t tid, struct error *err)
{
	struct process_info info;
	pid_t tracer = thread_tracer(tid);

	if (code == -ENOMEM)
		return error_set(err, code, "out of memory");
	if (process_info_read(tid, &info, err) < 0)
		return process_error(err, -ESRCH, tid, "state");
	if (info.state == 'Z' && tid == pid && info.thread_count > 1) {
		(void)error_set(err, -ESRCH, "the main thread of process %d has ended", (int)pid);
		error_remedy(err, "its other threads still run: wick sample --threads %d",
			     (int)pid);
		return -ESRCH;
	}
	if (info.state == 'Z' || info.state == 'X' || code == -ESRCH) {
		(void)error_set(err, -ESRCH, "process %d has ended", (int)pid);
		error_remedy(
			err,
			"ps -e shows such processes as <defunct>; attach to a running process");
		return -ESRCH;
	}
	if (tracer > 0)
		return explain_tracer(code, pid, tracer, err);
	if (pid == getpid())
		return error_advise(err,
				    error_set(err, code,
					      "cannot attach to process %d: it is wick itself",
					      (int)pid),
				    "give another process");
	if (!is_privileged() && info.uid != geteuid()) {
		(void)error_errno(err, code, "cannot attach to process %d (owned by %s)", (int)pid,
				  info.user);
		error_remedy(err, OWN_PROGRAM_REMEDY);
		return code;
	}
	if (is_privileged() && !info.executable[0])
		return error_advise(err,
				    error_set(err, code,
					      "cannot attach to process %d: %s is a kernel thread",
					      (int)pid, info.comm),
				    "sample the kernel as root: wick record -a --kernel");
	return explain_scope(code, pid, err);
}

int refusal_probe(struct error *err)
{
	int scope = read_scope();

	/* No process has this id, so this only checks whether the call is allowed. */
	if (ptrace(PTRACE_SEIZE, INT32_MAX, NULL, NULL) < 0 && errno != ESRCH) {
		(void)error_errno(err, -errno, "ptrace is not allowed here");
		error_remedy(err, "a sandbox forbids it; containers need --cap-add=SYS_PTRACE");
		return err ? err->code : -EPERM;
	}
	if (scope == 0 || (scope < 3 && is_privileged()))
		return 0;
	(void)error_set(err, -EPERM, "ptrace is not allowed here: kernel.yama.ptrace_scope is %d",
			scope);
	error_remedy(err, scope < 3 ? "run as root, or: sudo sysctl kernel.yama.ptrace_scope=0"
				    : "restart the machine with kernel.yama.ptrace_scope=0");
	return -EPERM;
}
