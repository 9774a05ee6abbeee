/* SPDX-License-Identifier: BSD-2-Clause */
#include "record.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "c_blocks.h"
#include "codes.h"
#include "event_records.h"
#include "modules.h"

/* The interpreter counts the calls of a traceback in 16 bits. */
#define DEPTH_MAX UINT16_MAX

static enum tracer_table_id table_id(const struct tracer_table *table)
{
	return table == &tracer.tables[TABLE_GIL] ? TABLE_GIL : TABLE_LOCKED;
}

static uint32_t id_bit(const struct tracer_table *table)
{
	return table_id(table) == TABLE_LOCKED ? TRACER_LOCKED_BIT : 0;
}

int record_begin(struct tracer_table *table)
{
	struct trace_walk unknown = {.key = trace_key(0, 0, 1, 0), .words = table->words};
	uint32_t site;
	bool is_new;

	if (table->sites.site_count > 0)
		return 0;
	unknown.hash = trace_walk_hash(&unknown.key, 0);
	return trace_sites_add(&table->sites, &unknown, &site, &is_new);
}

PyThreadState *record_own_thread(bool *ret_holds_gil)
{
	PyThreadState *current = version_current_thread();
	PyThreadState *own = PyGILState_GetThisThreadState();

#if PY_VERSION_HEX >= 0x030c0000
	*ret_holds_gil = current != NULL;
	return current ? current : own;
#else
	/*
	 * The current state may be another thread's. With several interpreters it may be this
	 * thread's, but not the state that is known for it, so nothing is certain.
	 */
	*ret_holds_gil = current && current == own;
	return tracer.tables[TABLE_GIL].has_lock ? NULL : own;
#endif
}

static uint32_t thread_number(void)
{
	if (tracer_thread.id == 0)
		tracer_thread.id = (uint32_t)syscall(SYS_gettid);
	return tracer_thread.id;
}

static uint32_t interpreter_number(const PyThreadState *thread)
{
	if (thread->interp == tracer.main_interpreter)
		return 0;
	return (uint32_t)PyInterpreterState_GetID(thread->interp);
}

static const version_frame *skip_hidden(const version_frame *frame)
{
	while (frame && version_is_hidden(frame))
		frame = version_caller(frame);
	return frame;
}

static const version_frame *first_frame(const PyThreadState *thread)
{
	const version_frame *frame = skip_hidden(version_top_frame(thread));

	/* Only the innermost frame can be incomplete: the others are in a call. */
	while (frame && version_is_incomplete(frame, version_code(frame)))
		frame = skip_hidden(version_caller(frame));
	return frame;
}

static uint32_t count_frames(const version_frame *frame)
{
	uint32_t depth = 0;

	for (; frame && depth < DEPTH_MAX; frame = skip_hidden(version_caller(frame)))
		depth++;
	return depth;
}

/*
 * The number of calls on the stack of `frame`. Counting them takes as long as the stack is deep, so
 * the answer is kept; see struct frame_memo.
 */
static uint32_t stack_depth(struct tracer_table *table, const PyThreadState *thread,
			    const version_frame *frame, uint64_t word)
{
	struct frame_memo *memo = frame_memo(table->depths, frame, 0);

	if (version_depth_varies(frame)) /* the next caller may be at another depth */
		return count_frames(frame);
	if (!frame_memo_matches(memo, thread, frame, word))
		frame_memo_set(memo, thread, frame, word, count_frames(frame));
	return memo->value;
}

/* Puts return addresses before the other words of a stack; returns the sum of their hashes. */
static uint64_t add_native(uint64_t *words, const struct native_stack *native)
{
	uint64_t key = 0;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < native->count; i++) {
		key += TRACE_WORD_KEY;
		words[i] = native->words[i];
		sum += trace_word_hash(native->words[i], key);
	}
	return sum;
}

/* Walks the Python stack of a thread into the table's room for words. */
static inline void walk_stack(struct tracer_table *table, const struct record_caller *caller,
			      struct trace_walk *walk)
{
	const PyThreadState *thread = caller->thread;
	const version_frame *frame = first_frame(thread);
	const version_frame *top = frame;
	uint32_t calls_max = tracer.settings.calls_max;
	uint32_t native = caller->native ? caller->native->count : 0;
	uint64_t *words = table->words + native;
	uint64_t key = native * TRACE_WORD_KEY;
	uint64_t sum = 0;
	uint32_t calls = 0;
	uint32_t depth = 1; /* a stack without calls has one unknown frame */

