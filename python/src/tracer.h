/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_TRACER_H
#define WICK_PYTHON_TRACER_H

/*
 * tracer: the state of wick._tracer. There is one per process, because there is one set of
 * allocators per process.
 *
 * There are two tables. The first holds blocks of the domains "mem" and "object", which are only
 * used with the GIL held; the GIL is its lock, until a subinterpreter, which may have its own GIL,
 * is created. The second holds blocks of the domain "raw", sampled blocks and blocks of C code; it
 * has a mutex, which also protects the tracked blocks.
 *
 * Locks: take the GIL before a table's lock, and that before the lock of the events. While holding
 * a table's lock, do not wait, and allocate only with mmap().
 */

#include "version.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "block_trace/blocks.h"
#include "block_trace/events.h"
#include "block_trace/memory.h"
#include "block_trace/sites.h"
#include "block_trace/tracked.h"

enum tracer_table_id { TABLE_GIL = 0, TABLE_LOCKED = 1, TABLE_COUNT };

/* The domain of blocks that C code allocates without Python's allocators ("WCK"). */
#define TRACER_C_DOMAIN 0x57434bu

/* Set in the ids of sites and stacks of the second table. */
#define TRACER_LOCKED_BIT 0x80000000u

/*
 * A cached value of a frame: the depth of its stack, or its site. A frame with the same caller at
 * the same instruction and the same level has the same number of callers. The caller is compared
 * because generators and coroutines are resumed by different ones, and C code calls functions too.
 */
struct frame_memo {
	const version_frame *frame;
	const version_frame *caller;
	const PyThreadState *thread;
	uint64_t word; /* of the code object, or version_place() for a site */
	uint64_t level;
	uint32_t value;
};

#define FRAME_MEMOS 256

static inline struct frame_memo *frame_memo(struct frame_memo *memos, const version_frame *frame,
					    uint64_t word)
{
	return &memos[((uintptr_t)frame >> 4 ^ (uintptr_t)frame >> 11 ^ word * 5) % FRAME_MEMOS];
}

static inline bool frame_memo_matches(const struct frame_memo *memo, const PyThreadState *thread,
				      const version_frame *frame, uint64_t word)
{
	return memo->frame == frame && memo->word == word && memo->thread == thread &&
	       memo->level == version_level(thread) && memo->caller == version_caller(frame);
}

static inline void frame_memo_set(struct frame_memo *memo, const PyThreadState *thread,
				  const version_frame *frame, uint64_t word, uint32_t value)
{
	*memo = (struct frame_memo){frame, version_caller(frame), thread,
				    word,  version_level(thread), value};
}

struct tracer_table {
	struct trace_blocks blocks;
	struct trace_sites sites;
	uint64_t *words; /* buffer for one walk */
	size_t words_max;
	struct frame_memo depths[FRAME_MEMOS];
	struct frame_memo sites_of_frames[FRAME_MEMOS];
	uint32_t stacks_named; /* stacks and frames whose modules are known: modules.h */
	uint32_t frames_named;
	uint32_t clears;       /* how often the stacks were dropped; ids changed their meaning */
	_Atomic int64_t bytes; /* in live traced blocks */
	bool has_lock;         /* false: the GIL protects the table */
	pthread_mutex_t lock;
};

struct tracer_settings {
	uint32_t calls_max;    /* nframe */
	uint32_t native_max;   /* return addresses per stack; 0: C code is not traced */
	double sampling_bytes; /* 0: not sampled by bytes */
	double probability;    /* 0: not sampled by blocks */
	size_t events_bytes;
	uint32_t stacks_max;
};

struct tracer {
	_Atomic bool is_tracing;
	/*
	 * Every block is recorded, there is one interpreter, and no events are kept: the hooks use
	 * the fast path. Derived from the other members; see tracer_choose_way().
	 */
	bool is_simple;
	bool is_sampled;
	struct tracer_settings settings;
	struct tracer_table tables[TABLE_COUNT];
	struct tracked_blocks tracked; /* protected by the lock of the second table */
	struct trace_memory memory;
	struct trace_events events;
	pthread_mutex_t events_lock; /* for the events, while they are kept for a reader */
	_Atomic int64_t peak_bytes;
	uint64_t hook_calls;        /* in the domains "mem" and "object" */
	uint64_t hook_ticks;        /* spent in the timed calls, one out of HOOK_TIMED */
	_Atomic uint64_t raw_calls; /* in the domain "raw" */
	_Atomic uint64_t dropped;   /* blocks for which there was no memory */
	_Atomic uint64_t dropped_stacks;
	uint64_t start_ticks; /* the same moment as start_ns */
	uint64_t start_ns;
	PyInterpreterState *main_interpreter;
	/* The newest block: it already has the right site when its object is initialised. */
	uintptr_t newest;
};

