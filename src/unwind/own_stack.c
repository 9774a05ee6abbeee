/* SPDX-License-Identifier: BSD-2-Clause */
#include "unwind/own_stack.h"

#include "unwind/arch/native.h"
#include "unwind/module.h"
#include "unwind/step.h"
#include "unwind/step_plain.h"

/*
 * One walk. The stacks are those of the thread with their lower ends raised to the current position
 * of the walk: memory below may not be mapped.
 */
struct walk {
	struct unwind_limits limits;
	const struct unwind_modules *modules;
	const struct unwind_module *last; /* found last: the next frame is often there too */
	struct unwind_thread *memory;     /* NULL: in use by another walk of this thread */
	struct unwind_trace *trace;
	int32_t cursor;       /* the next anchor that may be reached */
	uint32_t fresh_count; /* only the last UNWIND_ANCHORS of them are stored */
	uint32_t kept;        /* anchors of the last stack that also end this one */
};

const struct unwind_modules *unwind_own_publish(struct unwind_own *own,
						const struct unwind_modules *modules)
{
	return atomic_exchange(&own->modules, modules);
}

uint32_t unwind_thread_walks(const struct unwind_thread *thread)
{
	return atomic_load(&thread->walks);
}

UNWIND_INLINE uint64_t load(uint64_t address)
{
	return *(const uint64_t *)(uintptr_t)address;
}

/* Whether eight bytes at address are within the range. */
UNWIND_INLINE bool holds(const struct unwind_stack *stack, uint64_t address)
{
	return address >= stack->low && address < stack->high && stack->high - address >= 8;
}

UNWIND_INLINE bool read_stack(void *context, uint64_t address, uint64_t *ret)
{
	const struct walk *walk = context;

	if ((!holds(&walk->limits.stack, address) && !holds(&walk->limits.alternate, address)) ||
	    (address & 7) != 0)
		return false;
	*ret = load(address);
	return true;
}

static const struct unwind_module *find_module(const struct walk *walk, uint64_t pc)
{
	if (!walk->modules)
		return NULL;
	return unwind_module_find(walk->modules->items, walk->modules->count, pc);
}

static bool read_code(void *context, uint64_t address, uint64_t *ret)
{
	const struct unwind_module *module = find_module(context, address);

	if (!module || module->end - address < 8)
		return false;
	/* x86-64 instructions are unaligned, and the compiler must know that. */
	struct __attribute__((packed)) anywhere {
		uint64_t value;
	};
	*ret = ((const struct anywhere *)(uintptr_t)address)->value;
	return true;
}

static bool is_code(void *context, uint64_t address)
{
	const struct walk *walk = context;

	return !walk->modules || walk->modules->unknown_code || find_module(walk, address);
}

/* What is known about a pc. */
struct found {
	const struct unwind_rule *rule; /* NULL: none */
	bool is_code;
};

UNWIND_INLINE struct found learn_rule(struct walk *walk, uint64_t pc)
{
	const struct unwind_module *module = walk->last;

	if (!module || pc < module->start || pc >= module->end)
		walk->last = module = find_module(walk, pc);
	if (!module)
		return (struct found){NULL, is_code(walk, pc)};
	return (struct found){unwind_module_rule(module, pc), true};
}

/* Whether the walk can take a rule without looking at each of its parts. */
static bool is_plain(const struct unwind_rule *rule)
{
	int64_t ra_at = (int64_t)rule->cfa_offset + rule->ra_offset;

	return unwind_rule_is_plain(rule) && rule->ra_offset % 8 == 0 && rule->fp_offset % 8 == 0 &&
	       UNWIND_NATIVE.cfa_alignment % 8 == 0 && ra_at >= INT16_MIN && ra_at <= INT16_MAX;
}

static __attribute__((noinline)) void fill_cache(struct walk *walk, uint64_t pc,
						 struct unwind_cached *cached)
{
	struct found found = learn_rule(walk, pc);

	cached->after = pc + 1;
	cached->is_code = found.is_code;
	cached->rule = found.rule ? *found.rule : (struct unwind_rule){.cfa = UNWIND_CFA_NONE};
	cached->is_plain = found.rule && is_plain(found.rule);
	cached->ra_at = (int16_t)(cached->rule.cfa_offset + cached->rule.ra_offset);
}

/* The place of a rule: the walk waits for this, so it is short. */
UNWIND_INLINE struct unwind_cached *place_of(struct unwind_thread *memory, uint64_t after)
{
	uint64_t mixed = after ^ after >> UNWIND_CACHE_BITS;

	return &memory->cache[mixed & ((1u << UNWIND_CACHE_BITS) - 1)];
}

