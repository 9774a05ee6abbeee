/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_RUNTIME_H
#define WICK_PRELOAD_RUNTIME_H

/*
 * runtime: what the preload library knows of the program that it is in.
 *
 * The library does nothing that the program could notice: no allocation from its
 * heap, no lock that the program could hold, no descriptor left open, no thread of
 * its own. It is inert without a session, and when the session's recorder is gone.
 *
 * This folder is the one place with global state: a library that is loaded into
 * any program has nobody who could hand it a context.
 */

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/own_stack.h"
#include "wire/session.h"
#include "wire/session_layout.h"

/* Memory that others do not see is found without a table. */
#define PRELOAD_OWN __attribute__((visibility("hidden")))

#define PRELOAD_DEPTH 1024u
#define PRELOAD_PARTS 16u
#define PRELOAD_NAME_BYTES 201u
#define PRELOAD_NESTED 16u
#define PRELOAD_NESTED_WAYS 4u

/* A call from within the allocator, as it was looked at: see heap_nested.h. */
struct preload_nested {
	uint64_t pc;
	uint64_t distance; /* from the call that it is within; 0: none */
};

/* What is kept for a thread, in memory of our own. */
struct preload_thread {
	uint32_t tid; /* 0: nobody's */
	uint32_t index;
	struct session_slot *slot;
	uint64_t *ring;
	uint64_t ring_words;   /* of it that are used; a power of two */
	uint64_t head;         /* words written, ever: what the slot has is for the reader */
	_Atomic uint32_t busy; /* the thread is in our code: what interrupts it stays out */

	/* Ticks */
	int cpu_timer; /* of the kernel, by the thread's CPU time; -1: none */
	int clock_timer;
	bool by_clock; /* it is the clock that ticks now */
	bool slow;     /* nothing is sampled: hardly any ticks */
	bool first;    /* no tick has come yet */
	bool paused;   /* and that is as it should be */
	bool late;     /* the last tick waited for the thread to have a CPU */
	bool ran;      /* it was not, and the thread ran for most of the time up to it */
	bool unmet;    /* it shares the timer of the process, which has not met it yet */
	uint32_t ticks;
	uint32_t idle_ticks;  /* of the clock, one after the other */
	uint64_t armed_ns;    /* the period that the timers were set for */
	uint64_t due_ns;      /* when the first tick of the clock was to come */
	uint64_t clock_ns;    /* its period; 0: a single one */
	uint64_t step_ns;     /* from the last tick of the clock to the next */
	uint64_t tick_cpu_ns; /* at the last tick of either */
	uint64_t last_cpu_ns; /* when the last sample was taken */
	uint64_t last_ns;
	uint64_t sleeps; /* times that it had left its CPU by itself, at the last tick */

	/* Faults of our own code lead back here. */
	_Atomic uint32_t guarded;
	jmp_buf recovery;

	/* How it begins. */
	void *(*routine)(void *);
	void *argument;
	uint64_t stack_bytes;
	uint64_t stack_low; /* of one that the program has given; 0: not known */

	/* What it has told of itself: texts of session_texts; the parts that it is in. */
	uint32_t label_bytes;
	char labels[SESSION_TEXT_BYTES];
	uint32_t part_count;
	struct {
		uint64_t begin_ns;
		char name[PRELOAD_NAME_BYTES];
	} parts[PRELOAD_PARTS];

	/* The heap */
	uint64_t inside;     /* the frame of the allocator that the thread is in: nested.h; 0 */
	uint64_t left_bytes; /* until the next block that is recorded, where not all are */
	/* The last block that was, and left_bytes then: as long as that stays, it is the last of
	 * all. */
	uint64_t last_key;
	uint64_t last_left_bytes;
	uint64_t random;
	uint32_t end_rounds; /* of destructors, while the thread ends */
	/* Its id once they have all run: the C library frees more until it is gone. 0: not yet. */
	_Atomic uint32_t ending_tid;
	uint64_t inside_word;    /* of that call */
	const void *inner_block; /* what operator new was given by malloc() or its like */
	uint64_t new_frame;      /* of the operator new that the thread is in; 0: none */
	bool new_of_allocator;   /* which brings an operator of its own */
	bool new_failed;         /* it was given nothing: see heap_new.c */
	bool heap_deep;          /* it has had deep stacks */
	bool heap_small;         /* it has but few places in its tables */
	uint64_t told_rate;      /* that its blocks are sampled with, as far as the reader knows */
	uint64_t heap_tail;      /* of the ring, as far as it was looked at */
	uint32_t heap_numbers;   /* that stacks were given */
	uint32_t heap_written;   /* frames of the stack that was written last */
	uint64_t hooked;         /* as inside, of hooked functions: see hook.h */
	uint64_t hooked_word;
	struct heap_memory *heap; /* what else it takes; NULL: not yet */
	struct preload_nested nested[PRELOAD_NESTED][PRELOAD_NESTED_WAYS];
	uint32_t nested_passes; /* calls that pass until one is looked at: looking told nothing */
	uint32_t nested_passed;

	/* Stacks: the last one that was written, and the next. */
	uint32_t written_count;
	uint64_t *written;
	uint64_t *pcs;
	uint64_t stacks[2][PRELOAD_DEPTH];
	struct unwind_thread unwind;
};

/* What the program wants left out of itself. */
#define PRELOAD_PAUSED 1u  /* samples */
#define PRELOAD_STOPPED 2u /* all, and its threads have no timers */

struct preload_runtime {
	struct session_control *control; /* NULL: inert */
	struct session_process *process;
	uint32_t slot_count;
	char folder[SESSION_PATH_MAX];
	char file_name[64]; /* of the process file */
	struct session_layout layout;
	uint64_t file_bytes;     /* that are mapped of it */
	_Atomic uint32_t roomed; /* slots whose rings have room in it */
	const void *tables;
	uint64_t tables_bytes;
	uint32_t pid;
	struct unwind_own unwind;
	_Atomic uint32_t mode;         /* copy of the control's, 0 once we are out */
	_Atomic uint32_t paused;       /* by the program itself: PRELOAD_… */
	_Atomic uint32_t unsure_until; /* modules may have gone: lists before it are void */
	_Atomic(struct preload_thread *) threads[SESSION_SLOTS];
	_Atomic uint32_t tids[SESSION_SLOTS]; /* theirs, to look through; 0: none */
	_Atomic uint32_t thread_limit;        /* no index is larger or equal */
	_Atomic uint32_t ending_count;        /* threads that have an ending_tid */
	uint64_t default_stack_bytes;
	uint32_t jiffy_ns; /* CPU timers tick no faster */
	bool begun;        /* the session was looked for */
};

extern struct preload_runtime preload PRELOAD_OWN;

/* The thread that runs, NULL when it is not known. */
extern __thread struct preload_thread *preload_self __attribute__((tls_model("initial-exec")))
PRELOAD_OWN;

/* Whether there is a session and it goes on. */
static inline bool preload_active(void)
{
	return atomic_load_explicit(&preload.mode, memory_order_relaxed) != 0;
}

static inline void preload_count(enum session_count what, uint64_t n)
{
	if (preload.process)
		atomic_fetch_add_explicit(&preload.process->counts[what], n, memory_order_relaxed);
}

/* Looks for a session and joins it, the first time that it is called. */
void preload_begin(void);

/* Ends all recording in this program for good. Safe in handlers. */
void preload_give_up(enum session_process_state state);

#endif