	while (frame && calls < calls_max) {
		const PyCodeObject *code = version_code(frame);
		uint64_t word = codes_word(code, version_instruction(frame, code));

		key += TRACE_WORD_KEY;
		words[calls++] = word;
		sum += trace_word_hash(word, key);
		frame = skip_hidden(version_caller(frame));
	}
	if (calls > 0)
		depth = frame ? stack_depth(table, thread, top,
					    words[0] & ~(uint64_t)CODES_INSTRUCTION_MAX)
			      : calls;
	walk->words = table->words;
	walk->key = trace_key(calls, native, depth, interpreter_number(thread));
	walk->key.owner = trace_owner(caller->domain, thread_number());
	if (caller->native)
		sum += add_native(table->words, caller->native);
	walk->hash = trace_walk_hash(&walk->key, sum);
}

/* Adds a walk that is new. The GIL is held; the table is locked. */
static uint32_t new_site(struct tracer_table *table, const PyThreadState *thread,
			 const struct trace_walk *walk)
{
	uint32_t frames = table->sites.tree.frame_count;
	uint32_t site;
	bool is_new;
	int r = -ENOSPC;

	if (table->sites.site_count <= TRACE_SITE_MAX)
		r = trace_sites_add(&table->sites, walk, &site, &is_new);
	if (r < 0) {
		atomic_fetch_add_explicit(&tracer.dropped_stacks, 1, memory_order_relaxed);
		return RECORD_UNKNOWN_SITE;
	}
	if (is_new && thread && codes_link(table_id(table), frames, thread->interp) < 0) {
		atomic_fetch_add_explicit(&tracer.dropped_stacks, 1, memory_order_relaxed);
		return RECORD_UNKNOWN_SITE;
	}
	return site;
}

/*
 * The site of the running thread, for a walk that is not known yet. Called and returns with the
 * table locked, but unlocks it in between: what the caller knows of the table is stale afterwards.
 */
static uint32_t __attribute__((noinline))
learn_site(struct tracer_table *table, const struct record_caller *caller, struct trace_walk *walk)
{
	bool holds_gil = caller->holds_gil;
	PyGILState_STATE state = PyGILState_UNLOCKED;
	uint32_t clears = table->clears;
	uint32_t outer;
	uint32_t stack;
	uint32_t site;

	if (!holds_gil && version_is_finalizing())
		return RECORD_UNKNOWN_SITE;
	if (!holds_gil) {
		tracer_unlock(table);
		outer = tracer_thread_enter(THREAD_OWN);
		state = PyGILState_Ensure();
		tracer_thread.state = outer;
		tracer_lock(table);
		/* Another thread may have used the room for words, or cleared the table. */
		walk_stack(table, caller, walk);
		clears = table->clears;
	}
	site = trace_sites_find(&table->sites, walk);
	if (site == TRACE_NONE)
		site = new_site(table, caller->thread, walk);
	stack = trace_site(&table->sites, site)->stack;
	tracer_unlock(table);
	outer = tracer_thread_enter(THREAD_OWN);
	codes_watch(table_id(table), stack, clears);
	if (!holds_gil)
		PyGILState_Release(state);
	tracer_thread.state = outer;
	tracer_lock(table);
	return table->clears == clears ? site : RECORD_UNKNOWN_SITE;
}

/* The site without calls of Python. */
static uint32_t threadless_site(struct tracer_table *table, const struct record_caller *caller)
{
	const struct native_stack *native = caller->native;
	struct trace_walk walk = {.key = trace_key(0, native ? native->count : 0, 1, 0),
				  .words = table->words};
	uint32_t site;

	walk.key.owner = trace_owner(caller->domain, thread_number());
	walk.hash = trace_walk_hash(&walk.key, native ? add_native(table->words, native) : 0);
	site = trace_sites_find(&table->sites, &walk);
	return site != TRACE_NONE ? site : new_site(table, NULL, &walk);
}

/*
 * C code may hold locks of its own while it allocates, and a thread with the GIL may wait for them;
 * or the thread may hold the GIL although it does not look like it. So a new stack is linked
 * without taking the GIL, to code objects that are known already.
 */
static uint32_t site_without_gil(struct tracer_table *table, const struct record_caller *caller,
				 const struct trace_walk *walk)
{
	if (caller->thread->interp == tracer.main_interpreter &&
	    codes_are_watched(walk->words + trace_key_native(&walk->key),
			      trace_key_calls(&walk->key)))
		return new_site(table, caller->thread, walk);
	return threadless_site(table, caller);
}

static uint32_t walked_site(struct tracer_table *table, const struct record_caller *caller)
{
	struct trace_walk walk;
	uint32_t site;

	walk_stack(table, caller, &walk);
	site = trace_sites_find(&table->sites, &walk);
	if (__builtin_expect(site != TRACE_NONE, 1))
		return site;
	if (!caller->holds_gil && !caller->may_wait &&
	    (caller->domain == TRACER_C_DOMAIN || VERSION_HIDES_GIL))
		return site_without_gil(table, caller, &walk);
	return learn_site(table, caller, &walk);
}