/* The rule for a pc, from the thread's cache if possible. */
UNWIND_INLINE struct found find_rule(struct walk *walk, uint64_t pc)
{
	struct unwind_cached *cached;

	if (!walk->memory || walk->memory->no_cache)
		return learn_rule(walk, pc);
	cached = place_of(walk->memory, pc + 1);
	if (cached->after != pc + 1)
		fill_cache(walk, pc, cached);
	return (struct found){&cached->rule, cached->is_code};
}

/*
 * Stores a frame and where its caller was found. A step without slots may depend on fp, unless a
 * rule says that the thread began there.
 */
UNWIND_INLINE void remember(struct walk *walk, const struct unwind_frame *frame,
			    const struct unwind_slots *slots, bool is_root)
{
	bool plain = !frame->exact && !frame->sp_guessed && !frame->fp_lost;

	walk->memory->fresh[walk->fresh_count++ % UNWIND_ANCHORS] = (struct unwind_anchor){
		.pc = plain ? frame->pc : 0,
		.sp = frame->sp,
		.fp = frame->fp,
		.ra_slot = plain ? slots->ra : 0,
		.fp_slot = slots->fp,
		.by_fp = slots->by_fp || (slots->ra == 0 && !is_root),
	};
}

/*
 * Reuses the unchanged part of the last stack: from a frame whose pc, sp and fp are those of an
 * anchor, as long as the slots have the same values. The frame becomes the last one that was
 * reused. The slots are between sp of a live frame and the end of the stack, so they can be read.
 */
static void follow_anchors(struct walk *walk, struct unwind_frame *frame)
{
	struct unwind_thread *memory = walk->memory;
	struct unwind_anchor *anchors = memory->anchors;
	struct unwind_trace *trace = walk->trace;
	uint64_t mask = ~walk->limits.pac_mask;
	uint64_t high = frame->high;
	uint64_t fp = frame->fp;
	uint64_t *pcs = trace->pcs + trace->count;
	int32_t room = (int32_t)(trace->capacity - trace->count);
	int32_t at = walk->cursor;
	int32_t met;
	int32_t last;

	while (at >= 0 && anchors[at].sp < frame->sp)
		at--;
	walk->cursor = at;
	if (at < 0 || anchors[at].sp != frame->sp || anchors[at].pc != frame->pc ||
	    (anchors[at].fp_matters && anchors[at].fp != fp))
		return;
	met = at;
	last = at > room ? at - room : 0;
	anchors[at].fp = fp;
	while (at > last) {
		const struct unwind_anchor *from = &anchors[at];
		struct unwind_anchor *to = &anchors[at - 1];

		if (from->ra_slot == 0 || to->sp > high || (load(from->ra_slot) & mask) != to->pc)
			break;
		if (from->fp_slot)
			fp = load(from->fp_slot);
		if (to->fp != fp) {
			if (to->fp_matters)
				break;
			to->fp = fp;
		}
		*pcs++ = to->pc;
		at--;
	}
	trace->count += (uint32_t)(met - at);
	memory->reused += (uint32_t)(met - at);
	frame->pc = anchors[at].pc;
	frame->sp = anchors[at].sp;
	frame->fp = anchors[at].fp;
	walk->cursor = at - 1;
	if (at == 0 || trace->count == trace->capacity) {
		walk->kept = (uint32_t)met + 1;
		return;
	}
	/* The frame itself is stored by the step from it. */
	for (int32_t i = met; i > at; i--)
		memory->fresh[walk->fresh_count++ % UNWIND_ANCHORS] = anchors[i];
}

/* Makes the anchors those of this stack: as many as there is room for, from where it ended. */
static void keep_anchors(struct walk *walk)
{
	struct unwind_thread *memory = walk->memory;
	uint32_t fresh = walk->fresh_count;
	uint32_t count = walk->kept + fresh;
	bool caller_matters;

	if (walk->kept > 0 && walk->trace->end == UNWIND_ROOT && walk->trace->count != count)
		count = 0; /* the walk ended before the root: this one must find it */
	else if (walk->kept > 0 && fresh > UNWIND_ANCHORS) /* those in between were not stored */
		count = walk->kept;
	else if (count > UNWIND_ANCHORS) /* one without a root keeps getting deeper: start again */
		count = walk->trace->end == UNWIND_ROOT ? UNWIND_ANCHORS : 0;
	memory->anchor_count = count;
	memory->whole = walk->trace->end == UNWIND_ROOT && walk->trace->count == count;
	for (uint32_t i = walk->kept; i < count; i++) {
		struct unwind_anchor *anchor = &memory->anchors[i];

		*anchor = memory->fresh[--fresh % UNWIND_ANCHORS];
		/* What the first one leads to is unknown, if it leads anywhere. */
		caller_matters = i > 0 ? anchor[-1].fp_matters : anchor->ra_slot != 0;
		anchor->fp_matters = anchor->by_fp || (caller_matters && anchor->fp_slot == 0);
	}
}

