/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_RUNTIME_H
#define WICK_PRELOAD_RUNTIME_H

/*
 * runtime: the state of the preload library in a program.
 *
 * The library does nothing that the program could notice: it does not allocate from the program's
 * heap, takes no lock that the program could hold, leaves no descriptor open and starts no thread.
 * It is inert without a session, and after the session's recorder is gone.
 *
 * This folder is the only place with global state: nobody can pass a context to a preloaded
 * library.
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

/* Hidden symbols are accessed without the GOT. */
#define PRELOAD_OWN __attribute__((visibility("hidden")))

#define PRELOAD_DEPTH 1024u
#define PRELOAD_PARTS 16u
#define PRELOAD_NAME_BYTES 201u
#define PRELOAD_NESTED 16u
#define PRELOAD_NESTED_WAYS 4u

/* A call from inside the allocator that was checked: see heap_nested.h. */
struct preload_nested {
	uint64_t pc;
	uint64_t distance; /* from the outer call; 0: none */
};

/* The state of a thread, in our own memory. */
struct preload_thread {
	uint32_t tid; /* 0: unused */
	uint32_t index;
	struct session_slot *slot;
	uint64_t *ring;
	uint64_t ring_words;   /* size in use; a power of two */
	uint64_t head;         /* total words written; the copy in the slot is for the reader */
	_Atomic uint32_t busy; /* the thread is in our code: handlers stay out */
	bool new_failed;       /* the allocation of operator new failed: see heap_new.c */

	/* What each allocation needs is in two cache lines. */
	uint64_t heap_until;  /* records that end before here need no check */
	uint64_t inside;      /* frame of the active allocator call, see nested_call.h; 0: none */
	uint64_t inside_word; /* return address of that call */
	struct heap_memory *heap; /* tables of the heap; NULL: not yet */
	uint64_t python_state;    /* what the interpreter keeps about it; 0: not found */
	uint64_t left_bytes;      /* until the next sampled block, if blocks are sampled */

	/* Ticks */
	int cpu_timer; /* kernel timer of the thread's CPU time; -1: none */
	int clock_timer;
	bool by_clock; /* the wall clock timer is ticking */
	bool slow;     /* nothing is sampled: few ticks */
	bool first;    /* no tick yet */
	bool paused;   /* sampling is paused */
	bool late;     /* the last tick waited until the thread had a CPU */
	bool ran;      /* not late, and the thread ran for most of the time before it */
	bool unmet;    /* it shares the process timer, which has not ticked for it yet */
	uint32_t ticks;
	uint32_t idle_ticks;  /* consecutive ticks of the clock */
	uint64_t armed_ns;    /* the period that the timers are set to */
	uint64_t due_ns;      /* when the first tick of the clock is due */
	uint64_t clock_ns;    /* its period; 0: one-shot */
	uint64_t step_ns;     /* from the last tick of the clock to the next */
	uint64_t tick_cpu_ns; /* at the last tick of either */
	uint64_t last_cpu_ns; /* at the last sample */
	uint64_t last_ns;
	uint64_t sleeps; /* voluntary context switches, at the last tick */

	/* Recovery from faults in our own code. */
	_Atomic uint32_t guarded;
	jmp_buf recovery;

	/* Its start routine. */
	void *(*routine)(void *);
	void *argument;
	uint64_t stack_bytes;
	uint64_t stack_low; /* of a stack that the program provided; 0: unknown */

	/* What it reported: texts of session_texts; the parts that it is in. */
	uint32_t label_bytes;
	char labels[SESSION_TEXT_BYTES];
	uint32_t part_count;
	struct {
		uint64_t begin_ns;
		char name[PRELOAD_NAME_BYTES];
	} parts[PRELOAD_PARTS];

	/* The heap */
	/*
	 * The last sampled block, and left_bytes then: while that is unchanged, it is the last
	 * block of all.
	 */
	uint64_t last_key;
	uint64_t last_left_bytes;
	uint64_t random;
	uint32_t end_rounds; /* rounds of destructors while the thread ends */
	/*
	 * Its id after all destructors ran: the C library still frees memory until the thread is
	 * gone. 0: not yet.
	 */
	_Atomic uint32_t ending_tid;
	const void *inner_block; /* what malloc() or the like returned to operator new */
	uint64_t new_frame;      /* frame of the active operator new; 0: none */
	bool new_of_allocator;   /* the allocator has its own operator new */
	bool heap_deep;          /* it has had deep stacks */
	bool heap_small;         /* its tables are small */
	uint64_t told_rate;      /* sampling rate last reported to the reader */
	uint64_t heap_tail;      /* tail of the ring, as last read */
	uint32_t heap_numbers;   /* numbers given to stacks */
	uint32_t heap_written;   /* frames of the stack written last */
	uint64_t hooked;         /* like inside, for hooked functions: see hook.h */
	uint64_t hooked_word;
	struct preload_nested nested[PRELOAD_NESTED][PRELOAD_NESTED_WAYS];
	uint32_t nested_passes; /* calls to skip before the next check, after checks gave no result
				 */
	uint32_t nested_passed;

	/* Stacks: the last one written, and the next. */
	uint32_t written_count;
	uint64_t *written;
	uint64_t *pcs;
	uint64_t stacks[2][PRELOAD_DEPTH];
	struct unwind_thread unwind;
};

/* What the program has paused. */
#define PRELOAD_PAUSED 1u  /* samples */
#define PRELOAD_STOPPED 2u /* everything; its threads have no timers */

struct preload_runtime {
	struct session_control *control; /* NULL: inert */
	struct session_process *process;
	uint32_t slot_count;
	char folder[SESSION_PATH_MAX];
	char file_name[64]; /* of the process file */
	struct session_layout layout;
	uint64_t file_bytes;     /* mapped bytes */
	_Atomic uint32_t roomed; /* slots whose rings fit into the file */
	const void *tables;
	uint64_t tables_bytes;
	uint32_t pid;
	struct unwind_own unwind;
	_Atomic uint32_t mode;         /* copy of the control's mode; 0 after we gave up */
	_Atomic uint32_t paused;       /* by the program: PRELOAD_… */
	_Atomic uint32_t unsure_until; /* modules may be gone: lists older than this are invalid */
	_Atomic(struct preload_thread *) threads[SESSION_SLOTS];
	_Atomic uint32_t tids[SESSION_SLOTS]; /* ids of threads, for searching; 0: none */
	_Atomic uint32_t thread_limit;        /* all indexes are below this */
	_Atomic uint32_t ending_count;        /* threads with an ending_tid */
	uint64_t default_stack_bytes;
	uint32_t jiffy_ns; /* shortest period of CPU timers */
	bool begun;        /* the session was searched for */
};

extern struct preload_runtime preload PRELOAD_OWN;

/* The running thread; NULL: unknown. */
extern __thread struct preload_thread *preload_self __attribute__((tls_model("initial-exec")))
PRELOAD_OWN;

/* Whether there is an active session. */
static inline bool preload_active(void)
{
	return atomic_load_explicit(&preload.mode, memory_order_relaxed) != 0;
}

static inline void preload_count(enum session_count what, uint64_t n)
{
	if (preload.process)
		atomic_fetch_add_explicit(&preload.process->counts[what], n, memory_order_relaxed);
}

/* Searches for a session and joins it, on the first call. */
void preload_begin(void);

/* Ends all recording in this program for good. Async-signal-safe. */
void preload_give_up(enum session_process_state state);

#endif
