/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/thread_names.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/vec.h"
#include "language/language.h"
#include "proc/process_info.h"
#include "proc/thread_status.h"
#include "process_stacks/interpreters.h"
#include "process_stacks/process_tracker.h"

/* Soon after a thread is new, because it has just set its name; then less and less often. */
#define FIRST_NS (10 * NS_PER_MS)
#define LAST_NS NS_PER_SEC
/* Reading takes at most this share of the time: for new threads, and again. */
#define NEW_SHARE 20u
#define AGAIN_SHARE 100u

/* A process with several threads. */
struct named_process {
	uint32_t number;
	uint64_t step_ns;
	uint64_t new_due_ns; /* for a new thread it is read from then on, */
	uint64_t due_ns;     /* and from then on anyway */
};

struct thread_names {
	struct process_tracker *tracker;
	const struct interpreters *interpreters;
	bool by_pid;
	VEC(struct named_process) processes;
};

/* One reading of one process. */
struct reading {
	struct thread_names *names;
	const struct tracked_process *process;
	struct pid_list threads; /* of a process in another pid namespace */
	bool is_inside;          /* in another pid namespace */
};

/* The id that a thread has here; 0: it is gone. */
static pid_t outer_tid(const struct reading *reading, pid_t inner)
{
	pid_t found;

	if (!reading->is_inside)
		return inner;
	for (size_t i = 0; i < reading->threads.count; i++)
		if (thread_inner_tid(reading->threads.items[i], &found) == 0 && found == inner)
			return reading->threads.items[i];
	return 0;
}

static void on_name(void *self, uint32_t tid, const char *name)
{
	const struct reading *reading = self;
	pid_t outer = outer_tid(reading, (pid_t)tid);

	if (outer > 0)
		process_tracker_name(reading->names->tracker, reading->process, outer, name);
}

static void read_names(struct thread_names *names, struct interpreter *interpreter,
		       const struct tracked_process *process)
{
	struct reading reading = {.names = names, .process = process};
	pid_t pid = tracked_process_pid(process);
	pid_t inner = pid;

	reading.is_inside = thread_inner_tid(pid, &inner) == 0 && inner != pid;
	if (reading.is_inside && process_list_threads(pid, &reading.threads, NULL) < 0)
		reading.threads.count = 0; /* it has ended */
	interpreter_thread_names(interpreter, pid, on_name, &reading);
	vec_fini(&reading.threads);
}

static struct named_process *find(struct thread_names *names, uint32_t number)
{
	/* The newest are sampled most. */
	for (size_t i = names->processes.count; i-- > 0;)
		if (names->processes.items[i].number == number)
			return &names->processes.items[i];
	return NULL;
}

/* Drops those whose interpreters are gone, so that there are no more than of these. */
static void forget_ended(struct thread_names *names)
{
	for (size_t i = names->processes.count; i-- > 0;)
		if (!interpreters_of(names->interpreters, names->processes.items[i].number))
			names->processes.items[i] =
				names->processes.items[--names->processes.count];
}

static struct named_process *find_or_add(struct thread_names *names, uint32_t number)
{
	struct named_process *known = find(names, number);

	if (known)
		return known;
	forget_ended(names);
	if (vec_push(&names->processes,
		     (struct named_process){.number = number, .step_ns = FIRST_NS}) < 0)
		return NULL;
	return &names->processes.items[names->processes.count - 1];
}

static void look(void *self, const struct tracked_process *process, bool is_new)
{
	struct thread_names *names = self;
	uint32_t number = names->by_pid ? (uint32_t)tracked_process_pid(process)
					: tracked_process_number(process);
	struct interpreter *interpreter = interpreters_of(names->interpreters, number);
	struct named_process *known;
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t begin_ns;
	uint64_t cost_ns;

	known = interpreter ? find_or_add(names, number) : NULL;
	if (!known || now_ns < (is_new ? known->new_due_ns : known->due_ns))
		return;
	begin_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	read_names(names, interpreter, process);
	cost_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	log_debug("read the names of threads of process %d in %.2f ms of CPU time",
		  (int)tracked_process_pid(process), (double)cost_ns / NS_PER_MS);
	if (is_new)
		known->step_ns = FIRST_NS;
	known->new_due_ns = now_ns + cost_ns * NEW_SHARE;
	known->due_ns = now_ns + (cost_ns * AGAIN_SHARE > known->step_ns ? cost_ns * AGAIN_SHARE
									 : known->step_ns);
	known->step_ns = known->step_ns * 2 < LAST_NS ? known->step_ns * 2 : LAST_NS;
}

struct thread_names *thread_names_new(struct process_tracker *tracker,
				      const struct interpreters *interpreters, bool by_pid)
{
	struct thread_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->tracker = tracker;
	names->interpreters = interpreters;
	names->by_pid = by_pid;
	process_tracker_set_namer(tracker, &(struct thread_namer){look, names});
	return names;
}

void thread_names_free(struct thread_names *names)
{
	if (!names)
		return;
	vec_fini(&names->processes);
	free(names);
}
