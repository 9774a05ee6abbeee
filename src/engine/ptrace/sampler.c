/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ptrace/sampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "engine/ptrace/stopper.h"
#include "engine/unwinder.h"
#include "language/language.h"
#include "proc/kernel_stack.h"
#include "proc/maps.h"
#include "process_stacks/interpreters.h"
#include "process_stacks/language_merge.h"
#include "process_stacks/registers.h"
#include "unwind/python_walk.h"

/* Time to build tables before attaching. Missing ones are built when a walk needs them, */
#define PREPARE_NS NS_PER_SEC
/* or after a round, in small portions, because signals to the target wait meanwhile. */
#define PREPARE_MORE_NS (10 * NS_PER_MS)
/* Reading maps again takes at most a hundredth of the time. */
#define REFRESH_SHARE 100
/* Checking whether code was mapped or unmapped takes at most a fiftieth. */
#define LOOK_SHARE 50
#define LOOK_MOST_NS (10 * NS_PER_MS)
#define SYSCALL_MAX_BYTES 4 /* an instruction that enters the kernel */

struct watched {
	pid_t pid;
	struct unwinder_process *process;
	struct interpreter *interpreter; /* NULL: none */
	bool ready;                      /* all tables are built */
	bool stale;                      /* a walk reached an address outside the known maps */
	uint64_t refresh_ns;
	uint64_t fingerprint; /* of the executable maps; 0: not taken yet */
};

struct taken {
	struct stopped_thread thread;
	size_t first; /* of pcs */
	uint32_t count;
	size_t kernel_first; /* of pcs */
	uint32_t kernel_count;
	uint32_t word_count; /* after the native ones */
	bool words_cut;
	bool waits_for_lock;
	enum unwind_end end;
};

/* A thread that slept just before it was asked to stop. */
struct asleep {
	pid_t tid;
	uint64_t user_pc;
	size_t first; /* of texts */
	size_t size;
};

struct sampler {
	struct sampler_config config;
	struct stopper *stopper;
	struct unwinder *unwinder;
	VEC(struct watched) watched;
	size_t look_next;    /* of watched */
	uint64_t look_ns;    /* time of the last check for changes */
	int64_t look_credit; /* nanoseconds that may be spent on checks */
	VEC(struct taken) taken;
	VEC(uint64_t) pcs;
	VEC(uint64_t) merged;                  /* with calls in place */
	struct interpreters *own_interpreters; /* NULL: not asked for */
	VEC(struct asleep) asleep;
	VEC(char) texts; /* of /proc/TID/stack */
	int failure;     /* why a walk could not start */
};

static void scope_release_sampler(struct sampler **sampler)
{
	sampler_close(*sampler);
}

static struct watched *find(struct sampler *sampler, pid_t pid)
{
	for (size_t i = 0; i < sampler->watched.count; i++)
		if (sampler->watched.items[i].pid == pid)
			return &sampler->watched.items[i];
	return NULL;
}

/* Looks for an interpreter in what a process has mapped. */
static void look_for_interpreter(struct sampler *sampler, struct watched *watched)
{
	if (sampler->config.interpreters && !watched->interpreter)
		watched->interpreter = interpreters_look(sampler->config.interpreters,
							 (uint32_t)watched->pid, watched->pid);
}

