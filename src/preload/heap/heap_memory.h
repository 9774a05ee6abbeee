/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_HEAP_MEMORY_H
#define WICK_PRELOAD_HEAP_HEAP_MEMORY_H

/* heap_memory: the tables a thread needs to record its allocations. */

#include <stdbool.h>
#include <stdint.h>

#include "preload/heap/heap.h"
#include "preload/heap/heap_budget.h"
#include "preload/heap/heap_ranges.h"
#include "preload/runtime.h"
#include "wire/heap_record.h"

#define HEAP_STACK_BITS 12

#define HEAP_SHAPE_BITS 10
#define HEAP_SHAPE_SLOTS 100u
#define HEAP_DEEP_BITS 3
#define HEAP_DEEP_SLOTS 4096u

/* Limits for stack walks: a recursion may have any depth. See heap_stack.c. */
#define HEAP_WALK_FRAMES 3072u
#define HEAP_WALK_FRAMES_ONCE 32768u
#define HEAP_ROOT_FRAMES 512u

/*
 * The positions of return addresses and saved frame pointers in a stack that starts with a certain
 * frame: see known_stacks.c.
 */
struct heap_shape {
	uint64_t pc; /* the frame it starts with; 0: free */
	uint64_t sp;
	uint64_t fp; /* if it matters: some frame is found through it */
	union {
		struct {
			uint32_t by_fp;
			uint32_t count;
		};
		uint64_t both;
	};
	uint32_t check;       /* of all above */
	uint32_t slots_check; /* of the slots: offsets from sp */
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
	uint32_t check; /* of both, because programs may overwrite it */
};

#define HEAP_TOTALS 64u

/* The allocations of a stack, when blocks are only summed. */
struct heap_total {
	uint64_t blocks; /* 0: free */
	uint64_t bytes;
	uint32_t stack;
	uint32_t check;
};

struct heap_memory {
	uint64_t alive;        /* 0 in an unnoticed child: the kernel wipes it */
	uint64_t generation;   /* generation of modules that the numbers belong to */
	uint32_t numbers_mask; /* of the pairs of places in numbers and met that are in use */
	uint32_t shapes_mask;
	uint32_t pending; /* blocks in totals */
	uint32_t root_count;
	uint32_t has_deep;     /* shapes */
	uint64_t deep_key;     /* the first frame of the last deep stack */
	uint32_t vain_walks;   /* walks that did not reach the root, however long */
	uint32_t refusals;     /* how often there was no space */
	uint64_t stalled_beat; /* the recorder's heartbeat, if it has stalled; 0 */
	uint64_t vain_tail;    /* tail that the recorder did not move in repeated checks; ~0 */
	/* The calls of an interpreter in the next stack: see heap_python.c. */
	uint64_t calls_hash; /* 0: there are none */
	uint32_t call_count;
	uint64_t calls[PRELOAD_DEPTH];
	uint64_t written[2 * PRELOAD_DEPTH + 1];
	uint64_t pcs[HEAP_WALK_FRAMES_ONCE]; /* the next stack; pages are allocated on use */
	struct unwind_anchor root[HEAP_ROOT_FRAMES]; /* of the last deep stack, root first */
	struct heap_total totals[HEAP_TOTALS];
	struct heap_numbered numbers[(1u << HEAP_STACK_BITS) + 1]; /* by their frames */
	struct heap_numbered met[(1u << HEAP_STACK_BITS) + 1]; /* by their shape and its contents */
	struct heap_usual_shape shapes[1u << HEAP_SHAPE_BITS];
	struct heap_deep_shape deep[1u << HEAP_DEEP_BITS]; /* memory as it is used */
	struct heap_deep_shape made;
};

/*
 * A sum of independent terms, so that the CPU computes several at a time. Each is mixed before it
 * is added, or differences in two positions could cancel out.
 */
static inline uint64_t heap_hash_add(uint64_t sum, uint64_t value, uint64_t *place)
{
	uint64_t mixed = (value + *place) * 0x9e3779b97f4a7c15ull;

	*place += 0xd1342543de82ef95ull;
	mixed ^= mixed >> 32;
	return sum + mixed * 0xbf58476d1ce4e5b9ull;
}

/* Finalizes a hash. Never 0, which marks a free place. Its high bits are mixed best. */
static inline uint64_t heap_hash_end(uint64_t sum)
{
	sum ^= sum >> 29;
	return sum * 0xbf58476d1ce4e5b9ull | 1;
}

static inline uint32_t heap_numbered_check(const struct heap_numbered *numbered)
{
	/* Not a sum: equal errors in the number and here must not cancel out. */
	return (uint32_t)(numbered->hash >> 32) ^ (numbered->number + 1) * 0x9e3779b1u;
}

/* Two slots for each hash. */
static inline struct heap_numbered *heap_numbers_places(const struct heap_memory *memory,
							struct heap_numbered *table, uint64_t hash)
{
	/* A damaged mask may be odd: there is one more place than the mask reaches. */
	return &table[hash >> (64 - HEAP_STACK_BITS) & memory->numbers_mask];
}

/* Looks up the number of a hash in a table. False: not found. */
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

/* Maps the memory of a thread between guard pages. False: out of memory. */
bool heap_memory_map(struct preload_thread *thread);

/* The thread has a new ring, or is itself new. */
void heap_memory_reset(struct preload_thread *thread);
/* The tables are damaged: clears them. */
void heap_memory_repair(struct preload_thread *thread);

/* Keeps handlers of this thread out while it writes or walks. */
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

/* Records a mapped range with a stack of this thread. False: no space. */
bool heap_put_range(struct preload_thread *thread, uint64_t begin, uint64_t bytes, uint32_t stack);

/*
 * Reserves this many words in the ring. Waits for the recorder to make room, if allowed. NULL: no
 * space; *head is set to the end of the record: heap_publish().
 */
uint64_t *heap_claim_slowly(struct preload_thread *thread, uint32_t words, uint64_t *head);

HEAP_INLINE uint64_t *heap_claim(struct preload_thread *thread, uint32_t words, uint64_t *head)
{
	uint64_t begin = thread->head;
	uint64_t end = begin + words;
	uint64_t *to = thread->ring + (begin & (thread->ring_words - 1));

	if (__builtin_expect(end >= thread->heap_until, 0))
		to = heap_claim_slowly(thread, words, &end);
	else if (!to)
		__builtin_unreachable();
	*head = end;
	return to;
}

static inline void heap_publish(struct preload_thread *thread, uint64_t head)
{
	thread->head = head;
	atomic_store_explicit(&thread->slot->head, head, memory_order_release);
}

#endif