/* One frame up, beyond what is known from the last stack. */
UNWIND_INLINE enum unwind_end advance(struct walk *walk, const struct unwind_reader *reader,
				      struct unwind_frame *frame, bool anchored)
{
	struct found found = find_rule(walk, unwind_lookup_pc(frame));
	struct unwind_frame before = *frame;
	struct unwind_slots slots;
	enum unwind_end end;

	if (!found.is_code && !frame->exact)
		return UNWIND_BAD_ADDRESS;
	end = unwind_step(&walk->limits, reader, found.rule, frame, anchored ? &slots : NULL);
	walk->trace->guessed += frame->guessed;
	if (anchored && walk->kept == 0)
		remember(walk, &before, &slots,
			 end == UNWIND_ROOT && found.rule && found.rule->ra == UNWIND_RA_ROOT);
	return end;
}

/*
 * Walks on while frames and rules are plain: nearly all are, except the first. Same as advance(),
 * with what the walk waits for in registers. False: this frame is not.
 */
UNWIND_INLINE bool walk_plainly(struct walk *walk, struct unwind_frame *frame, bool anchored)
{
	struct unwind_thread *memory = walk->memory;
	struct unwind_trace *trace = walk->trace;
	uint64_t low = walk->limits.stack.low;
	uint64_t span = walk->limits.stack.high - low - 7;
	uint64_t high = frame->high;
	uint64_t mask = ~walk->limits.pac_mask;
	uint64_t pc = frame->pc;
	uint64_t sp = frame->sp;
	uint64_t fp = frame->fp;

	while (trace->count < trace->capacity) {
		const struct unwind_cached *cached = place_of(memory, pc);
		bool by_fp = cached->rule.cfa == UNWIND_CFA_FP;
		uint64_t base = by_fp ? fp : sp;
		uint64_t cfa = base + (uint64_t)(int64_t)cached->rule.cfa_offset;
		uint64_t ra_slot = base + (uint64_t)(int64_t)cached->ra_at;
		uint64_t fp_slot = 0;
		uint64_t caller_fp = fp;
		uint64_t ra;

		if (cached->after != pc || !cached->is_plain || ra_slot - low >= span)
			break;
		if (cfa <= sp || cfa > high || (cfa & (UNWIND_NATIVE.cfa_alignment - 1u)) != 0)
			break;
		ra = load(ra_slot) & mask;
		if (cached->rule.fp == UNWIND_FP_AT_CFA) {
			fp_slot = cfa + (uint64_t)(int64_t)cached->rule.fp_offset;
			if (fp_slot - low >= span)
				break;
			caller_fp = load(fp_slot);
		}
		if (ra == 0)
			break;
		if (anchored && walk->kept == 0)
			memory->fresh[walk->fresh_count++ % UNWIND_ANCHORS] =
				(struct unwind_anchor){
					.pc = pc,
					.sp = sp,
					.fp = fp,
					.ra_slot = ra_slot,
					.fp_slot = fp_slot,
					.by_fp = by_fp,
				};
		trace->pcs[trace->count++] = pc = ra;
		sp = cfa;
		fp = caller_fp;
		if (anchored && walk->cursor >= 0 && walk->memory->anchors[walk->cursor].sp <= sp)
			break; /* it may be known from here */
	}
	if (sp == frame->sp)
		return false;
	frame->pc = pc;
	frame->sp = sp;
	frame->fp = fp;
	frame->lr_valid = frame->called_first = false;
	frame->registers = NULL;
	frame->saved = 0;
	return true;
}

/* Whether that can be done from a frame. */
UNWIND_INLINE bool is_plain_here(const struct walk *walk, const struct unwind_frame *frame)
{
	return !frame->exact && !frame->sp_guessed && !frame->fp_lost && !frame->guessed &&
	       frame->kept_register == 0 && frame->high == walk->limits.stack.high &&
	       walk->limits.stack.low < frame->high - 7 && walk->memory && !walk->memory->no_cache;
}

