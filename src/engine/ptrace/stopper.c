/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/stopper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "engine/ptrace/refusal.h"
#include "engine/ptrace/stop_times.h"
#include "engine/ptrace/tid_index.h"
#include "proc/process_info.h"
#include "proc/thread_status.h"

/*
 * Number of threads that are asked to stop together. With more, each would wait longer for its
 * turn; with one, the time until each stops would be wasted.
 */
#define BATCH 4
/* How long to wait for threads blocked in the kernel (state D): half as long each time. */
#define PATIENCE_NS (20 * NS_PER_MS)
#define LEAST_PATIENCE_NS NS_PER_MS
/* Limit for late threads that are handled together with later batches. */
#define LATE 16
/* How long notifications of other threads, such as signals, may be delayed. */
#define NEGLECT_NS (5 * NS_PER_MS)
/* Checking all threads takes at most a fifth of the time, however many there are. */
#define NEGLECT_SHARE 4
/* The same when detaching. Threads still stopped then are released when this program exits. */
#define FAREWELL_NS (2 * NS_PER_SEC)
#define STARVED_NS (60 * NS_PER_SEC)

struct traced {
	pid_t pid;
	pid_t tid;
	int stat_fd; /* -1: not open */
	bool asked;  /* asked to stop, and has not stopped yet */
	bool unwanted;
	bool own_child;
	bool renamed; /* it called exec: its tid was another one */
	char state;
	uint32_t round; /* the last round in which it need not be asked */
	uint64_t asked_ns;
	uint64_t since_ns;
	uint64_t start_ticks; /* of a process; 0: unknown */
};

/* Threads that were asked to stop together. */
struct batch {
	size_t count;
	pid_t tids[BATCH];
	size_t late_count; /* from earlier batches; newer ones replace older ones */
	pid_t late[LATE];
};

/* What to seize again: a process, or one thread if new ones are not traced. */
struct suspended {
	pid_t pid;
	pid_t tid;
	bool own_child;
};

struct stopper {
	unsigned int flags;
	struct stopper_events events;
	VEC(struct traced) threads;
	struct tid_index index; /* of threads */
	VEC(struct suspended) suspended;
	uint32_t round;
	size_t next;       /* all threads before this were asked in this round */
	uint64_t swept_ns; /* time of the last check of all threads */
	uint64_t sweep_ns; /* its duration */
	int signal_fd;
	bool leaving;
	bool was_blocked; /* SIGCHLD was blocked before */
	struct sigaction old_action;
	struct stop_times times;
};

static void scope_release_stopper(struct stopper **stopper)
{
	stopper_close(*stopper);
}

static void only_sigchld(sigset_t *mask)
{
	(void)sigemptyset(mask);
	(void)sigaddset(mask, SIGCHLD);
}

/* If SIGCHLD were ignored, which we may have inherited, we would not be notified. */
static int take_sigchld(struct stopper *stopper, struct error *err)
{
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t mask;
	sigset_t old;

	only_sigchld(&mask);
	if (sigaction(SIGCHLD, &usual, &stopper->old_action) < 0 ||
	    sigprocmask(SIG_BLOCK, &mask, &old) < 0)
		return error_errno(err, -errno, "cannot block SIGCHLD");
	stopper->was_blocked = sigismember(&old, SIGCHLD) == 1;
	stopper->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (stopper->signal_fd < 0)
		return error_errno(err, -errno, "cannot watch SIGCHLD");
	return 0;
}

int stopper_open(unsigned int flags, const struct stopper_events *events, struct stopper **ret,
		 struct error *err)
{
	SCOPED(stopper) struct stopper *stopper = calloc(1, sizeof(*stopper));
	int r;

	if (!stopper)
		return error_set(err, -ENOMEM, "out of memory");
	stopper->flags = flags;
	stopper->events = *events;
	stopper->signal_fd = -1;
	r = take_sigchld(stopper, err);
	if (r < 0)
		return r;
	*ret = scope_take(&stopper);
	return 0;
}

static struct traced *find(struct stopper *stopper, pid_t tid)
{
	uint32_t place = tid_index_find(&stopper->index, tid);

	return place != TID_NOWHERE ? &stopper->threads.items[place] : NULL;
}