static int watch(struct sampler *sampler, pid_t pid, uint64_t prepare_ns, struct error *err)
{
	struct watched watched = {.pid = pid};
	int r;

	if (find(sampler, pid))
		return 0;
	r = unwinder_process_open(sampler->unwinder, pid, &watched.process, err);
	if (r < 0)
		return r;
	if (sampler->config.frame_pointers)
		unwinder_process_without_tables(watched.process);
	/* Taken after the maps: changes in between are found at the next comparison. */
	watched.fingerprint = maps_code_fingerprint(pid);
	look_for_interpreter(sampler, &watched);
	watched.ready =
		unwinder_process_prepare(watched.process, clock_monotonic_ns() + prepare_ns);
	if (vec_push(&sampler->watched, watched) < 0) {
		unwinder_process_close(watched.process);
		return error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/* No thread is stopped yet. What cannot be read is left out. */
static void on_asking(void *self, pid_t pid, pid_t tid, char state)
{
	struct sampler *sampler = self;
	struct kernel_stack stack;
	struct asleep asleep = {.tid = tid, .first = sampler->texts.count};

	/* The stack of a running thread changes: the kernel would show old contents. */
	if (state != 'S' && state != 'D')
		return;
	if (kernel_stack_read(pid, tid, &stack) < 0 ||
	    vec_reserve(&sampler->texts, sampler->texts.count + stack.size) < 0)
		return;
	asleep.user_pc = stack.user_pc;
	asleep.size = stack.size;
	if (vec_push(&sampler->asleep, asleep) < 0)
		return;
	memcpy(sampler->texts.items + sampler->texts.count, stack.text, stack.size);
	sampler->texts.count += stack.size;
}

/*
 * Whether a thread that slept waits for the global lock: its system call waits for a word of it.
 * If it was woken before it stopped, the registers are no longer those of the call.
 */
static bool is_waiting_for_lock(const struct watched *watched, const struct stopped_thread *thread)
{
	struct language_range lock;
	uint64_t number;
	uint64_t address;

	return thread->state == 'S' && registers_system_call(thread->tid, &number, &address) == 0 &&
	       (number == SYS_futex || number == SYS_restart_syscall) &&
	       interpreter_lock(watched->interpreter, thread->pid, &lock) &&
	       address >= lock.start && address < lock.end;
}

/* Adds the calls of an interpreter to the stack that was just walked. */
static void take_calls(struct sampler *sampler, const struct watched *watched, struct taken *taken)
{
	uint64_t thread_pointer;
	int end;

	if (!watched->interpreter ||
	    registers_thread_pointer(taken->thread.tid, &thread_pointer) < 0)
		return;
	end = interpreter_walk(watched->interpreter, taken->thread.tid, thread_pointer,
			       sampler->pcs.items + sampler->pcs.count, sampler->config.depth,
			       &taken->word_count);
	taken->words_cut = end == PYTHON_DEPTH;
	sampler->pcs.count += taken->word_count;
	interpreters_count(sampler->config.interpreters, end, taken->word_count);
	taken->waits_for_lock = is_waiting_for_lock(watched, &taken->thread);
}

/* A thread is stopped: this must be quick. */
static void on_stopped(void *self, const struct stopped_thread *thread)
{
	struct sampler *sampler = self;
	struct watched *watched = find(sampler, thread->pid);
	struct unwind_trace trace = {.capacity = sampler->config.depth};
	struct taken taken = {.thread = *thread, .first = sampler->pcs.count};
	int r;

	if (!watched)
		return;
	if (vec_reserve(&sampler->pcs, sampler->pcs.count + 2 * (size_t)trace.capacity) < 0 ||
	    vec_reserve(&sampler->taken, sampler->taken.count + 1) < 0) {
		sampler->failure = -ENOMEM;
		return;
	}
	trace.pcs = sampler->pcs.items + sampler->pcs.count;
	r = unwinder_walk_thread(watched->process, thread->tid, &trace);
	if (r < 0) {
		if (r != -ESRCH) /* killed while it was stopped */
			sampler->failure = r;
		return;
	}
	watched->stale |= r > 0;
	watched->stale |= trace.end != UNWIND_ROOT && trace.end != UNWIND_DEPTH;
	taken.count = trace.count;
	taken.end = trace.end;
	sampler->pcs.count += trace.count;
	take_calls(sampler, watched, &taken);
	sampler->taken.items[sampler->taken.count++] = taken;
}

static void on_started(void *self, pid_t pid, pid_t tid, pid_t parent_pid, pid_t parent_tid)
{
	struct sampler *sampler = self;

	/* Without maps a process has samples but no stacks. */
	(void)watch(sampler, pid, 0, NULL);
	if (sampler->config.started)
		sampler->config.started(sampler->config.self, pid, tid, parent_pid, parent_tid);
}

static void on_execed(void *self, pid_t pid)
{
	struct sampler *sampler = self;
	struct watched *watched = find(sampler, pid);

	if (watched) {
		watched->stale = true;
		watched->refresh_ns = 0;
		watched->interpreter = NULL;
	}
	if (sampler->config.interpreters)
		interpreters_forget(sampler->config.interpreters, (uint32_t)pid);
	if (sampler->config.execed)
		sampler->config.execed(sampler->config.self, pid);
}

static void on_ended(void *self, pid_t pid, pid_t tid)
{
	struct sampler *sampler = self;
	struct watched *watched = find(sampler, pid);

	if (watched && pid == tid) {
		unwinder_process_close(watched->process);
		*watched = sampler->watched.items[--sampler->watched.count];
	}
	if (sampler->config.interpreters && pid == tid)
		interpreters_forget(sampler->config.interpreters, (uint32_t)pid);
	if (sampler->config.ended)
		sampler->config.ended(sampler->config.self, pid, tid);
}

int sampler_open(const struct sampler_config *config, struct sampler **ret, struct error *err)
{
	SCOPED(sampler) struct sampler *sampler = calloc(1, sizeof(*sampler));
	struct stopper_events events = {.stopped = on_stopped,
					.started = on_started,
					.execed = on_execed,
					.ended = on_ended,
					.self = sampler};
	int r;

	if (!sampler)
		return error_set(err, -ENOMEM, "out of memory");
	sampler->config = *config;
	sampler->look_ns = clock_monotonic_ns();
	sampler->unwinder = unwinder_new();
	if (!sampler->unwinder)
		return error_set(err, -ENOMEM, "out of memory");
	if (config->calls_in_place)
		sampler->own_interpreters = sampler->config.interpreters = interpreters_new();
	if (config->kernel_address)
		events.asking = on_asking;
	r = stopper_open(config->flags, &events, &sampler->stopper, err);
	if (r < 0)
		return r;
	*ret = scope_take(&sampler);
	return 0;
}

/* Attaching gives the best error messages, so it comes first. */
int sampler_attach_process(struct sampler *sampler, pid_t pid, struct error *err)
{
	int prepared = watch(sampler, pid, PREPARE_NS, NULL);
	int r = stopper_attach_process(sampler->stopper, pid, err);

	return r < 0 || prepared == 0 ? r : watch(sampler, pid, 0, err);
}

int sampler_attach_thread(struct sampler *sampler, pid_t pid, pid_t tid, struct error *err)
{
	int prepared = watch(sampler, pid, PREPARE_NS, NULL);
	int r = stopper_attach_thread(sampler->stopper, pid, tid, err);

	return r < 0 || prepared == 0 ? r : watch(sampler, pid, 0, err);
}

/* Reads the maps of a process again. */
static void read_anew(struct sampler *sampler, struct watched *watched)
{
	watched->stale = false;
	if (unwinder_process_refresh(watched->process, NULL) < 0)
		return; /* it has ended */
	watched->ready = false;
	look_for_interpreter(sampler, watched);
	if (sampler->config.remapped)
		sampler->config.remapped(sampler->config.self, watched->pid);
}

/*
 * What reading maps costs is CPU time of this thread: on a busy machine the time that passes would
 * use up its share at once, and stacks would miss the frames of libraries loaded since.
 */
static uint64_t spent_ns(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/*
 * If a library was unloaded and another loaded in its place, addresses change their meaning without
 * any walk failing. So this checks for changes before threads are stopped.
 */
static void look_for_changes(struct sampler *sampler)
{
	uint64_t now_ns = clock_monotonic_ns();

	sampler->look_credit += (int64_t)((now_ns - sampler->look_ns) / LOOK_SHARE);
	if (sampler->look_credit > (int64_t)LOOK_MOST_NS)
		sampler->look_credit = LOOK_MOST_NS;
	sampler->look_ns = now_ns;
	for (size_t n = sampler->watched.count; n > 0 && sampler->look_credit > 0; n--) {
		struct watched *watched =
			&sampler->watched.items[sampler->look_next++ % sampler->watched.count];
		uint64_t start_ns = spent_ns();
		uint64_t fingerprint = maps_code_fingerprint(watched->pid);
		bool changed = fingerprint != 0 && fingerprint != watched->fingerprint;

		if (changed) {
			watched->fingerprint = fingerprint;
			read_anew(sampler, watched);
		}
		sampler->look_credit -= (int64_t)(spent_ns() - start_ns);
		if (changed) /* tables are built once: no part of the cost of looking */
			watched->ready = unwinder_process_prepare(
				watched->process, clock_monotonic_ns() + PREPARE_MORE_NS);
	}
}

/* Reads new mappings, now that no thread is stopped. */
static void refresh(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->watched.count; i++) {
		struct watched *watched = &sampler->watched.items[i];
		uint64_t now_ns = clock_monotonic_ns();
		uint64_t cost_ns;

		if (!watched->ready)
			watched->ready = unwinder_process_prepare(watched->process,
								  now_ns + PREPARE_MORE_NS);
		if (!watched->stale || now_ns < watched->refresh_ns)
			continue;
		cost_ns = spent_ns();
		read_anew(sampler, watched);
		cost_ns = spent_ns() - cost_ns;
		watched->refresh_ns = clock_monotonic_ns() + cost_ns * REFRESH_SHARE;
	}
}

/*
 * Whether a stopped thread is where it slept. If it was woken in between, it is elsewhere; if its
 * system call will be restarted, it is before the instruction again.
 */
static bool is_same_place(const struct asleep *asleep, uint64_t pc)
{
	return pc <= asleep->user_pc && asleep->user_pc - pc <= SYSCALL_MAX_BYTES;
}

static const struct asleep *find_asleep(const struct sampler *sampler, pid_t tid)
{
	for (size_t i = 0; i < sampler->asleep.count; i++)
		if (sampler->asleep.items[i].tid == tid)
			return &sampler->asleep.items[i];
	return NULL;
}

/* Appends the kernel part of a stack after all others. */
static void add_kernel_part(struct sampler *sampler, struct taken *taken)
{
	const struct sampler_config *config = &sampler->config;
	const struct asleep *asleep = find_asleep(sampler, taken->thread.tid);
	struct kernel_stack_entry entry;
	const char *at, *end;

	taken->kernel_first = sampler->pcs.count;
	if (!asleep || taken->count == 0 ||
	    !is_same_place(asleep, sampler->pcs.items[taken->first]))
		return;
	at = sampler->texts.items + asleep->first;
	end = at + asleep->size;
	while (kernel_stack_next(&at, end, &entry)) {
		uint64_t start = config->kernel_address(config->kernel_self, entry.name, NULL);

		if (start != 0 && vec_push(&sampler->pcs, start + entry.offset) == 0)
			taken->kernel_count++;
	}
}

static void put_calls_in_place(struct sampler *sampler, struct stack_sample *sample)
{
	struct language_merge merge = {
		.pcs = sample->pcs,
		.count = sample->count,
		.words = sample->words,
		.word_count = sample->word_count,
		.whole = sample->end == UNWIND_ROOT && !sample->words_cut,
		.only = sampler->config.calls_only,
	};
	uint32_t count;

	merge.loops = interpreter_loops(sample->interpreter, &merge.loop_count);
	sample->word_count = 0;
	if (vec_reserve(&sampler->merged, merge.count + merge.word_count) < 0)
		return; /* native frames are shown */
	count = language_merge(&merge, sampler->merged.items);
	if (count == 0)
		return;
	sample->pcs = sampler->merged.items;
	sample->count = count;
}

/* Fills in the calls of a sample, unless its process ended or became another since. */
static void give_calls(struct sampler *sampler, const struct taken *taken, struct stack_sample *ret)
{
	if (taken->word_count == 0)
		return;
	ret->interpreter =
		interpreters_of(sampler->config.interpreters, (uint32_t)taken->thread.pid);
	if (!ret->interpreter)
		return;
	ret->words = sampler->pcs.items + taken->first + taken->count;
	ret->word_count = taken->word_count;
	ret->words_cut = taken->words_cut;
	if (sampler->config.calls_in_place)
		put_calls_in_place(sampler, ret);
}

bool sampler_call(const struct stack_sample *sample, uint32_t i, struct sampler_call *ret)
{
	struct language_place place = {0};

	if (!python_is_word(sample->pcs[i]))
		return false;
	*ret = (struct sampler_call){.code = python_word_code(sample->pcs[i])};
	if (interpreter_name(sample->interpreter, sample->pcs[i], &place) > 0) {
		ret->function = place.function;
		ret->file = place.file;
		ret->line = place.line;
	}
	return true;
}

/* Passes on the samples. */
static int deliver(struct sampler *sampler, struct error *err)
{
	int r = 0;

	if (sampler->failure == -EOPNOTSUPP)
		return error_advise(err,
				    error_set(err, sampler->failure,
					      "cannot walk the stacks of 32-bit programs"),
				    "use --engine perf, which follows their frame pointers");
	if (sampler->failure < 0)
		return error_errno(err, sampler->failure,
				   "the ptrace engine cannot read a stopped thread");
	refresh(sampler);
	for (size_t i = 0; i < sampler->taken.count; i++)
		add_kernel_part(sampler, &sampler->taken.items[i]);
	for (size_t i = 0; i < sampler->taken.count && r == 0; i++) {
		const struct taken *taken = &sampler->taken.items[i];
		struct stack_sample sample = {
			.pid = taken->thread.pid,
			.tid = taken->thread.tid,
			.state = taken->thread.state,
			.waits_for_lock = taken->waits_for_lock,
			.time_ns = taken->thread.asked_ns,
			.since_ns = taken->thread.since_ns,
			.pcs = sampler->pcs.items + taken->first,
			.count = taken->count,
			.end = taken->end,
			.kernel_pcs = sampler->pcs.items + taken->kernel_first,
			.kernel_count = taken->kernel_count,
		};

		give_calls(sampler, taken, &sample);
		r = sampler->config.taken(sampler->config.self, &sample, err);
	}
	sampler->taken.count = 0;
	sampler->pcs.count = 0;
	sampler->asleep.count = 0;
	sampler->texts.count = 0;
	return r;
}

int sampler_round(struct sampler *sampler, struct error *err)
{
	look_for_changes(sampler);
	stopper_round(sampler->stopper);
	return deliver(sampler, err);
}

int sampler_pump(struct sampler *sampler, struct error *err)
{
	stopper_pump(sampler->stopper);
	return deliver(sampler, err);
}

int sampler_fd(const struct sampler *sampler)
{
	return stopper_fd(sampler->stopper);
}

size_t sampler_thread_count(const struct sampler *sampler)
{
	return stopper_thread_count(sampler->stopper);
}

const struct stop_times *sampler_times(const struct sampler *sampler)
{
	return stopper_times(sampler->stopper);
}

int sampler_suspend(struct sampler *sampler, struct error *err)
{
	return stopper_suspend(sampler->stopper, err);
}

int sampler_resume(struct sampler *sampler, struct error *err)
{
	return stopper_resume(sampler->stopper, err);
}

void sampler_detach(struct sampler *sampler)
{
	stopper_detach(sampler->stopper);
}

void sampler_close(struct sampler *sampler)
{
	if (!sampler)
		return;
	stopper_close(sampler->stopper);
	for (size_t i = 0; i < sampler->watched.count; i++)
		unwinder_process_close(sampler->watched.items[i].process);
	vec_fini(&sampler->watched);
	vec_fini(&sampler->taken);
	vec_fini(&sampler->pcs);
	vec_fini(&sampler->merged);
	interpreters_free(sampler->own_interpreters);
	vec_fini(&sampler->asleep);
	vec_fini(&sampler->texts);
	unwinder_free(sampler->unwinder);
	free(sampler);
}
