/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/snapshot.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "engine/ptrace/arch/thread_arch.h"
#include "engine/ptrace/call_place.h"
#include "engine/ptrace/inject.h"
#include "engine/ptrace/refusal.h"
#include "engine/ptrace/tracer.h"
#include "engine/ptrace/vector_registers.h"
#include "proc/process_info.h"
#include "proc/thread_status.h"
#include "unwind/arch/native.h"
#include "wire/scan_hints.h"

/* For all threads together: threads blocked in the kernel (state D) are left out. */
#define PATIENCE_NS (200 * NS_PER_MS)
#define LEAST_PATIENCE_NS NS_PER_MS
#define KEPT_NS (20 * NS_PER_MS)
#define LOOK_NS (10 * NS_PER_MS)
#define CHILD_NS (5 * NS_PER_SEC)

/* A step that runs in the tracer thread. */
struct step {
	struct snapshot *snapshot;
	struct error *err;
	int code;
};

/* Deadlines for threads, and for those that wait for a CPU. */
struct patience {
	uint64_t until_ns;
	uint64_t cpu_until_ns;
};

static uint64_t left_ns(uint64_t now_ns, uint64_t until_ns)
{
	return now_ns + LEAST_PATIENCE_NS < until_ns ? until_ns - now_ns : LEAST_PATIENCE_NS;
}

static struct snapshot_thread *find(struct snapshot *snapshot, pid_t tid)
{
	for (size_t i = 0; i < snapshot->threads.count; i++)
		if (snapshot->threads.items[i].tid == tid)
			return &snapshot->threads.items[i];
	return NULL;
}

/* Reads its current system call; unknown without permission. */
static void read_call(pid_t pid, struct snapshot_thread *thread)
{
	char path[64];
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)thread->tid);
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);

	n = fd < 0 ? 0 : read(fd, thread->call, sizeof(thread->call) - 1);
	thread->call[n > 0 ? n : 0] = '\0';
}

/*
 * Notes whether the kernel keeps a thread from stopping, such as one that waits for a child of
 * vfork, or the first thread if it has ended before the others: all others would have to wait for
 * it.
 */
static void note_kept(struct snapshot_thread *thread, uint64_t until_ns)
{
	struct process_info info;
	int r = process_info_read(thread->tid, &info, NULL);

	/* Most are blocked only briefly, for a page of a file. */
	while (r == 0 && info.state == 'D' && clock_monotonic_ns() < until_ns) {
		(void)nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
		r = process_info_read(thread->tid, &info, NULL);
	}
	if (r < 0)
		return;
	thread->has_ended = info.state == 'Z';
	thread->is_kept = thread->has_ended || info.state == 'D';
}

static int seize(struct snapshot_thread *thread)
{
	if (ptrace(PTRACE_SEIZE, thread->tid, NULL, NULL) < 0)
		return -errno;
	(void)ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL); /* it may have ended */
	thread->is_held = true;
	return 0;
}

/* Lists new threads, and what they are doing before anything is stopped. */
static int list_new(struct snapshot *snapshot, struct error *err)
{
	uint64_t until_ns = clock_monotonic_ns() + KEPT_NS;
	struct pid_list list = {0};
	int r = process_list_threads(snapshot->pid, &list, err);

	for (size_t i = 0; i < list.count && r == 0; i++) {
		struct snapshot_thread thread = {.tid = list.items[i]};

		if (find(snapshot, thread.tid))
			continue;
		read_call(snapshot->pid, &thread);
		note_kept(&thread, until_ns);
		if (vec_push(&snapshot->threads, thread) < 0)
			r = error_set(err, -ENOMEM, "out of memory");
	}
	vec_fini(&list);
	return r;
}

/* Seizes new threads. Returns their number, or a negative errno. */
static int seize_new(struct snapshot *snapshot, struct error *err)
{
	size_t first = snapshot->threads.count;
	int r = list_new(snapshot, err);

	if (r < 0)
		return r;
	for (size_t i = first; i < snapshot->threads.count; i++) {
		struct snapshot_thread *thread = &snapshot->threads.items[i];

		thread->refusal = thread->is_kept ? 0 : seize(thread);
	}
	return (int)(snapshot->threads.count - first);
}

