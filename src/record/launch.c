/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/scope.h"

/* Gives the child its streams. */
static bool set_streams(const struct launch_plan *plan)
{
	int null_fd;

	if (!plan->silent)
		return plan->stdout_fd < 0 || dup2(plan->stdout_fd, STDOUT_FILENO) >= 0;
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd < 0) /* a container without devices */
		null_fd = memfd_create("silent", MFD_CLOEXEC);
	return null_fd >= 0 && dup2(null_fd, STDIN_FILENO) >= 0 &&
	       dup2(null_fd, STDOUT_FILENO) >= 0 && dup2(null_fd, STDERR_FILENO) >= 0;
}

/* Runs in the child: only async-signal-safe calls, whatever threads the parent had. */
static void __attribute__((noreturn))
run_child(int gate_fd, int report_fd, const struct launch_plan *plan, char *const *environment)
{
	char go;
	ssize_t n;
	int code;

	do
		n = read(gate_fd, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(127);                               /* the parent gave up */
	(void)sigprocmask(SIG_SETMASK, plan->mask, NULL); /* cannot fail with a valid mask */
	if (set_streams(plan))
		(void)execvpe(plan->argv[0], plan->argv, environment);
	code = errno;
	/* If even this fails the parent sees a closed pipe and exit status 127. */
	if (write(report_fd, &code, sizeof(code)) != sizeof(code))
		_exit(127);
	_exit(127);
}

static void close_fd(int *fd)
{
	scope_release_fd(fd);
	*fd = -1;
}

/*
 * If SIGCHLD is ignored, children vanish without a status. The child inherits that, as it would
 * without wick; for the recorder itself it is reset.
 */
static void keep_statuses(void)
{
	struct sigaction action;

	if (sigaction(SIGCHLD, NULL, &action) < 0 || action.sa_handler != SIG_IGN)
		return;
	action.sa_handler = SIG_DFL;
	(void)sigaction(SIGCHLD, &action, NULL); /* cannot fail for a valid signal */
}

static bool same_name(const char *a, const char *b)
{
	size_t length = strcspn(a, "=");

	return strncmp(a, b, length + 1) == 0;
}

/* Our environment; planned variables replace those of the same name. */
static char **make_environment(char *const *planned)
{
	size_t count = 0;
	size_t more = 0;
	char **result;

	while (environ[count])
		count++;
	while (planned && planned[more])
		more++;
	result = calloc(count + more + 1, sizeof(*result));
	if (!result)
		return NULL;
	count = 0;
	for (char **at = environ; *at; at++) {
		size_t i = 0;

		while (i < more && !same_name(planned[i], *at))
			i++;
		if (i == more)
			result[count++] = *at;
	}
	for (size_t i = 0; i < more; i++)
		result[count++] = planned[i];
	return result;
}

int child_fork(struct child *child, const struct launch_plan *plan, struct error *err)
{
	SCOPED(mem) char **environment = make_environment(plan->environment);
	int gate[2] = {-1, -1};
	int report[2] = {-1, -1};
	pid_t pid = -1;
	int code;

	*child = (struct child){.pid = -1, .gate_fd = -1, .report_fd = -1, .pid_fd = -1};
	if (!environment)
		return error_set(err, -ENOMEM, "out of memory");
	if (pipe2(gate, O_CLOEXEC) == 0 && pipe2(report, O_CLOEXEC) == 0)
		pid = fork();
	code = -errno;
	if (pid == 0) {
		(void)close(gate[1]); /* so that the child sees when the parent closes its end */
		run_child(gate[0], report[1], plan, environment);
	}
	close_fd(&gate[0]);
	close_fd(&report[1]);
	*child = (struct child){
		.pid = pid, .gate_fd = gate[1], .report_fd = report[0], .pid_fd = -1};
	if (pid < 0) {
		child_fini(child);
		return error_errno(err, code, "cannot start a process for %s", plan->argv[0]);
	}
	keep_statuses();
	child->pid_fd = (int)syscall(SYS_pidfd_open, pid, 0);
	return 0;
}

static int explain(int code, const char *program, struct error *err)
{
	struct stat status;
	bool there = strchr(program, '/') && stat(program, &status) == 0;

	if (code == -ENOENT && there) {
		/* Not -ENOENT: the file exists, so a shell would exit with 126. */
		(void)error_set(err, -EACCES, "cannot run %s: its interpreter does not exist",
				program);
		error_remedy(err,
			     "install the interpreter named in its first line, or its dynamic "
			     "loader: file %s",
			     program);
		return -EACCES;
	}
	if (code == -ENOENT) {
		(void)error_set(err, code, "%s: command not found", program);
		error_remedy(err, "check the spelling, or give the path");
	} else if (there && S_ISDIR(status.st_mode)) {
		(void)error_set(err, code, "cannot run %s: it is a directory", program);
		error_remedy(err, "name a program in it");
	} else if (code == -EACCES) {
		(void)error_file(err, code, "cannot run %s", program);
		error_remedy(err, "make it executable: chmod +x %s", program);
	} else {
		(void)error_file(err, code, "cannot run %s", program);
		error_remedy(err, "check what kind of file it is: file %s", program);
	}
	return code;
}

/*
 * Reaps the child if it has a status. Returns whether the child has ended. A traced child also
 * stops, and the kernel reports that to us whatever we ask for: so we peek first and leave stops to
 * the engine.
 */
static int reap(struct child *child, int options)
{
	siginfo_t info = {0};
	int r;

	do
		r = waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT | options);
	while (r < 0 && errno == EINTR);
	if (r < 0 && errno == ECHILD)
		child->reaped = 1; /* someone else reaped it */
	if (r < 0 || info.si_pid != child->pid || info.si_code == CLD_TRAPPED)
		return child->reaped;
	child->reaped = waitpid(child->pid, &child->status, 0) == child->pid;
	return child->reaped;
}

int child_release(struct child *child, const char *program, struct error *err)
{
	int code = 0;
	ssize_t n = write(child->gate_fd, "g", 1);

	child->released = 1;
	close_fd(&child->gate_fd);
	if (n != 1)
		return 0; /* it was already killed: that is its status */
	do
		n = read(child->report_fd, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	close_fd(&child->report_fd);
	if (n != sizeof(code)) {
		log_debug("started %s as process %d", program, (int)child->pid);
		return 0; /* closed by the exec */
	}
	(void)reap(child, 0); /* it is exiting */
	return explain(-code, program, err);
}

int child_ended(struct child *child)
{
	return child->reaped || reap(child, WNOHANG);
}

int child_exit_status(const struct child *child)
{
	if (WIFSIGNALED(child->status))
		return 128 + WTERMSIG(child->status);
	return WEXITSTATUS(child->status);
}

int child_killed_by(const struct child *child)
{
	return child->reaped && WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0;
}

void child_fini(struct child *child)
{
	close_fd(&child->gate_fd);
	if (child->pid > 0 && !child->released && !child->reaped) {
		(void)reap(child, 0); /* the closed gate ends it */
	}
	close_fd(&child->report_fd);
	close_fd(&child->pid_fd);
}
