/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_MEMORY_H
#define WICK_PRELOAD_HEAP_HEAP_MEMORY_H

/* heap_memory: what a thread needs to write down what it does with its memory. */

#include <stdbool.h>
#include <stdint.h>

#include "preload/heap/heap_budget.h"
#include "preload/heap/heap_ranges.h"
#include "preload/runtime.h"
#include "wire/heap_record.h"

#define HEAP_STACK_BITS 12

#define HEAP_SHAPE_BITS 8
#define HEAP_SHAPE_SLOTS 100u
#define HEAP_DEEP_BITS 3
#define HEAP_DEEP_SLOTS 4096u

/* How far stacks are walked: that of a recursion may have any depth. See heap_stack.c. */
#define HEAP_WALK_FRAMES 3072u
#define HEAP_WALK_FRAMES_ONCE 32768u
#define HEAP_ROOT_FRAMES 512u

/*
 * Where a stack that begins with a certain frame has its return addresses and saved frame
 * pointers: see heap_shape.c.
 */
struct heap_shape {
	uint64_t pc; /* the frame that it begins with; 0: free */
	uint64_t sp;
	uint64_t fp; /* where that matters: some frame is found by it */
	uint32_t by_fp;
	uint32_t count;
	uint32_t check;       /* of all above */
	uint32_t slots_check; /* of what follows: places from sp on */
};

struct heap_usual_shape {
	struct heap_shape shape;
	uint32_t slots[HEAP_SHAPE_SLOTS];
};

struct heap_deep_shape {
	struct heap_shape shape;
	uint32_t slots[HEAP_DEEP_SLOTS];
};

/* The number of a stack, by the hash of its frames. */
struct heap_numbered {
	uint64_t hash; /* 0: free */
	uint32_t number;
	uint32_t check; /* of both: programs write where they should not */
};

#define HEAP_TOTALS 64u

/* What a stack has asked for, where blocks are only added up. */
struct heap_total {
	uint64_t blocks; /* 0: free */
	uint64_t bytes;
	uint32_t stack;
	uint32_t check;
};

struct heap_memory {
	uint64_t alive;        /* 0 in a child that nobody told us of: the kernel wipes it */
	uint64_t generation;   /* of the modules that the numbers are for */
	uint32_t numbers_mask; /* of places in numbers and met */
	uint32_t shapes_mask;
	uint32_t pending; /* blocks in totals */
	uint32_t root_count;
	uint32_t has_deep;     /* shapes */
	uint64_t deep_key;     /* the frame that the last deep stack began with */
	uint32_t vain_walks;   /* that did not get to the root, however long */
	uint32_t refusals;     /* times that there was no room */
	uint64_t stalled_beat; /* the recorder's heartbeat, that has not moved on; 0 */
	uint64_t vain_tail;    /* that the recorder did not move however often it looked; ~0 */
	uint64_t written[PRELOAD_DEPTH + 1];
	uint64_t pcs[HEAP_WALK_FRAMES_ONCE];         /* the next; memory as it is used */
	struct unwind_anchor root[HEAP_ROOT_FRAMES]; /* of the last deep stack, root first */
	struct heap_total totals[HEAP_TOTALS];
	struct heap_numbered numbers[1u << HEAP_STACK_BITS]; /* by their frames */
	struct heap_numbered met[1u << HEAP_STACK_BITS];     /* by their shape and its contents */
	struct heap_usual_shape shapes[1u << HEAP_SHAPE_BITS];
	struct heap_deep_shape deep[1u << HEAP_DEEP_BITS]; /* memory as it is used */
	struct heap_deep_shape made;
};

/*
 * A sum of what stands by itself: the CPU makes several at a time. Each is mixed before it
 * is added, or differences in two places could make up for each other.
 */
static inline uint64_t heap_hash_add(uint64_t sum, uint64_t value, uint64_t *place)
{
	uint64_t mixed = (value + *place) * 0x9e3779b97f4a7c15ull;

	*place += 0xd1342543de82ef95ull;
	mixed ^= mixed >> 32;
	return sum + mixed * 0xbf58476d1ce4e5b9ull;
}

/*
 * The same for what is looked at each time, with one multiplication: each place has a factor
 * of its own, so differences in two places do not make up for each other.
 */
static inline uint64_t heap_hash_slot(uint64_t sum, uint64_t value, uint64_t *factor)
{
	sum += value * *factor;
	*factor = (*factor << 11 | *factor >> 53) + 0xd1342543de82ef96ull;
	return sum;
}

/* The same for the end. Not 0. */
static inline uint64_t heap_hash_end(uint64_t sum)
{
	sum ^= sum >> 29;
	sum *= 0xbf58476d1ce4e5b9ull;
	sum ^= sum >> 32;
	return sum ? sum : 1;
}