/* Hidden, so that it is accessed without the GOT. */
extern struct tracer tracer __attribute__((visibility("hidden")));

/* Reasons why a thread's requests are not recorded, as bits; 0: they are recorded. */
enum thread_state {
	THREAD_NESTED = 1,   /* inside the real allocator: the outer request is recorded */
	THREAD_OWN = 2,      /* inside the tracer */
	THREAD_EXCLUDED = 4, /* exclude_thread() was called */
};

/* State of each thread. */
struct tracer_thread {
	uint32_t id;        /* kernel thread id; 0: not known yet */
	uint32_t state;     /* enum thread_state */
	uint32_t locks;     /* locks it holds; a signal handler must not wait for them */
	int64_t left_bytes; /* until the next sampled block of the domain "raw" */
};

extern __thread struct tracer_thread tracer_thread
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Returns the old state. */
static inline uint32_t tracer_thread_enter(enum thread_state state)
{
	uint32_t old = tracer_thread.state;

	tracer_thread.state = old | state;
	return old;
}

static inline void tracer_lock(struct tracer_table *table)
{
	if (!table->has_lock)
		return;
	tracer_thread.locks++;
	pthread_mutex_lock(&table->lock);
}

static inline void tracer_unlock(struct tracer_table *table)
{
	if (!table->has_lock)
		return;
	pthread_mutex_unlock(&table->lock);
	tracer_thread.locks--;
}

static inline void tracer_lock_events(void)
{
	tracer_thread.locks++;
	pthread_mutex_lock(&tracer.events_lock);
}

static inline void tracer_unlock_events(void)
{
	pthread_mutex_unlock(&tracer.events_lock);
	tracer_thread.locks--;
}

/* Call with the GIL held or a table locked, if events are kept. */
static inline void tracer_put_event(enum trace_event_kind kind, uint64_t address, uint64_t size,
				    uint32_t site)
{
	bool is_locked = tracer.events.is_kept;

	if (__builtin_expect(is_locked, 0))
		tracer_lock_events();
	trace_events_put(&tracer.events, kind, address, size, site);
	if (__builtin_expect(is_locked, 0))
		tracer_unlock_events();
}

/* Returns 0 or a negative errno; *ret_problem is then the message of start()'s RuntimeError. */
int tracer_start(const struct tracer_settings *settings, const char **ret_problem);
void tracer_stop(void);
/* Starts keeping events while tracing; does nothing if they are kept. Returns 0 or -ENOMEM. */
int tracer_keep_events(size_t bytes);
/* Events from a number on wait for a reader: trace_events_keep(). Nothing happens if none are kept.
 */
void tracer_hold_events(uint64_t number);
void tracer_hold_no_events(void);
/* Drops all live blocks from the tables, and all stacks if nobody needs them: hold.h. */
void tracer_clear(void);
/* Drops all blocks and stacks, and frees their memory. Does nothing while tracing. */
void tracer_drop_stacks(void);
int64_t tracer_live_bytes(void);
/* Updates is_simple. Call it after changing anything that is_simple depends on. */
void tracer_choose_way(void);

/*
 * hooks.c: hooks the allocators of the three domains. Returns 0, or -EBUSY if hooks of another kind
 * are still in use by a tool that hooked on top of them.
 */
int hooks_install(void);
void hooks_remove(void);
/* Whether requests come through the hooks; they may have been removed by somebody else. */
bool hooks_are_reached(void);
/* Whether nobody has put hooks over ours. */
bool hooks_are_last(void);

/* sampled_hooks.c: the hook functions of a domain when blocks are sampled. */
void sampled_hooks_begin(void);
void sampled_hooks_functions(PyMemAllocatorDomain domain, PyMemAllocatorEx *allocator);
void sampled_hooks_end(void);
/* Returns the probability that a block of this size is sampled. */
double sampled_probability(uint64_t size);

/* Returns whether to sample the block that the running thread allocates without the GIL. */
bool sampled_is_due(size_t size);
/* A filter: add or remove a sampled block, or ask whether a block may be a sampled one. */
void sampled_add(const void *block);
void sampled_remove(const void *block);
bool sampled_may_know(const void *block);

/* The real functions of each domain. They stay valid after the hooks are removed. */
extern PyMemAllocatorEx hooks_real[3];

/* One out of this many hook calls is timed. */
#define HOOK_TIMED 1024

#endif