/* The site for a block that the running thread allocates. The table is locked. */
static uint32_t current_site(struct tracer_table *table, const struct record_caller *caller)
{
	return caller->thread ? walked_site(table, caller) : threadless_site(table, caller);
}

static uint32_t calls_of(const struct tracer_table *table, uint32_t site)
{
	uint32_t stack = trace_site(&table->sites, site)->stack;
	const struct trace_key key = {trace_stack(&table->sites, stack)->counts, 0};

	return trace_key_calls(&key);
}

/*
 * Remembers the site of a frame: with one call for each stack, the frame and its instruction say
 * all but the depth. With more, the callers have to be compared.
 */
static void remember_site(struct tracer_table *table, const PyThreadState *thread, uint32_t site)
{
	const version_frame *frame = version_top_frame(thread);
	uint64_t place;

	if (!frame || version_is_mark(frame))
		return;
	if (version_is_incomplete(frame, version_code(frame))) /* its caller is the innermost one */
		return;
	/* Callers that are not compared may differ in number. */
	if (version_depth_varies(frame) && calls_of(table, site) == tracer.settings.calls_max)
		return;
	place = version_place(frame);
	frame_memo_set(frame_memo(table->sites_of_frames, frame, place), thread, frame, place,
		       site);
}

uint32_t record_site(struct tracer_table *table, PyThreadState *thread)
{
	const struct record_caller caller = {thread, true, 0, NULL};
	uint32_t site = current_site(table, &caller);

	if (thread)
		remember_site(table, thread, site);
	return site;
}

uint64_t record_walk_hint(const PyThreadState *thread)
{
	const version_frame *frame = thread ? version_top_frame(thread) : NULL;
	const PyCodeObject *code;

	if (!frame || version_is_mark(frame))
		return 0;
	code = version_code(frame);
	return codes_word(code, version_instruction(frame, code));
}

/* Returns NULL if return addresses are not wanted. Call with no table locked. */
static const struct native_stack *take_native(const PyThreadState *thread,
					      struct native_stack *room)
{
	uint32_t outer;

	if (__builtin_expect(tracer.settings.native_max == 0, 1))
		return NULL;
	outer = tracer_thread_enter(THREAD_OWN);
	native_walk(room, record_walk_hint(thread));
	tracer_thread.state = outer;
	return room;
}

/* Unlocks a table and notes the modules of its new stacks. */
static void unlock_and_name(struct tracer_table *table, const struct record_caller *caller)
{
	bool is_new = caller->native && table->stacks_named != table->sites.stack_count;
	uint32_t outer;

	tracer_unlock(table);
	if (__builtin_expect(!is_new, 1))
		return;
	outer = tracer_thread_enter(THREAD_OWN);
	c_blocks_hook_new_modules(modules_name_stacks(table_id(table)));
	tracer_thread.state = outer;
}