/*
 * The walk itself. A return address is checked when its rule is looked up, so a bad one has already
 * been added by then and is removed.
 */
UNWIND_INLINE void walk_frames(struct walk *walk, const struct unwind_frame *start, bool anchored)
{
	const struct unwind_reader reader = {
		.read = read_stack,
		.read_code = read_code,
		.is_code = is_code,
		.context = walk,
	};
	struct unwind_trace *trace = walk->trace;
	struct unwind_frame frame = *start; /* its address does not escape, so it is in registers */
	enum unwind_end end = UNWIND_GOING;
	bool cached = walk->memory && !walk->memory->no_cache;
	uint64_t stored;
	bool was_exact;

	while (end == UNWIND_GOING) {
		if (anchored && walk->cursor >= 0 && !frame.exact && !frame.sp_guessed &&
		    !frame.fp_lost) {
			struct unwind_frame met = frame;

			follow_anchors(walk, &met);
			frame.pc = met.pc;
			frame.sp = met.sp;
			frame.fp = met.fp;
		}
		if (cached && is_plain_here(walk, &frame)) {
			struct unwind_frame next = frame;

			if (walk_plainly(walk, &next, anchored)) {
				frame = next;
				continue;
			}
		}
		was_exact = frame.exact;
		end = advance(walk, &reader, &frame, anchored);
		if (end != UNWIND_GOING)
			break;
		if (frame.exact && frame.switched) /* after a signal, on another stack */
			walk->limits.stack.low = frame.sp;
		stored = unwind_trace_pc(&frame, was_exact, trace->pcs, trace->count);
		if (trace->count == trace->capacity)
			end = UNWIND_DEPTH;
		else
			trace->pcs[trace->count++] = stored;
	}
	if (end == UNWIND_BAD_ADDRESS && trace->count > 1)
		trace->count--;
	trace->end = end;
}

/* Forgets what is based on other modules. */
static void forget(struct unwind_thread *thread, uint64_t generation)
{
	for (uint32_t i = 0; i < 1u << UNWIND_CACHE_BITS; i++)
		if (thread->cache[i].after != 0) /* pages that were never written use no memory */
			thread->cache[i] = (struct unwind_cached){0};
	thread->anchor_count = 0;
	thread->generation = generation;
}

static void walk_with_memory(struct walk *walk, struct unwind_frame *frame)
{
	struct unwind_thread *thread = walk->memory;
	uint64_t generation = walk->modules ? walk->modules->generation : 0;

	if (thread->generation != generation)
		forget(thread, generation);
	if (thread->no_anchors) {
		walk_frames(walk, frame, false);
		return;
	}
	walk->cursor = (int32_t)thread->anchor_count - 1;
	walk_frames(walk, frame, true);
	keep_anchors(walk);
}

void unwind_own_walk(struct unwind_own *own, struct unwind_thread *thread,
		     const struct unwind_frame *start, struct unwind_trace *trace)
{
	uint32_t walks = atomic_load_explicit(&thread->walks, memory_order_relaxed);
	bool nested = (walks & 1) != 0;
	struct unwind_frame frame = *start;
	struct walk walk = {
		.limits = {.arch = &UNWIND_NATIVE,
			   .pac_mask = own->pac_mask,
			   .stack = thread->stack,
			   .alternate = thread->alternate},
		.trace = trace,
		.memory = nested ? NULL : thread,
	};

	trace->count = trace->guessed = 0;
	if (trace->capacity > 0)
		trace->pcs[trace->count++] = frame.pc;
	trace->end = unwind_begin(&walk.limits, &frame);
	if (trace->end != UNWIND_GOING)
		return;
	if (frame.switched) {
		walk.limits.stack.low = frame.sp;
		walk.limits.alternate = (struct unwind_stack){0};
	} else {
		walk.limits.alternate.low = frame.sp;
	}
	if (nested) { /* the interrupted walk protects the list */
		walk.modules = atomic_load_explicit(&own->modules, memory_order_acquire);
		walk_frames(&walk, &frame, false);
		return;
	}
	/*
	 * Only this thread writes walks. The publisher's barrier for all threads replaces one
	 * between this store and the load that follows.
	 */
	atomic_store_explicit(&thread->walks, walks + 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	walk.modules = atomic_load_explicit(&own->modules, memory_order_acquire);
	walk_with_memory(&walk, &frame);
	atomic_store_explicit(&thread->walks, walks + 2, memory_order_release);
}