static int add(struct stopper *stopper, pid_t pid, pid_t tid)
{
	struct traced thread = {.pid = pid,
				.tid = tid,
				.stat_fd = -1,
				.round = stopper->round,
				.since_ns = clock_monotonic_ns()};

	if (vec_push(&stopper->threads, thread) < 0)
		return -ENOMEM;
	if (tid_index_set(&stopper->index, tid, (uint32_t)stopper->threads.count - 1) == 0)
		return 0;
	stopper->threads.count--;
	return -ENOMEM;
}

static void close_stat(struct traced *thread)
{
	if (thread->stat_fd >= 0)
		(void)close(thread->stat_fd); /* it was only read */
	thread->stat_fd = -1;
}

static void forget(struct stopper *stopper, size_t i)
{
	struct traced *thread = &stopper->threads.items[i];

	close_stat(thread);
	tid_index_remove(&stopper->index, thread->tid);
	*thread = stopper->threads.items[--stopper->threads.count];
	if (i < stopper->threads.count) /* it has a slot: this cannot fail */
		(void)tid_index_set(&stopper->index, thread->tid, (uint32_t)i);
	if (i < stopper->next)
		stopper->next = i; /* the moved thread may not have been asked */
}

static void end_thread(struct stopper *stopper, size_t i)
{
	pid_t pid = stopper->threads.items[i].pid;
	pid_t tid = stopper->threads.items[i].tid;

	forget(stopper, i);
	if (stopper->events.ended)
		stopper->events.ended(stopper->events.self, pid, tid);
}

/* Reads /proc; the descriptor stays open for the next round. */
static int read_stat(struct traced *thread, struct process_info *ret)
{
	char text[1024];
	ssize_t n;

	if (thread->stat_fd < 0) {
		char path[64];

		(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)thread->pid,
			       (int)thread->tid);
		thread->stat_fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	n = thread->stat_fd >= 0 ? pread(thread->stat_fd, text, sizeof(text), 0) : -1;
	return n > 0 ? process_stat_parse(text, (size_t)n, ret) : -ESRCH;
}

/* Reads the state that the thread would have without us. */
static void read_state(struct traced *thread)
{
	struct process_info info;

	thread->state = read_stat(thread, &info) == 0 ? info.state : 0;
}

/* Returns 0, or a negative errno if tid cannot be seized. */
static int seize_thread(const struct stopper *stopper, pid_t tid)
{
	unsigned long options = PTRACE_O_TRACEEXEC;

	if (stopper->flags & STOPPER_NEW_THREADS)
		options |= PTRACE_O_TRACECLONE;
	if (stopper->flags & STOPPER_CHILDREN)
		options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK;
	return ptrace(PTRACE_SEIZE, tid, NULL, (void *)options) < 0 ? -errno : 0;
}

/* The same for a new thread. */
static int seize(struct stopper *stopper, pid_t pid, pid_t tid)
{
	struct process_info info;
	struct traced *thread;
	int r;

	if (find(stopper, tid))
		return -EPERM; /* as the kernel would say */
	/* Allocates its slot first, so that no thread is seized and then forgotten. */
	if (add(stopper, pid, tid) < 0)
		return -ENOMEM;
	r = seize_thread(stopper, tid);
	if (r < 0) {
		forget(stopper, stopper->threads.count - 1);
		return r;
	}
	thread = &stopper->threads.items[stopper->threads.count - 1];
	thread->own_child = (stopper->flags & STOPPER_OWN_CHILD) && pid == tid;
	if (pid == tid && read_stat(thread, &info) == 0)
		thread->start_ticks = info.start_ticks;
	return 0;
}

int stopper_attach_thread(struct stopper *stopper, pid_t pid, pid_t tid, struct error *err)
{
	int r = seize(stopper, pid, tid);

	return r < 0 ? refusal_explain(r, pid, tid, err) : 0;
}

/* Whether a refused thread need not be seized: it is already ours, or has ended. */
static bool is_settled(pid_t tid)
{
	struct process_info info;

	if (thread_tracer(tid) == gettid())
		return true;
	return process_info_read(tid, &info, NULL) < 0 || info.state == 'Z' || info.state == 'X';
}

static bool has_any(const struct stopper *stopper, pid_t pid)
{
	for (size_t i = 0; i < stopper->threads.count; i++)
		if (stopper->threads.items[i].pid == pid)
			return true;
	return false;
}

/*
 * Threads that start meanwhile are seized by the kernel or found by listing again. The former are
 * refused here: their creator announces them.
 */