/* Threads that are seized or blocked have not ended: they take too long to stop. */
static int explain_late(const struct snapshot *snapshot, struct error *err)
{
	(void)error_set(err, -ETIMEDOUT, "process %d does not stop", (int)snapshot->pid);
	error_remedy(err,
		     "it is waiting for a disk, a child or a CPU; try again later with wick heap "
		     "--scan -p %d",
		     (int)snapshot->pid);
	return -ETIMEDOUT;
}

/* If some threads could be seized, the others have ended; if none could, we have no permission. */
static int check_held(const struct snapshot *snapshot, struct error *err)
{
	int refusal = -ESRCH;
	bool is_late = false;

	for (size_t i = 0; i < snapshot->threads.count; i++) {
		const struct snapshot_thread *thread = &snapshot->threads.items[i];

		if (thread->is_known)
			return 0;
		is_late |= (thread->is_held || thread->is_kept) && !thread->has_ended;
		if (thread->refusal < 0)
			refusal = thread->refusal;
	}
	if (is_late)
		return explain_late(snapshot, err);
	return refusal_explain(refusal, snapshot->pid, snapshot->pid, err);
}

/* Neither blocked in the kernel nor ended; it may have just stopped. */
static bool will_stop(pid_t tid)
{
	struct process_info info;

	return process_info_read(tid, &info, NULL) == 0 && info.state != 'D' && info.state != 'Z';
}

/* Waits for a thread to stop. A thread that waits for a CPU will stop, and gets more time. */
static int wait_for_stop(pid_t tid, const struct patience *patience)
{
	uint64_t now_ns = clock_monotonic_ns();
	int status = inject_wait(tid, left_ns(now_ns, patience->until_ns));

	while (status == -ETIMEDOUT && now_ns < patience->cpu_until_ns && will_stop(tid)) {
		status = inject_wait(tid, LOOK_NS);
		now_ns = clock_monotonic_ns();
	}
	return status;
}

static int read_vectors(struct snapshot *snapshot, struct snapshot_thread *thread)
{
	uint64_t words[VECTOR_REGISTERS_WORDS];

	thread->first_vector = snapshot->vectors.count;
	thread->vector_count = vector_registers_read(thread->tid, words);
	for (size_t i = 0; i < thread->vector_count; i++)
		if (vec_push(&snapshot->vectors, words[i]) < 0)
			return -ENOMEM;
	return 0;
}

/* Waits for a thread to stop, and reads its registers. Returns -ESRCH if it has ended. */
static int look_at_thread(struct snapshot *snapshot, struct snapshot_thread *thread,
			  const struct patience *patience)
{
	int status = thread->is_held ? wait_for_stop(thread->tid, patience) : -ESRCH;

	if (status < 0)
		return status;
	thread->is_quiet = status == (SIGTRAP | PTRACE_EVENT_STOP << 8);
	/* A signal that arrives at that time replaces our stop. */
	thread->signal = status >> 8 == 0 ? status : 0;
	thread->is_known = registers_of_thread(thread->tid, &thread->registers) == 0;
	thread->sp = thread->registers.values[UNWIND_NATIVE.sp_register];
	thread->pointer = thread_arch_pointer(thread->tid);
	return thread->is_known ? read_vectors(snapshot, thread) : 0;
}

/*
 * Threads may create others until they stop: these are found by listing again. Waiting for the
 * first one costs nothing; after it has stopped, the others should not take long.
 */
static int hold_all(struct snapshot *snapshot, struct error *err)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct patience patience = {now_ns + PATIENCE_NS, now_ns + snapshot->patience_ns};
	size_t looked = 0;
	int r;

	while ((r = seize_new(snapshot, err)) > 0)
		for (; looked < snapshot->threads.count; looked++) {
			r = look_at_thread(snapshot, &snapshot->threads.items[looked], &patience);
			if (r == -ENOMEM)
				return error_set(err, r, "out of memory");
			if (r == 0)
				patience.cpu_until_ns = patience.until_ns;
		}
	return r < 0 ? r : check_held(snapshot, err);
}

/* A thread that did not stop in time may have stopped now, for a pending signal. */
static void look_again(struct snapshot_thread *thread)
{
	int status = inject_wait(thread->tid, 0);

	if (status == -ESRCH)
		thread->is_held = false;
	else if (status > 0 && status >> 8 == 0)
		thread->signal = status;
}

static void let_go(void *self)
{
	struct snapshot *snapshot = self;

	for (size_t i = 0; i < snapshot->threads.count; i++) {
		struct snapshot_thread *thread = &snapshot->threads.items[i];

		if (thread->is_held && !thread->is_known)
			look_again(thread);
		if (thread->is_held &&
		    ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(intptr_t)thread->signal) == 0)
			thread->is_held = false;
	}
}

