/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_TRACER_H
#define WICK_PYTHON_TRACER_H

/*
 * tracer: the state of wick._tracer. There is one in a process, as there is one set of allocators.
 *
 * There are two tables. The first holds blocks of the domains "mem" and "object", which are used
 * with the GIL only; the GIL is its lock, until an interpreter with a GIL of its own may exist. The
 * second holds blocks of the domain "raw", tracked blocks, sampled blocks and blocks of C code; it
 * has a lock.
 *
 * Locks: the GIL before a table's lock. Who holds a table's lock waits for nothing and allocates
 * nothing but pages of the kernel.
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

/* The domain of blocks that C code allocated without Python's allocators ("WCK"). */
#define TRACER_C_DOMAIN 0x57434bu

/* Sites and stacks of the second table have this bit in their ids. */
#define TRACER_LOCKED_BIT 0x80000000u

/*
 * Something that was found out about a frame: how deep its stack is, or its site. The same frame,
 * at the same place of its code and the same level of recursion, has the same number of callers.
 */
struct frame_memo {
	const version_frame *frame;
	const PyThreadState *thread;
	uint64_t word;
	int recursion;
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
	       memo->recursion == version_recursion(thread);
}

struct tracer_table {
	struct trace_blocks blocks;
	struct trace_sites sites;
	uint64_t *words; /* room for one walk */
	size_t words_max;
	struct frame_memo depths[FRAME_MEMOS];
	struct frame_memo sites_of_frames[FRAME_MEMOS];
	uint32_t stacks_named; /* stacks whose modules are known: modules.h */
	_Atomic int64_t bytes; /* live, traced */
	bool has_lock;         /* else the GIL protects it */
	pthread_mutex_t lock;
};

struct tracer_settings {
	uint32_t calls_max;    /* nframe */
	uint32_t native_max;   /* return addresses of a stack; 0: C code is not traced */
	double sampling_bytes; /* 0: not sampled by bytes */
	double probability;    /* 0: not sampled by blocks */
	size_t events_bytes;
	uint32_t stacks_max;
};

struct tracer {
	_Atomic bool is_tracing;
	/*
	 * Every block is recorded, by one interpreter, without events: what the shortest way
	 * through the hooks is for. Follows from the rest; see tracer_choose_way().
	 */
	bool is_simple;
	bool is_sampled;
	struct tracer_settings settings;
	struct tracer_table tables[TABLE_COUNT];
	struct tracked_blocks tracked; /* protected by the lock of the second table */
	struct trace_memory memory;
	struct trace_events events;
	_Atomic int64_t peak_bytes;
	uint64_t hook_calls;        /* of the domains "mem" and "object" */
	uint64_t hook_ticks;        /* spent in one of HOOK_TIMED of them */
	_Atomic uint64_t raw_calls; /* of the domain "raw" */
	_Atomic uint64_t dropped;   /* blocks for which there was no memory */
	_Atomic uint64_t dropped_stacks;
	uint64_t start_ticks; /* the same moment on two clocks */
	uint64_t start_ns;
	PyInterpreterState *main_interpreter;
	/* A block that was just allocated is not looked for when its object is initialised. */
	uintptr_t newest;
};

/* Hidden, so that it is reached without the table of the linker. */
extern struct tracer tracer __attribute__((visibility("hidden")));

/* Why a thread's requests are not recorded; 0: they are. */
enum thread_state {
	THREAD_NESTED = 1,   /* inside the real allocator: another domain was asked already */
	THREAD_OWN = 2,      /* inside the tracer */
	THREAD_EXCLUDED = 4, /* asked for by exclude_thread() */
};

/* What each thread remembers. */
struct tracer_thread {
	uint32_t id;        /* of the kernel; 0: not asked yet */
	uint32_t state;     /* enum thread_state */
	uint32_t locks;     /* tables that it has locked: a signal handler must not wait for them */
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

/* What start() raises as RuntimeError is in *ret_problem. Returns 0 or a negative errno. */
int tracer_start(const struct tracer_settings *settings, const char **ret_problem);
void tracer_stop(void);
/* Begins to keep events while tracing; events that are kept already stay. 0 or -ENOMEM. */
int tracer_keep_events(size_t bytes);
/* Forgets all live blocks. */
void tracer_clear(void);
int64_t tracer_live_bytes(void);
/* Sets is_simple, after a change of what it follows from. */
void tracer_choose_way(void);

/*
 * hooks.c: the allocators of the three domains. -EBUSY: hooks of another kind are still in use by
 * somebody who put his own over them.
 */
int hooks_install(void);
void hooks_remove(void);

/* sampled_hooks.c: the functions for a domain when blocks are sampled. */
void sampled_hooks_begin(void);
void sampled_hooks_functions(PyMemAllocatorDomain domain, PyMemAllocatorEx *allocator);
void sampled_hooks_end(void);
/* The probability with which a block of this size is sampled. */
double sampled_probability(uint64_t size);

/* Whether the running thread's next block without the GIL is sampled. */
bool sampled_is_due(size_t size);
/* Note and forget a sampled block; whether one may be known. */
void sampled_add(const void *block);
void sampled_remove(const void *block);
bool sampled_may_know(const void *block);

/* The real functions of a domain, valid while hooks are installed and for ever after. */
extern PyMemAllocatorEx hooks_real[3];

/* Of so many calls of the hooks one is timed. */
#define HOOK_TIMED 1024

#endif