int stopper_attach_process(struct stopper *stopper, pid_t pid, struct error *err)
{
	struct pid_list list = {0};
	bool news = true;
	int r = 0;

	while (news && r == 0) {
		news = false;
		list.count = 0;
		r = process_list_threads(pid, &list, err);
		for (size_t i = 0; i < list.count && r == 0; i++) {
			pid_t tid = list.items[i];

			if (find(stopper, tid))
				continue;
			r = seize(stopper, pid, tid);
			news |= r == 0;
			if (r == -ESRCH || (r == -EPERM && is_settled(tid)))
				r = 0;
			if (r < 0)
				r = refusal_explain(r, pid, tid, err);
		}
	}
	vec_fini(&list);
	if (r == 0 && !has_any(stopper, pid))
		r = refusal_explain(-ESRCH, pid, pid, err);
	return r;
}

/* Returns false if it has not stopped since it was last asked, or is gone. */
static bool ask(struct traced *thread)
{
	if (thread->asked)
		return false;
	thread->asked_ns = clock_monotonic_ns();
	thread->asked = ptrace(PTRACE_INTERRUPT, thread->tid, NULL, NULL) == 0;
	return thread->asked;
}

/*
 * Resumes a stopped thread: with a signal to deliver (0: none), or back into the group stop of its
 * process. It may have been killed meanwhile.
 */
static void resume(struct stopper *stopper, size_t i, int signal, bool group_stop)
{
	const struct traced *thread = &stopper->threads.items[i];

	if (stopper->leaving || thread->unwanted) {
		if (ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(intptr_t)signal) == 0)
			forget(stopper, i);
	} else if (group_stop) {
		(void)ptrace(PTRACE_LISTEN, thread->tid, NULL, NULL);
	} else {
		(void)ptrace(PTRACE_CONT, thread->tid, NULL, (void *)(intptr_t)signal);
	}
}

/*
 * Reports a stopped thread if it was asked to stop. It may be a stop of another kind: each replaces
 * the requested one, which then does not happen.
 */
static void show(struct stopper *stopper, size_t i)
{
	struct traced *thread = &stopper->threads.items[i];
	struct stopped_thread shown = {
		.pid = thread->pid,
		.tid = thread->tid,
		.state = thread->state,
		.asked_ns = thread->asked_ns,
		.since_ns = thread->since_ns,
	};

	if (!thread->asked || stopper->leaving || thread->unwanted)
		return;
	thread->since_ns = thread->asked_ns;
	stopper->events.stopped(stopper->events.self, &shown);
}

static pid_t event_message(pid_t tid)
{
	unsigned long message = 0;

	return ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message) == 0 ? (pid_t)message : 0;
}

/* Releases a new thread if there is no memory to trace it. */
static void let_go(pid_t tid)
{
	siginfo_t info;

	if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WEXITED | __WALL) == 0)
		(void)ptrace(PTRACE_DETACH, tid, NULL, NULL); /* fails when it has ended */
}

/* A thread or process was created, and the kernel has seized it for us. */
static void handle_new(struct stopper *stopper, size_t i, bool clone)
{
	pid_t parent_pid = stopper->threads.items[i].pid;
	pid_t parent_tid = stopper->threads.items[i].tid;
	pid_t tid = event_message(parent_tid);
	pid_t pid = thread_process(tid);

	if (pid <= 0) /* it has ended: waiting for it will show that */
		pid = clone ? parent_pid : tid;
	if (tid <= 0 || find(stopper, tid))
		return;
	if (add(stopper, pid, tid) < 0) {
		let_go(tid);
		return;
	}
	/* clone() can also create processes. */
	if (pid != parent_pid && !(stopper->flags & STOPPER_CHILDREN))
		stopper->threads.items[stopper->threads.count - 1].unwanted = true;
	else if (stopper->events.started && !stopper->leaving)
		stopper->events.started(stopper->events.self, pid, tid, parent_pid, parent_tid);
}

/*
 * All other threads are gone, and the one that called exec has the id of the process. Returns its
 * new index.
 */