/* The first thread may have ended; then its memory cannot be read. */
static pid_t any_known(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->threads.count; i++)
		if (snapshot->threads.items[i].is_known)
			return snapshot->threads.items[i].tid;
	return snapshot->pid;
}

static void stop(void *self)
{
	struct step *step = self;

	step->code = hold_all(step->snapshot, step->err);
	if (step->code < 0)
		let_go(step->snapshot);
}

/* Without a tracer thread nothing is stopped. */
static int begin(struct snapshot *snapshot, struct error *err)
{
	struct step step = {.snapshot = snapshot, .err = err};
	int r = tracer_begin(&snapshot->tracer, err);

	if (r < 0)
		return r;
	tracer_do(snapshot->tracer, stop, &step);
	return step.code;
}

int snapshot_stop(struct snapshot *snapshot, pid_t pid, uint64_t patience_ns, struct error *err)
{
	int r;

	*snapshot = (struct snapshot){.pid = pid,
				      .memory_pid = pid,
				      .patience_ns = patience_ns,
				      .asked_ns = clock_monotonic_ns()};
	r = begin(snapshot, err);
	if (r < 0)
		return r;
	snapshot->memory_pid = any_known(snapshot);
	snapshot->time_ns = clock_monotonic_ns();
	return 0;
}

/* The best thread for an injected call: a running one, else any with known registers. */
static const struct snapshot_thread *choose(const struct snapshot *snapshot)
{
	const struct snapshot_thread *chosen = NULL;

	for (size_t i = 0; i < snapshot->threads.count; i++) {
		const struct snapshot_thread *thread = &snapshot->threads.items[i];

		if (!thread->is_known || !thread->is_quiet)
			continue;
		if (strncmp(thread->call, "running", 7) == 0)
			return thread;
		if (!chosen)
			chosen = thread;
	}
	return chosen;
}

/* A seccomp filter may kill the program for an unexpected system call. */
static int check_filter(pid_t pid, struct error *err)
{
	uint64_t mode = 0;

	if (thread_status_read(pid, "Seccomp", 10, &mode) < 0 || mode == 0)
		return 0;
	(void)error_set(err, -EPERM,
			"process %d has a seccomp filter, so it cannot be copied for a scan",
			(int)pid);
	error_remedy(err, "unfreed blocks are reported anyway: wick leaks FILE");
	return -EPERM;
}

/* Whether the system call instruction is still there: not after an exec. */
static bool has_place(const struct snapshot *snapshot, pid_t tid)
{
	char mark[sizeof(INSIDE_CALL_MARK)] = "";
	struct iovec local = {mark, sizeof(mark)};
	struct iovec remote = {(void *)(uintptr_t)(snapshot->call_address + INSIDE_CALL_BYTES),
			       sizeof(mark)};

	if (snapshot->in_vdso)
		return call_place_is_there(tid, snapshot->call_address);
	return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)sizeof(mark) &&
	       memcmp(mark, INSIDE_CALL_MARK, sizeof(mark)) == 0;
}

/* Injects a call. Returns -EAGAIN if the process is stopped, -ENOEXEC without an instruction. */
static int lead(const struct snapshot *snapshot, const struct inject_call *call, long *ret,
		pid_t *ret_child)
{
	const struct snapshot_thread *thread = choose(snapshot);

	if (!thread)
		return -EAGAIN;
	if (!has_place(snapshot, thread->tid))
		return -ENOEXEC;
	return inject(&(struct inject_place){thread->tid, snapshot->call_address, thread->call},
		      call, ret, ret_child);
}

static int explain_copy(const struct snapshot *snapshot, int code, struct error *err)
{
	int pid = (int)snapshot->pid;

	if (code == -EAGAIN)
		return error_advise(
			err, error_set(err, code, "cannot copy process %d: it is stopped", pid),
			"resume it (kill -CONT %d), then: wick heap --scan -p %d", pid, pid);
	if (code == -ENOEXEC)
		return error_advise(
			err,
			error_set(err, code, "process %d has just executed another program", pid),
			"try again: wick heap --scan -p %d", pid);
	return error_errno(err, code, "cannot copy process %d for a scan", pid);
}

