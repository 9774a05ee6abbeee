/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/chain.h"

#include <errno.h>
#include <string.h>

#include "language/language.h"
#include "perf_records/perf_record.h"
#include "process_stacks/call_frames.h"
#include "process_stacks/interpreters.h"
#include "process_stacks/language_merge.h"
#include "process_stacks/process_tracker.h"
#include "process_stacks/registers.h"
#include "process_stacks/user_stack.h"
#include "unwind/arch/native.h"
#include "unwind/python_walk.h"
#include "unwind/walk.h"

uint64_t chain_count_addresses(const struct sample_record *sample)
{
	uint64_t n = 0;
	uint64_t i;

	for (i = 0; i < sample->count; i++)
		n += !perf_is_mark(sample->chain[i]);
	return n;
}

bool chain_is_cut(const struct sample_record *sample)
{
	return sample->count > 0 && sample->chain[sample->count - 1] == PERF_MARK_CUT;
}

/* How many entries of a chain are the kernel's. */
static uint64_t kernel_entries(const struct sample_record *sample)
{
	uint64_t n = 0;

	while (n < sample->count && sample->chain[n] != (uint64_t)PERF_CONTEXT_USER)
		n++;
	return n < MAX_CHAIN / 2 ? n : MAX_CHAIN / 2;
}

/* Frames that a walk by frame pointers may miss at the leaf: those without a frame record. */
#define MAX_MISSED 8

/*
 * Whether the kernel's chain, which missed that many frames after the leaf, agrees with everything
 * that the tables have found. Comparing everything prevents mistaking one level of a recursion,
 * which repeats the same address, for another.
 */
static bool agrees(const uint64_t *chain, uint64_t count, const struct unwind_trace *trace,
		   uint64_t missed, uint64_t *ret_skipped)
{
	uint64_t skipped = 0;
	uint64_t i;

	/*
	 * Not even the first frame fits into the copy, or the caller of a leaf without a frame: it
	 * is a large frame and complete, or its return address would not be that far up, so its
	 * record can be trusted.
	 */
	*ret_skipped = 0;
	if (trace->count <= 2)
		return count > 1 && missed == (trace->count == 2 && chain[1] != trace->pcs[1]);
	if (trace->count < missed + 2 || count <= trace->count - 1 - missed)
		return false;
	for (i = 1; i + missed + skipped < trace->count; i++) {
		if (chain[i] == trace->pcs[i + missed + skipped])
			continue;
		/* A signal's trampoline, stored plus one: what it interrupted has no record. */
		if (chain[i] != trace->pcs[i + missed + skipped] - 1)
			return false;
		skipped++;
	}
	/* The interrupted frame may be all that is left to compare. */
	*ret_skipped = i + missed + skipped > trace->count ? skipped - 1 : skipped;
	return true;
}

/*
 * A stack larger than the copy: the kernel's own walk, by frame pointers, shows how it continues if
 * both agree on what both have seen.
 */
static void continue_by_frame_pointers(const struct chain_walk *walk,
				       const struct sample_record *sample,
				       struct unwind_trace *trace)
{
	uint64_t from = kernel_entries(sample) + 1; /* after the mark */
	const uint64_t *chain = sample->chain + from;
	uint64_t count = sample->count > from ? sample->count - from : 0;
	uint64_t missed = 0;
	uint64_t skipped = 0;
	uint64_t i;

	while (missed <= MAX_MISSED && !agrees(chain, count, trace, missed, &skipped))
		missed++;
	if (missed > MAX_MISSED)
		return;
	for (i = trace->count - missed - skipped; i < count && trace->count < trace->capacity; i++)
		if (chain[i] != 0)
			trace->pcs[trace->count++] = chain[i];
	trace->end = chain_count_addresses(sample) < walk->chain_depth ? UNWIND_ROOT : UNWIND_DEPTH;
}

int chain_walk_copy(struct chain_walk *walk, const struct tracked_process *process,
		    struct sample_record *sample)
{
	uint64_t kernel_count = kernel_entries(sample);
	struct unwind_trace trace = {.pcs = walk->chain + kernel_count + 1,
				     .capacity = walk->depth,
				     .end = UNWIND_UNREADABLE};
	struct registers registers;
	uint64_t room = MAX_CHAIN - kernel_count - 2;