static size_t handle_exec(struct stopper *stopper, size_t at)
{
	pid_t pid = stopper->threads.items[at].tid;

	stopper->threads.items[at].renamed = false;
	for (size_t i = stopper->threads.count; i-- > 0;)
		if (stopper->threads.items[i].pid == pid && stopper->threads.items[i].tid != pid)
			forget(stopper, i);
	if (stopper->events.execed && !stopper->leaving)
		stopper->events.execed(stopper->events.self, pid);
	return (size_t)(find(stopper, pid) - stopper->threads.items);
}

static void handle_trap(struct stopper *stopper, size_t i, int status)
{
	int event = status >> 8;
	int signal = status & 0x7f;
	bool asked = stopper->threads.items[i].asked;
	uint64_t asked_ns = stopper->threads.items[i].asked_ns;

	if (event == PTRACE_EVENT_EXEC)
		i = handle_exec(stopper, i); /* there is no stack to show yet */
	else
		show(stopper, i);
	stopper->threads.items[i].asked = false;
	if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK ||
	    event == PTRACE_EVENT_VFORK)
		handle_new(stopper, i, event == PTRACE_EVENT_CLONE);
	if (event == PTRACE_EVENT_STOP)
		resume(stopper, i, 0, signal != SIGTRAP);
	else
		resume(stopper, i, event == 0 ? signal : 0, false);
	if (asked && event != PTRACE_EVENT_EXEC && !stopper->leaving)
		stop_times_add(&stopper->times, clock_monotonic_ns() - asked_ns);
}

/*
 * Whether the process lives on: another of its threads, which we do not trace, called exec and now
 * has the id of the process. We trace it from now on.
 */
static bool follow_exec(struct stopper *stopper, size_t i)
{
	struct traced *thread = &stopper->threads.items[i];
	struct process_info info;
	uint64_t start_ticks = thread->start_ticks;

	close_stat(thread);
	/* A process that reuses the id of an ended one started later. */
	if (start_ticks == 0 || stopper->leaving || read_stat(thread, &info) < 0 ||
	    info.start_ticks != start_ticks || info.state == 'Z' || info.state == 'X' ||
	    seize_thread(stopper, thread->tid) < 0)
		return false;
	thread->asked = false;
	if (stopper->events.execed)
		stopper->events.execed(stopper->events.self, thread->pid);
	return true;
}

/*
 * We have no such thread: it has ended without notification, or it called exec and now has the id
 * of its process, or another thread of its process did.
 */
static void handle_missing(struct stopper *stopper, size_t i)
{
	struct traced *thread = &stopper->threads.items[i];

	if (thread->tid != thread->pid && !find(stopper, thread->pid)) {
		tid_index_remove(&stopper->index, thread->tid);
		thread->tid = thread->pid;
		thread->renamed = true;
		/* One less, one more: this needs no memory. */
		(void)tid_index_set(&stopper->index, thread->tid, (uint32_t)i);
		close_stat(thread);
	} else if (thread->tid != thread->pid || thread->renamed || !follow_exec(stopper, i)) {
		end_thread(stopper, i);
	}
}

/* Handles one notification of a thread, if any. Returns whether there was one. */
static bool take_notice(struct stopper *stopper, size_t i)
{
	const struct traced *thread = &stopper->threads.items[i];
	int kinds = WSTOPPED | (thread->own_child ? 0 : WEXITED);
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)thread->tid, &info, kinds | __WALL | WNOHANG) < 0) {
		if (errno != ECHILD)
			return false;
		handle_missing(stopper, i);
		return true;
	}
	if (info.si_pid == 0)
		return false;
	if (info.si_code == CLD_TRAPPED || info.si_code == CLD_STOPPED)
		handle_trap(stopper, i, info.si_status);
	else
		end_thread(stopper, i);
	return true;
}

/*
 * Handles pending notifications, one per thread: a thread that receives signals all the time has
 * the next one at once, and must not starve others. Returns how many there were.
 */
static size_t sweep(struct stopper *stopper)
{
	uint64_t start_ns = clock_monotonic_ns();
	size_t taken = 0;
	size_t i = 0;

	/* Threads that end are replaced by the last; new ones are added behind it. */
	while (i < stopper->threads.count) {
		pid_t tid = stopper->threads.items[i].tid;

		taken += take_notice(stopper, i);
		if (i < stopper->threads.count && stopper->threads.items[i].tid == tid)
			i++;
	}
	stopper->swept_ns = clock_monotonic_ns();
	stopper->sweep_ns = stopper->swept_ns - start_ns;
	return taken;
}