static inline uint32_t heap_numbered_check(const struct heap_numbered *numbered)
{
	/* No sum: what is wrong in the number and here in the same way must show. */
	return (uint32_t)(numbered->hash >> 32) ^ (numbered->number + 1) * 0x9e3779b1u;
}

/* Two places for each hash. */
static inline struct heap_numbered *heap_numbers_places(const struct heap_memory *memory,
							struct heap_numbered *table, uint64_t hash)
{
	/* The mask may be damaged like all else: it is no more than there is room for. */
	uint64_t mask = memory->numbers_mask & ((1u << HEAP_STACK_BITS) - 2);

	return &table[hash >> (64 - HEAP_STACK_BITS) & mask];
}

/* The number of a hash in a table. False when it is not there. */
static inline bool heap_numbers_find(struct heap_memory *memory, struct heap_numbered *table,
				     uint64_t hash, uint32_t *ret)
{
	struct heap_numbered *place = heap_numbers_places(memory, table, hash);

	if (__builtin_expect(place->hash != hash, 0) && (++place)->hash != hash)
		return false;
	*ret = place->number;
	if (__builtin_expect(place->check == heap_numbered_check(place), 1))
		return true;
	place->hash = 0;
	heap_budget_error();
	return false;
}
void heap_numbers_add(struct heap_memory *memory, struct heap_numbered *table, uint64_t hash,
		      uint32_t number);

/*
 * The number of a stack that was met before, in about a nanosecond a frame. False when it
 * must be walked.
 */
bool heap_shape_find(struct heap_memory *memory, const struct unwind_frame *frame,
		     uint32_t *ret_number);
void heap_shapes_forget(struct heap_memory *memory);

/* The stack from a frame on was walked, and has a number. */
void heap_shape_learn(struct preload_thread *thread, const struct unwind_frame *frame,
		      uint32_t number);

/* Memory for a thread between pages that cannot be touched. False when there is none. */
bool heap_memory_map(struct preload_thread *thread);

/* The thread has a new ring, or is new itself. */
void heap_memory_reset(struct preload_thread *thread);
/* What is there is damaged: all of it is forgotten. */
void heap_memory_repair(struct preload_thread *thread);

/*
 * The number of the stack that begins with a frame. False when it is a new one and there
 * was no room to write it down, or no way to walk it.
 */
bool heap_stack_number(struct preload_thread *thread, const struct unwind_frame *frame,
		       uint32_t *ret);

/* The same, with the frames to say the stack again by: heap_stack_again(), by any thread. */
bool heap_stack_keep(struct preload_thread *thread, const struct unwind_frame *frame,
		     struct heap_frames *ret_frames, uint32_t *ret);
bool heap_stack_again(struct preload_thread *thread, const struct heap_frames *frames,
		      uint32_t *ret);

/* Keeps handlers of this thread out of what is written: around all that writes or walks. */
bool heap_lock_slowly(struct preload_thread *thread);

static inline bool heap_lock(struct preload_thread *thread)
{
	const struct heap_memory *memory = thread->heap;

	if (__builtin_expect(atomic_load_explicit(&thread->busy, memory_order_relaxed) != 0 ||
				     !memory || !memory->alive,
			     0))
		return heap_lock_slowly(thread);
	atomic_store_explicit(&thread->busy, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

static inline void heap_unlock(struct preload_thread *thread)
{
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&thread->busy, 0, memory_order_relaxed);
}

/* A range is mapped, by a stack of this thread. False when there is no room for it. */
bool heap_put_range(struct preload_thread *thread, uint64_t begin, uint64_t bytes, uint32_t stack);

/*
 * A place in the ring for so many words. Waits for the recorder to make room, where it may.
 * NULL when there is none; *head becomes where the record ends: heap_publish().
 */
uint64_t *heap_claim_slowly(struct preload_thread *thread, uint32_t words, uint64_t *head);

static inline uint64_t *heap_claim(struct preload_thread *thread, uint32_t words, uint64_t *head)
{
	uint64_t size = thread->ring_words;
	uint64_t begin = thread->head;
	uint64_t end = begin + words;

	/* The reader is woken, and the ring begins anew, at its halves. */
	if (__builtin_expect(end - thread->heap_tail > size || ((begin ^ end) & size / 2) != 0, 0))
		return heap_claim_slowly(thread, words, head);
	*head = end;
	return thread->ring + (begin & (size - 1));
}

static inline void heap_publish(struct preload_thread *thread, uint64_t head)
{
	thread->head = head;
	atomic_store_explicit(&thread->slot->head, head, memory_order_release);
}

/* A block, added to what its stack has asked for. */
struct heap_site;
void heap_total_add(struct preload_thread *thread, const struct heap_site *site, uint64_t bytes);
/* Writes down what was added up; the first within the lock. */
void heap_total_put(struct preload_thread *thread);
void heap_total_flush(struct preload_thread *thread);

#endif