	/*
	 * A kernel thread has no user part; nor has a program during its exec, when its old stack
	 * is gone and the new one does not exist yet.
	 */
	if (!sample->registers || (sample->stack_bytes == 0 && kernel_count > 0)) {
		sample->count = kernel_count;
		return 0;
	}
	/* Tables and walks are 64-bit; the kernel's own walk supports 32-bit programs. */
	if (sample->is_32_bit)
		return -ENOTSUP;
	if (trace.capacity > room)
		trace.capacity = (uint32_t)room;
	if (kernel_count > 0)
		memcpy(walk->chain, sample->chain, kernel_count * sizeof(*walk->chain));
	walk->chain[kernel_count] = (uint64_t)PERF_CONTEXT_USER;
	if (registers_of_sample(walk->register_mask, sample->registers, &registers) == 0) {
		struct user_stack stack = {.time_ns = sample->time_ns,
					   .pc = registers.pc,
					   .registers = registers.values,
					   .start = registers.values[UNWIND_NATIVE.sp_register],
					   .bytes = sample->stack,
					   .size = sample->stack_bytes};

		user_stack_walk(walk->tracker, process, &stack, &trace);
	}
	if (trace.end == UNWIND_UNREADABLE)
		continue_by_frame_pointers(walk, sample, &trace);
	sample->chain = walk->chain;
	sample->count = kernel_count + 1 + trace.count;
	if (trace.end != UNWIND_ROOT)
		walk->chain[sample->count++] = PERF_MARK_CUT;
	return (int)trace.end;
}

/*
 * The frame of a user address. If other threads of a process are not watched, not all its mappings
 * are reported: an address in no module is looked up in /proc.
 */
static struct frame user_frame(const struct chain_frames *frames, struct tracked_process *process,
			       uint64_t time_ns, uint64_t address)
{
	struct frame frame = tracked_process_frame(process, time_ns, address);

	if (frame.a == MODULE_NONE && frames->partial &&
	    process_tracker_refresh(frames->tracker, process, time_ns))
		frame = tracked_process_frame(process, time_ns, address);
	return frame;
}

bool chain_has_calls(const struct chain_frames *frames, const struct sample_record *sample)
{
	uint64_t last = sample->count;

	if (!frames->interpreters || last == 0)
		return false;
	last -= sample->chain[last - 1] == PERF_MARK_CUT;
	/* The kernel's addresses look like calls, but the user's come last. */
	return last > 0 && kernel_entries(sample) < last &&
	       !perf_is_mark(sample->chain[last - 1]) && python_is_word(sample->chain[last - 1]);
}

bool chain_holds_lock(const struct chain_frames *frames, const struct sample_record *sample)
{
	uint64_t first = sample->count;

	if (!chain_has_calls(frames, sample))
		return false;
	first -= sample->chain[first - 1] == PERF_MARK_CUT;
	/* Calls come last, the innermost first. */
	while (first > 0 && !perf_is_mark(sample->chain[first - 1]) &&
	       python_is_word(sample->chain[first - 1]))
		first--;
	return (sample->chain[first] & PYTHON_WORD_HOLDS) != 0;
}

/* Whether calls are missing at the root: else C code made the last one. */
static bool merge_is_cut(const struct language_merge *merge)
{
	return merge->word_count > 0 && !(merge->words[merge->word_count - 1] & PYTHON_WORD_ENTRY);
}

int chain_append_calls(struct chain_walk *walk, const struct interpreter *interpreter,
		       const uint64_t *words, uint32_t count, struct sample_record *sample)
{
	uint64_t first = kernel_entries(sample) + 1; /* after the mark */
	bool cut = chain_is_cut(sample);
	struct language_merge merge = {.words = words, .word_count = count};

	if (sample->chain != walk->chain || sample->count - cut <= first)
		return 0;
	merge.pcs = sample->chain + first;
	merge.count = (uint32_t)(sample->count - cut - first);
	merge.whole = !cut && !merge_is_cut(&merge);
	merge.loops = interpreter_loops(interpreter, &merge.loop_count);
	if (!language_merge_has_loop(&merge))
		return 0;
	if (!language_merge_fits(&merge) || sample->count + count > MAX_CHAIN)
		return -EINVAL;
	sample->count -= cut;
	memcpy(walk->chain + sample->count, words, count * sizeof(*words));
	sample->count += count;
	if (cut)
		walk->chain[sample->count++] = PERF_MARK_CUT;
	return 1;
}