static int copy(struct snapshot *snapshot, struct error *err)
{
	struct inject_call call = {.number = SYS_clone};
	long result = 0;
	pid_t child = 0;
	int r = check_filter(snapshot->pid, err);

	if (r < 0)
		return r;
	r = lead(snapshot, &call, &result, &child);
	if (child > 0) {
		snapshot->memory_pid = snapshot->child = child;
		(void)inject_wait(child, CHILD_NS); /* it stops before its first instruction */
		/* It is killed when we exit. */
		(void)ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(uintptr_t)PTRACE_O_EXITKILL);
	}
	if (r == 0 && child == 0)
		r = result < 0 ? (int)result : -EIO;
	return r < 0 ? explain_copy(snapshot, r, err) : 0;
}

static void fork_step(void *self)
{
	struct step *step = self;

	step->code = copy(step->snapshot, step->err);
}

int snapshot_fork(struct snapshot *snapshot, uint64_t call_address, struct error *err)
{
	struct step step = {.snapshot = snapshot, .err = err};
	int r;

	snapshot->call_address = call_address;
	snapshot->in_vdso = call_address == 0;
	if (snapshot->in_vdso) {
		r = call_place_find(snapshot->memory_pid, &snapshot->call_address, err);
		if (r < 0)
			return r;
	}
	tracer_do(snapshot->tracer, fork_step, &step);
	return step.code;
}

void snapshot_go_on(struct snapshot *snapshot)
{
	if (snapshot->tracer)
		tracer_do(snapshot->tracer, let_go, snapshot);
	if (snapshot->paused_ns == 0)
		snapshot->paused_ns = clock_monotonic_ns() - snapshot->asked_ns;
}

/* Threads that did not stop in time are detached with the tracer. */
static void end_tracer(struct snapshot *snapshot)
{
	tracer_end(snapshot->tracer);
	snapshot->tracer = NULL;
	snapshot->threads.count = 0;
}

static void kill_child(void *self)
{
	struct snapshot *snapshot = self;
	siginfo_t info = {0};
	int r;

	(void)kill(snapshot->child, SIGKILL);
	/* As its tracer we are notified first, of its stops too; then its parent can reap it. */
	do
		r = waitid(P_PID, (id_t)snapshot->child, &info, WEXITED | __WALL);
	while ((r < 0 && errno == EINTR) || (r == 0 && info.si_code == CLD_TRAPPED));
}

/* Makes the process reap the child that it does not know of: else it stays a zombie. */
static void reap(void *self)
{
	struct snapshot *snapshot = self;
	struct inject_call call = {.number = SYS_wait4,
				   .arguments = {snapshot->child, 0, __WALL | WNOHANG}};
	long result;
	pid_t none;

	snapshot->is_left = lead(snapshot, &call, &result, &none) == -EAGAIN;
	let_go(snapshot);
}

void snapshot_let_late_go(struct snapshot *snapshot)
{
	bool is_late = false;

	for (size_t i = 0; i < snapshot->threads.count; i++)
		is_late |= snapshot->threads.items[i].is_held;
	if (is_late)
		tracer_do(snapshot->tracer, let_go, snapshot);
}

/* If the program has ended or executed another one, there is nothing left to do. */
void snapshot_reap(struct snapshot *snapshot)
{
	uint64_t before_ns = clock_monotonic_ns();
	int r = begin(snapshot, NULL);

	if (r == 0)
		tracer_do(snapshot->tracer, reap, snapshot);
	else
		snapshot->is_left = r == -ETIMEDOUT;
	end_tracer(snapshot);
	snapshot->paused_ns += clock_monotonic_ns() - before_ns;
}

void snapshot_fini(struct snapshot *snapshot)
{
	if (snapshot->tracer) {
		snapshot_go_on(snapshot);
		if (snapshot->child > 0)
			tracer_do(snapshot->tracer, kill_child, snapshot);
		end_tracer(snapshot);
		if (snapshot->child > 0)
			snapshot_reap(snapshot);
	}
	vec_fini(&snapshot->threads);
	vec_fini(&snapshot->vectors);
}

size_t snapshot_read(const struct snapshot *snapshot, uint64_t address, void *buffer, size_t size)
{
	struct iovec local = {buffer, size};
	struct iovec remote = {(void *)(uintptr_t)address, size};
	ssize_t n = process_vm_readv(snapshot->memory_pid, &local, 1, &remote, 1, 0);

	return n < 0 ? 0 : (size_t)n;
}