/* Waits for a notification. Returns false on timeout. */
static bool wait_for_notice(uint64_t until_ns)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
	struct timespec left = {.tv_sec = (time_t)(left_ns / NS_PER_SEC),
				.tv_nsec = (long)(left_ns % NS_PER_SEC)};
	sigset_t mask;

	only_sigchld(&mask);
	return sigtimedwait(&mask, NULL, &left) > 0 || errno == EINTR;
}

/* Asks the next few threads to stop. Returns false if none are left. */
static bool ask_some(struct stopper *stopper, struct batch *batch)
{
	size_t chosen[BATCH];
	size_t count = 0;

	while (stopper->next < stopper->threads.count && count < BATCH) {
		struct traced *thread = &stopper->threads.items[stopper->next];

		if (thread->round != stopper->round)
			chosen[count++] = stopper->next;
		thread->round = stopper->round;
		stopper->next++;
	}
	for (size_t i = 0; i < count && stopper->flags & STOPPER_STATES; i++) {
		struct traced *thread = &stopper->threads.items[chosen[i]];

		read_state(thread);
		if (stopper->events.asking && !stopper->leaving)
			stopper->events.asking(stopper->events.self, thread->pid, thread->tid,
					       thread->state);
	}
	batch->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct traced *thread = &stopper->threads.items[chosen[i]];

		if (ask(thread))
			batch->tids[batch->count++] = thread->tid;
	}
	return count > 0;
}

/* Handles a notification of a thread that was asked to stop and has not stopped yet, if any. */
static bool take_asked(struct stopper *stopper, pid_t tid, bool *ret_left)
{
	const struct traced *thread = find(stopper, tid);
	bool taken = false;

	if (thread && thread->asked) {
		taken = take_notice(stopper, (size_t)(thread - stopper->threads.items));
		thread = find(stopper, tid);
	}
	*ret_left = thread && thread->asked;
	return taken;
}

/* Keeps those that have not stopped, and drops those that have. */
static void note_late(struct stopper *stopper, struct batch *batch)
{
	size_t kept = 0;
	bool left;

	for (size_t i = 0; i < batch->late_count; i++) {
		(void)take_asked(stopper, batch->late[i], &left);
		if (left)
			batch->late[kept++] = batch->late[i];
	}
	for (size_t i = 0; i < batch->count; i++) {
		const struct traced *thread = find(stopper, batch->tids[i]);

		if (thread && thread->asked)
			batch->late[kept < LATE ? kept++ : i] = batch->tids[i];
	}
	batch->late_count = kept;
}

/* Handles the notifications of a batch. Returns whether it is complete before the timeout. */
static bool collect(struct stopper *stopper, const struct batch *batch, uint64_t until_ns)
{
	for (;;) {
		size_t taken = 0;
		size_t left = 0;
		bool is_left;

		for (size_t i = 0; i < batch->count; i++) {
			taken += take_asked(stopper, batch->tids[i], &is_left);
			left += is_left;
		}
		if (left == 0)
			return true;
		if (taken == 0 && !wait_for_notice(until_ns))
			return false;
		if (clock_monotonic_ns() >= until_ns)
			return false;
	}
}

/* Stops every thread once, a few at a time. */
static void stop_each(struct stopper *stopper)
{
	uint64_t patience_ns = PATIENCE_NS;
	struct batch batch = {0};

	stopper->round++;
	stopper->next = 0;
	while (ask_some(stopper, &batch)) {
		uint64_t now_ns = clock_monotonic_ns();

		if (!collect(stopper, &batch, now_ns + patience_ns) &&
		    patience_ns / 2 >= LEAST_PATIENCE_NS)
			patience_ns /= 2;
		note_late(stopper, &batch);
		if (now_ns >= stopper->swept_ns + NEGLECT_NS + NEGLECT_SHARE * stopper->sweep_ns)
			(void)sweep(stopper);
	}
}

void stopper_round(struct stopper *stopper)
{
	stop_each(stopper);
	stopper_pump(stopper);
}