/*
 * Puts the calls of an interpreter, which follow the user's addresses, into their places. Returns
 * the new length of the chain, in frames->merged.
 */
static uint64_t merge_calls(struct chain_frames *frames, const struct interpreter *interpreter,
			    const struct sample_record *sample)
{
	uint64_t first = kernel_entries(sample) + 1; /* after the mark */
	bool cut = chain_is_cut(sample);
	uint64_t end = sample->count - cut;
	struct language_merge merge = {.pcs = sample->chain + first, .only = frames->calls_only};
	uint32_t count;

	while (first + merge.count < end && !python_is_word(merge.pcs[merge.count]))
		merge.count++;
	merge.words = merge.pcs + merge.count;
	merge.word_count = (uint32_t)(end - first) - merge.count;
	merge.whole = !cut && !merge_is_cut(&merge);
	if (interpreter)
		merge.loops = interpreter_loops(interpreter, &merge.loop_count);
	frames->unnamed =
		!interpreter || !call_frames_are_known(interpreter, merge.words, merge.word_count);
	if (frames->unnamed)
		merge.word_count = 0;
	memcpy(frames->merged, sample->chain, first * sizeof(*frames->merged));
	count = merge.word_count > 0 ? language_merge(&merge, frames->merged + first) : 0;
	frames->all_calls = count > 0 && frames->calls_only && !merge_is_cut(&merge);
	if (count > 0 && frames->calls_only) {
		memmove(frames->merged, frames->merged + first - 1,
			(count + 1) * sizeof(*frames->merged));
		return count + 1;
	}
	if (count == 0) {
		memcpy(frames->merged + first, merge.pcs, merge.count * sizeof(*merge.pcs));
		count = merge.count;
	}
	return first + count;
}

/* The frame of an entry of a chain. False if it has none. */
static bool frame_of(const struct chain_frames *frames, struct tracked_process *process,
		     const struct interpreter *interpreter, const struct sample_record *sample,
		     uint64_t entry, struct frame *ret)
{
	if (entry == 0)
		return false; /* the end that some walks reach */
	if (interpreter && python_is_word(entry))
		return call_frame(frames->sink, interpreter, entry, ret);
	*ret = user_frame(frames, process, sample->time_ns, entry);
	return true;
}

const struct frame *chain_frames(struct chain_frames *frames, struct tracked_process *process,
				 const struct sample_record *sample, bool truncated,
				 size_t *ret_count)
{
	const struct interpreter *interpreter = NULL;
	struct frame *end = frames->frames + MAX_CHAIN + 1;
	struct frame *place = end;
	uint64_t mark = (uint64_t)PERF_CONTEXT_USER;
	const uint64_t *chain = sample->chain;
	uint64_t count = sample->count;
	uint64_t i;

	frames->unnamed = frames->all_calls = false;
	if (chain_has_calls(frames, sample)) {
		interpreter =
			interpreters_of(frames->interpreters, tracked_process_number(process));
		count = merge_calls(frames, interpreter, sample);
		chain = frames->merged;
	}
	for (i = 0; i < count && place > frames->frames + 1; i++) {
		uint64_t entry = chain[i];
		struct frame frame;

		if (perf_is_mark(entry)) {
			mark = entry;
			continue;
		}
		if (mark == (uint64_t)PERF_CONTEXT_KERNEL)
			*--place = process_tracker_kernel_frame(frames->tracker, entry);
		else if (frame_of(frames, process, interpreter, sample, entry, &frame))
			*--place = frame;
	}
	/* The walk goes from the leaf to the root, so the last written is the root. */
	if (truncated && !frames->all_calls)
		*--place = (struct frame){.kind = FRAME_TRUNCATED};
	*ret_count = (size_t)(end - place);
	return place;
}