void record_peak(int64_t bytes)
{
	int64_t peak = atomic_load_explicit(&tracer.peak_bytes, memory_order_relaxed);

	while (bytes > peak &&
	       !atomic_compare_exchange_weak_explicit(&tracer.peak_bytes, &peak, bytes,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

/* The weight of a block in the totals. */
static int64_t weight_bytes(uint64_t size)
{
	return tracer.is_sampled ? (int64_t)((double)size / sampled_probability(size) + 0.5)
				 : (int64_t)size;
}

static void change_bytes(struct tracer_table *table, int64_t bytes)
{
	/* One writer at a time: the table's lock. */
	int64_t now = atomic_load_explicit(&table->bytes, memory_order_relaxed) + bytes;

	atomic_store_explicit(&table->bytes, now, memory_order_relaxed);
	if (bytes > 0)
		record_peak(tracer_live_bytes());
}

static void count_block(struct tracer_table *table, uint32_t site, uint64_t size)
{
	trace_site(&table->sites, site)->size += (int64_t)size;
	trace_site(&table->sites, site)->count++;
	change_bytes(table, weight_bytes(size));
}

static void uncount_block(struct tracer_table *table, uint32_t site, uint64_t size)
{
	trace_site(&table->sites, site)->size -= (int64_t)size;
	trace_site(&table->sites, site)->count--;
	change_bytes(table, -weight_bytes(size));
}

static void put_event(const struct tracer_table *table, enum trace_event_kind kind,
		      const struct trace_block *block)
{
	if (__builtin_expect(tracer.events.slots != NULL, 0))
		tracer_put_event(kind, block->address, block->size, block->site | id_bit(table));
}

void record_put(struct tracer_table *table, int result, const struct trace_block *block,
		const struct trace_block *old)
{
	if (result < 0) {
		atomic_fetch_add_explicit(&tracer.dropped, 1, memory_order_relaxed);
		return;
	}
	if (result > 0)
		uncount_block(table, old->site, old->size);
	count_block(table, block->site, block->size);
	put_event(table, TRACE_ALLOCATION, block);
}

void record_block(struct tracer_table *table, const struct record_caller *caller, const void *start,
		  size_t size)
{
	struct trace_block block = {(uint64_t)(uintptr_t)start, size, 0};
	struct trace_block old;

	tracer_lock(table);
	block.site = current_site(table, caller);
	record_put(table, trace_blocks_put(&table->blocks, &block, &old), &block, &old);
	unlock_and_name(table, caller);
}

void record_allocation(struct tracer_table *table, PyThreadState *thread, bool holds_gil,
		       const void *start, size_t size)
{
	struct native_stack native;
	const struct record_caller caller = {thread, holds_gil, 0, take_native(thread, &native)};

	record_block(table, &caller, start, size);
}

bool record_free(struct tracer_table *table, const void *start, struct trace_block *ret)
{
	bool is_known;

	tracer_lock(table);
	is_known = trace_blocks_take(&table->blocks, (uint64_t)(uintptr_t)start, ret);
	if (is_known) {
		uncount_block(table, ret->site, ret->size);
		put_event(table, TRACE_FREE, ret);
	}
	tracer_unlock(table);
	return is_known;
}

void record_restore(struct tracer_table *table, const struct trace_block *block)
{
	struct trace_block restored = *block;
	struct trace_block old;

	tracer_lock(table);
	if (block->site >= table->sites.site_count) /* stacks were dropped in between */
		restored.site = RECORD_UNKNOWN_SITE;
	if (trace_blocks_put(&table->blocks, &restored, &old) == 0) {
		count_block(table, restored.site, restored.size);
		put_event(table, TRACE_ALLOCATION, &restored);
	}
	tracer_unlock(table);
}

void record_reuse(const void *object, const PyTypeObject *type)
{
	struct tracer_table *table = &tracer.tables[TABLE_GIL];
	uint64_t address = (uint64_t)(uintptr_t)object - version_header_bytes(type);
	PyThreadState *thread = version_current_thread();
	struct native_stack native;
	struct record_caller caller = {thread, true, 0, take_native(thread, &native)};
	struct trace_block block;
	struct trace_block old;
	uint32_t site;

	tracer_lock(table);
	if (trace_blocks_get(&table->blocks, address, &block)) {
		site = current_site(table, &caller);
		if (site != block.site) {
			put_event(table, TRACE_FREE, &block);
			uncount_block(table, block.site, block.size);
			block.site = site;
			(void)trace_blocks_put(&table->blocks, &block, &old); /* it has a slot */
			count_block(table, site, block.size);
			put_event(table, TRACE_ALLOCATION, &block);
		}
	}
	unlock_and_name(table, &caller);
}

static void put_tracked_event(const struct tracer_table *table, enum trace_event_kind kind,
			      const struct tracked_block *tracked)
{
	struct trace_block block = {event_record_address(tracked->address), tracked->size,
				    tracked->site - 1};

	put_event(table, kind, &block);
}

static void remove_tracked(struct tracer_table *table, struct tracked_block *block)
{
	uncount_block(table, block->site - 1, block->size);
	put_tracked_event(table, TRACE_FREE, block);
	tracked_blocks_remove(&tracer.tracked, block);
}

int record_tracked(PyThreadState *thread, bool holds_gil, uint32_t domain, uint64_t address,
		   uint64_t size)
{
	struct tracer_table *table = &tracer.tables[TABLE_LOCKED];
	struct native_stack native;
	const struct record_caller caller = {thread, holds_gil, domain,
					     take_native(thread, &native), true};
	struct tracked_block block = {address, size, domain, 0};
	struct tracked_block *known;
	uint32_t site;
	int r;

	tracer_lock(table);
	site = current_site(table, &caller);
	block.site = site + 1;
	known = tracked_blocks_find(&tracer.tracked, domain, address);
	if (known)
		remove_tracked(table, known);
	r = tracked_blocks_add(&tracer.tracked, &block);
	if (r == 0) {
		count_block(table, site, size);
		put_tracked_event(table, TRACE_ALLOCATION, &block);
	}
	unlock_and_name(table, &caller);
	return r;
}

void record_untracked(uint32_t domain, uint64_t address)
{
	struct tracer_table *table = &tracer.tables[TABLE_LOCKED];
	struct tracked_block *known;

	tracer_lock(table);
	known = tracked_blocks_find(&tracer.tracked, domain, address);
	if (known)
		remove_tracked(table, known);
	tracer_unlock(table);
}
