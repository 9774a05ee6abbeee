/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/raw_stacks.h"

#include <errno.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/id_index.h"
#include "base/vec.h"
#include "language/language.h"
#include "model/sink.h"
#include "proc/maps.h"
#include "process_stacks/call_frames.h"
#include "process_stacks/language_merge.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/stack_cache.h"
#include "unwind/python_walk.h"

/* Code in no module may be a JIT's: reading maps for it repeatedly is useless. */
#define LEARN_NS (100 * NS_PER_MS)

/* A region of a process that was reported to the tracker. */
struct told_region {
	pid_t pid;
	uint64_t hash;
};

struct raw_stacks {
	struct sink *sink;
	struct process_tracker *tracker;
	struct stack_cache *cache;
	VEC(struct told_region) told;
	VEC(struct frame) frames;
	VEC(uint64_t) merged; /* a stack with the calls of an interpreter, or both as a key */
	pid_t learnt_pid;     /* whose maps were read last */
	uint64_t learnt_ns;
};

struct raw_stacks *raw_stacks_new(struct sink *sink, struct process_tracker *tracker)
{
	struct raw_stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	stacks->sink = sink;
	stacks->tracker = tracker;
	stacks->cache = stack_cache_new();
	if (stacks->cache)
		return stacks;
	free(stacks);
	return NULL;
}

void raw_stacks_free(struct raw_stacks *stacks)
{
	if (!stacks)
		return;
	stack_cache_free(stacks->cache);
	vec_fini(&stacks->told);
	vec_fini(&stacks->frames);
	vec_fini(&stacks->merged);
	free(stacks);
}

static uint64_t hash_region(const struct map_region *region)
{
	uint64_t hash = hash_pair(region->start, region->end);

	hash = hash_pair(hash, region->file_offset);
	hash = hash_pair(hash, region->inode);
	for (const char *at = region->path; *at; at++)
		hash = hash * 31 + (unsigned char)*at;
	return hash;
}

static bool was_told(const struct raw_stacks *stacks, size_t count, struct told_region region)
{
	for (size_t i = 0; i < count; i++)
		if (stacks->told.items[i].pid == region.pid &&
		    stacks->told.items[i].hash == region.hash)
			return true;
	return false;
}

/* Forgets those of the first count reported regions that belong to a process. */
static void forget_told(struct raw_stacks *stacks, size_t count, pid_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < stacks->told.count; i++)
		if (i >= count || stacks->told.items[i].pid != pid)
			stacks->told.items[kept++] = stacks->told.items[i];
	stacks->told.count = kept;
}

/*
 * Reports code to the tracker that it does not know. It is unknown when code appeared where nothing
 * was, except that it was there before a stack referred to it. Returns 2 if anything replaced
 * something else, 1 if other code was found, 0 if nothing was, and -EAGAIN if the same process was
 * just read.
 */
static int learn(struct raw_stacks *stacks, pid_t pid, uint64_t since_ns)
{
	uint64_t now_ns = clock_monotonic_ns();
	uint64_t changed_ns = since_ns > 0 && since_ns < now_ns ? since_ns : now_ns;
	size_t told_count = stacks->told.count;
	struct tracked_process *process;
	struct maps maps = {0};
	uint32_t thread;
	int learnt = 0;

	if (pid == stacks->learnt_pid && now_ns < stacks->learnt_ns + LEARN_NS)
		return -EAGAIN;
	stacks->learnt_pid = pid;
	stacks->learnt_ns = now_ns;
	/* A known process is reported with its first mapping, which shows its program. */
	process = process_tracker_find(stacks->tracker, pid);
	if ((!process &&
	     process_tracker_sample(stacks->tracker, pid, pid, &process, &thread) < 0) ||
	    maps_read(&maps, pid, MAPS_EXECUTABLE_ONLY, NULL) < 0)
		maps.count = 0; /* it has ended */
	for (size_t i = 0; i < maps.count; i++) {
		const struct map_region *region = &maps.items[i];
		struct told_region told = {pid, hash_region(region)};
		bool is_free =
			tracked_process_frame(process, now_ns, region->start).a == MODULE_NONE;

		if (region->kind == REGION_VSYSCALL)
			continue;
		if (is_free || !was_told(stacks, told_count, told)) {
			process_tracker_map(stacks->tracker, is_free ? 0 : changed_ns, pid, region,
					    NULL);
			learnt = learnt == 2 || !is_free ? 2 : 1;
		}
		(void)vec_push(&stacks->told, told); /* if it fails, it is just reported again */
	}
	forget_told(stacks, told_count, pid);
	maps_fini(&maps);
	return learnt;
}