void stopper_pump(struct stopper *stopper)
{
	struct signalfd_siginfo info;

	/* Consumes the signal first: later notifications raise it again. */
	while (read(stopper->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
	/* An exec can move unchecked threads to positions that were already checked. */
	if (sweep(stopper) > 0)
		(void)sweep(stopper);
}

int stopper_fd(const struct stopper *stopper)
{
	return stopper->signal_fd;
}

size_t stopper_thread_count(const struct stopper *stopper)
{
	return stopper->threads.count;
}

const struct stop_times *stopper_times(const struct stopper *stopper)
{
	return &stopper->times;
}

/* Whether one of the remaining threads will stop as soon as it gets a CPU. */
static bool waits_for_cpu(struct stopper *stopper)
{
	for (size_t i = 0; i < stopper->threads.count; i++) {
		read_state(&stopper->threads.items[i]);
		if (stopper->threads.items[i].state == 'R')
			return true;
	}
	return false;
}

/* A thread that is left behind would stay stopped for as long as this process exists. */
static void wait_for_late(struct stopper *stopper)
{
	uint64_t last_ns = clock_monotonic_ns() + STARVED_NS;

	while (stopper->threads.count > 0 && clock_monotonic_ns() < last_ns &&
	       waits_for_cpu(stopper))
		if (sweep(stopper) == 0)
			(void)wait_for_notice(clock_monotonic_ns() + PATIENCE_NS);
}

void stopper_detach(struct stopper *stopper)
{
	uint64_t until_ns = clock_monotonic_ns() + FAREWELL_NS;

	stopper->leaving = true;
	for (size_t i = stopper->threads.count; i-- > 0;) {
		read_state(&stopper->threads.items[i]);
		if (stopper->threads.items[i].state == 'Z')
			forget(stopper, i); /* an ended leader whose other threads still run never
					       stops again */
	}
	stop_each(stopper);
	while (stopper->threads.count > 0 && clock_monotonic_ns() < until_ns)
		if (sweep(stopper) == 0)
			(void)wait_for_notice(until_ns); /* the loop looks at the time */
	wait_for_late(stopper);
}

static int note_suspended(struct stopper *stopper, const struct traced *thread)
{
	bool whole = stopper->flags & STOPPER_NEW_THREADS;

	for (size_t i = 0; whole && i < stopper->suspended.count; i++)
		if (stopper->suspended.items[i].pid == thread->pid) {
			stopper->suspended.items[i].own_child |= thread->own_child;
			return 0;
		}
	return vec_push(&stopper->suspended,
			(struct suspended){.pid = thread->pid,
					   .tid = whole ? thread->pid : thread->tid,
					   .own_child = thread->own_child});
}

int stopper_suspend(struct stopper *stopper, struct error *err)
{
	stopper->suspended.count = 0;
	for (size_t i = 0; i < stopper->threads.count; i++)
		if (!stopper->threads.items[i].unwanted &&
		    note_suspended(stopper, &stopper->threads.items[i]) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	stopper_detach(stopper);
	return 0;
}

int stopper_resume(struct stopper *stopper, struct error *err)
{
	const unsigned int flags = stopper->flags;
	int r = 0;

	stopper->leaving = false;
	for (size_t i = 0; i < stopper->suspended.count && r == 0; i++) {
		struct suspended was = stopper->suspended.items[i];

		if (!was.own_child)
			stopper->flags = flags & ~STOPPER_OWN_CHILD;
		if (flags & STOPPER_NEW_THREADS)
			r = stopper_attach_process(stopper, was.pid, err);
		else if (!find(stopper, was.tid)) /* one that could not be detached is still ours */
			r = stopper_attach_thread(stopper, was.pid, was.tid, err);
		stopper->flags = flags;
		if (r != -ESRCH)
			continue;
		r = 0;
		if (stopper->events.ended)
			stopper->events.ended(stopper->events.self, was.pid, was.tid);
	}
	return r;
}

void stopper_close(struct stopper *stopper)
{
	if (!stopper)
		return;
	if (!stopper->leaving)
		stopper_detach(stopper);
	while (stopper->threads.count > 0)
		forget(stopper, 0);
	vec_fini(&stopper->threads);
	tid_index_fini(&stopper->index);
	vec_fini(&stopper->suspended);
	if (stopper->signal_fd >= 0) {
		sigset_t mask;

		(void)close(stopper->signal_fd);
		(void)sigaction(SIGCHLD, &stopper->old_action, NULL); /* worked before */
		only_sigchld(&mask);
		if (!stopper->was_blocked)
			(void)sigprocmask(SIG_UNBLOCK, &mask, NULL); /* cannot fail */
	}
	free(stopper);
}