/* Fills in the frames of a stack, root first. Returns how many are in no module. */
static size_t resolve(struct raw_stacks *stacks, const struct tracked_process *process,
		      const struct raw_stack *stack)
{
	size_t unknown = 0;
	uint32_t i;

	stacks->frames.count = 0;
	if (stack->end != UNWIND_ROOT)
		stacks->frames.items[stacks->frames.count++] =
			(struct frame){.kind = FRAME_TRUNCATED};
	for (i = stack->count; i-- > 0;) {
		struct frame frame = {.kind = FRAME_TRUNCATED};

		if (python_is_word(stack->pcs[i])) {
			/* A program that damages its ring may have calls and no interpreter. */
			if (!stack->interpreter ||
			    !call_frame(stacks->sink, stack->interpreter, stack->pcs[i], &frame))
				continue;
		} else if (stack->pcs[i] != RAW_STACK_GAP) {
			frame = tracked_process_frame(process, stack->time_ns, stack->pcs[i]);
			unknown += frame.a == MODULE_NONE;
		}
		stacks->frames.items[stacks->frames.count++] = frame;
	}
	for (i = stack->kernel_count; i-- > 0;)
		stacks->frames.items[stacks->frames.count++] =
			process_tracker_kernel_frame(stacks->tracker, stack->kernel_pcs[i]);
	return unknown;
}

/* Puts the calls of an interpreter into a stack that has room for them. */
static void merge_calls(struct raw_stacks *stacks, struct raw_stack *stack)
{
	struct language_merge merge = {
		.pcs = stack->pcs,
		.count = stack->count,
		.words = stack->words,
		.word_count = stack->word_count,
		.whole = stack->end == UNWIND_ROOT && !stack->words_cut,
		.only = stack->words_only,
	};
	uint32_t count;

	merge.loops = interpreter_loops(stack->interpreter, &merge.loop_count);
	count = language_merge(&merge, stacks->merged.items);
	stack->word_count = 0;
	if (count == 0)
		return; /* no loop: the native frames are shown */
	stack->pcs = stacks->merged.items;
	stack->count = count;
	if (!stack->words_only)
		return;
	stack->kernel_count = 0;
	stack->end = stack->words_cut ? UNWIND_DEPTH : UNWIND_ROOT;
}

/* *ret_settled: another attempt would give the same result. */
static uint32_t intern(struct raw_stacks *stacks, const struct tracked_process *process,
		       const struct raw_stack *stack, bool *ret_settled)
{
	struct raw_stack merged = *stack;
	uint32_t id;
	int r = 0;

	if (vec_reserve(&stacks->frames,
			stack->count + stack->word_count + stack->kernel_count + 1) < 0 ||
	    vec_reserve(&stacks->merged, stack->count + stack->word_count) < 0)
		return ID_NONE;
	if (stack->word_count > 0) {
		merge_calls(stacks, &merged);
		stack = &merged;
	}
	/* What the walk recognised as code is mapped, even if the tracker does not know it. */
	if (resolve(stacks, process, stack) > 0)
		r = learn(stacks, stack->pid, 0);
	if (r > 0)
		(void)resolve(stacks, process, stack);
	*ret_settled = r >= 0;
	return sink_stack(stacks->sink, stacks->frames.items, stacks->frames.count, &id) < 0
		       ? ID_NONE
		       : id;
}

uint32_t raw_stacks_id(struct raw_stacks *stacks, const struct tracked_process *process,
		       const struct raw_stack *stack)
{
	/* Where a walk ended is part of the stack. */
	uint64_t context = hash_pair(tracked_process_context(process, stack->time_ns),
				     stack->end == UNWIND_ROOT);
	bool settled = false;
	uint32_t id;

	/* So are the kernel's frames and an interpreter's calls: they are part of the context. */
	for (uint32_t i = 0; i < stack->kernel_count; i++)
		context = hash_pair(context, stack->kernel_pcs[i]);
	if (stack->word_count > 0)
		context = hash_pair(context, interpreter_generation(stack->interpreter));
	for (uint32_t i = 0; i < stack->word_count; i++)
		context = hash_pair(context, stack->words[i]);
	id = stack_cache_find(stacks->cache, context, stack->pcs, stack->count);

	if (id != ID_NONE)
		return id;
	id = intern(stacks, process, stack, &settled);
	if (id != ID_NONE && settled)
		stack_cache_add(stacks->cache, context, stack->pcs, stack->count, id);
	return id;
}

bool raw_stacks_learn(struct raw_stacks *stacks, pid_t pid, uint64_t since_ns)
{
	stacks->learnt_pid = 0;
	return learn(stacks, pid, since_ns) == 2;
}

void raw_stacks_forget(struct raw_stacks *stacks, pid_t pid)
{
	forget_told(stacks, stacks->told.count, pid);
}

int raw_stacks_trim(struct raw_stacks *stacks, struct error *err)
{
	int r = sink_trim(stacks->sink, err);

	if (r > 0)
		stack_cache_clear(stacks->cache);
	return r;
}

uint64_t raw_stacks_unique(const struct raw_stacks *stacks)
{
	return stack_cache_added(stacks->cache);
}
