/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_BPF_WALK_H
#define WICK_WIRE_BPF_WALK_H

/*
 * bpf_walk: what the BPF programs and the engine that loads them share: the
 * records that the kernel writes into the rings, and the tables that it reads.
 *
 * Fixed widths, no pointers. Both sides are of one build: no version is needed.
 *
 * Tables lie in a store of 8-byte words, numbered through all chunks of it. A
 * table has its rows (struct unwind_row, but with rules of the common
 * dictionary), and its pages: for each KiB of code the row that holds at its start.
 */

#include <stdint.h>

#define BPF_WALK_DEPTH 1024u
#define BPF_WALK_KERNEL_DEPTH 128u
#define BPF_WALK_REGISTERS 33u      /* by DWARF number, as UNWIND_REGISTERS */
#define BPF_WALK_SLICE_BYTES 61440u /* a record of a ring has 64 KiB at most */
#define BPF_WALK_SLICE_MORE 8u      /* records like it that may follow */
#define BPF_WALK_RULES 16384u

#define BPF_WALK_CHUNK_SHIFT 16u
#define BPF_WALK_CHUNK_WORDS (1u << BPF_WALK_CHUNK_SHIFT)
#define BPF_WALK_CHUNK_SLACK 8u /* words behind a chunk: no struct ends past them */
#define BPF_WALK_CHUNK_BYTES ((BPF_WALK_CHUNK_WORDS + BPF_WALK_CHUNK_SLACK) * 8u)
#define BPF_WALK_CHUNKS 1024u
#define BPF_WALK_PAGE_SHIFT 8u
#define BPF_WALK_ONE_RULE (1ull << 63) /* of a page: the rest of its word is the rule of it all */
#define BPF_WALK_MAPPINGS 4096u        /* of one process */

#define BPF_WALK_ALL (1u << 16) /* what shares of the samples are parts of */

/* What makes an address space: the kernel's mm, for as long as it is that of one program. */
struct bpf_walk_key {
	uint64_t mm;
	uint64_t start_stack; /* differs from exec to exec, should the mm come again */
	uint32_t tgid;
	uint32_t zero;
};

/* The code of an address space: mappings[first, first + count), sorted by start. */
struct bpf_walk_space {
	uint32_t first; /* word */
	uint32_t count;
	uint32_t generation; /* differs from all others: what is remembered of a pc is for one */
	uint32_t zero;
	/* Kept by the programs: pages of code when a stack led to none, and since when so many. */
	uint64_t doubt_pages;
	uint64_t doubt_ns;
};

/* A part of an address space with code. */
struct bpf_walk_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t row_base;   /* the address that rows count from */
	uint32_t first_row;  /* word */
	uint32_t row_count;  /* 0: code without rules */
	uint32_t first_page; /* word */
	uint32_t page_count;
	uint32_t unknown; /* its table is not here yet */
	uint32_t zero;
};

#define BPF_WALK_MAPPING_WORDS 6u
_Static_assert(sizeof(struct bpf_walk_mapping) == BPF_WALK_MAPPING_WORDS * 8, "is an array");
_Static_assert(BPF_WALK_MAPPING_WORDS <= BPF_WALK_CHUNK_SLACK, "fits behind a chunk");

/* What a record is. */
enum bpf_walk_kind {
	BPF_WALK_STACK = 1,      /* pcs: kernel's, then user's */
	BPF_WALK_SLICE = 2,      /* the user part is to be walked by whoever reads it */
	BPF_WALK_AWAY = 3,       /* a thread was off its CPU */
	BPF_WALK_AWAY_SLICE = 4, /* the same, and its stack came before it: */
	BPF_WALK_LEAVING = 5,    /* a slice of the thread `value` that leaves its CPU */
	BPF_WALK_WAKER = 6,      /* pcs of who wakes a thread, see BPF_WALK_WAKER_VALUE() */
	BPF_WALK_WAKER_SLICE = 7,
	BPF_WALK_MORE = 8, /* of the slice before it, only the next part of the stack */
	/* Of programs at an allocator's functions, see wire/bpf_heap.h: */
	BPF_WALK_HEAP = 9,        /* a block is there, and pcs */
	BPF_WALK_HEAP_SLICE = 10, /* a block is there, and a slice */
	BPF_WALK_HEAP_END = 11,   /* of a block */
	BPF_WALK_AWAY_SUMS = 12,  /* times off a CPU whose stack was not taken */
};

/* A stack that reaches so far goes on, if more of it can be read. */
#define BPF_WALK_IS_FULL(stack_bytes) ((stack_bytes) > BPF_WALK_SLICE_BYTES - 4096u)

/* For whom the kernel wakes a thread. */
enum bpf_walk_waker {
	BPF_WALK_BY_TASK,      /* the current one */
	BPF_WALK_BY_SOFTIRQ,   /* maybe the current one: sending to oneself ends there too */
	BPF_WALK_BY_INTERRUPT, /* nobody */
	BPF_WALK_BY_UNKNOWN,   /* the kernel's part of the stack shows which */
};

/* The value of a waker's record: who is woken, and for whom. */
#define BPF_WALK_WAKER_VALUE(tid, context) ((uint64_t)(context) << 32 | (tid))

/* Whom programs watch that see all tasks. */
enum bpf_walk_by {
	BPF_WALK_BY_MACHINE,
	BPF_WALK_BY_PROCESS,
	BPF_WALK_BY_THREAD,
	BPF_WALK_BY_CGROUP,
};

enum bpf_walk_watch {
	BPF_WALK_EXPECTED = 1, /* will exec, and is watched from then on */
	BPF_WALK_WATCHED = 2,
};

/* Why a thread is off its CPU. */
enum bpf_walk_state {
	BPF_WALK_SLEEPING,
	BPF_WALK_UNINTERRUPTIBLE,
	BPF_WALK_PREEMPTED, /* it would run if it could */
	BPF_WALK_ENDED,
};

/* The value of a slice of a thread that sleeps already: who it is, and how. */
#define BPF_WALK_SLEEPER_VALUE(tid, state) ((uint64_t)(state) << 32 | (tid))

/* Who a record is about, for when that is over before anybody has asked for the name. */
#define BPF_WALK_COMM_BYTES 16u

struct bpf_walk_name {
	char comm[BPF_WALK_COMM_BYTES]; /* of the thread */
	uint32_t pid;                   /* 0: it has none any more */
	uint32_t tid;
};

/* Of the end of the user part, besides enum unwind_end. */
#define BPF_WALK_NO_USER 0u        /* a kernel thread */
#define BPF_WALK_FOREIGN_USER 255u /* a 32-bit program */

struct bpf_walk_head {
	uint8_t kind;
	uint8_t end; /* enum unwind_end, or one of the above */
	uint16_t kernel_count;
	uint32_t user_count;
	uint64_t value; /* what the event counted; 0: nothing */
	struct bpf_walk_key key;
};

/* One of a process that is new, or without memory, has a struct bpf_walk_name behind it. */
struct bpf_walk_stack {
	struct bpf_walk_head head;
	uint64_t pcs[BPF_WALK_KERNEL_DEPTH + BPF_WALK_DEPTH];
};

struct bpf_walk_slice {
	struct bpf_walk_head head;
	uint64_t pcs[BPF_WALK_KERNEL_DEPTH];
	uint64_t pc;
	uint64_t registers[BPF_WALK_REGISTERS];
	uint64_t stack_start; /* sp, or below it by a red zone that could be read */
	uint64_t stack_bytes;
	/* Of the process that forked it and has the same code: key, and id, 0 for none. */
	struct bpf_walk_key parent;
	uint32_t parent_pid;
	/* Of a thread that sleeps already: */
	uint32_t pid;  /* of its process */
	uint32_t task; /* its own, as the kernel counts */
	uint32_t zero;
	uint64_t lock; /* as of struct bpf_walk_times */
	struct bpf_walk_name name;
	uint8_t stack[BPF_WALK_SLICE_BYTES];
};

/* CLOCK_MONOTONIC. It slept until it was woken (0: never), and waited for a CPU after that. */
struct bpf_walk_times {
	uint64_t left_ns; /* 0: it is not away */
	uint64_t woken_ns;
	uint64_t back_ns;
	uint32_t tid; /* as whoever records counts, in its namespace */
	uint32_t tgid;
	uint32_t state; /* enum bpf_walk_state */
	uint32_t zero;
	uint64_t lock;                  /* address of the futex that it waits for; 0: none */
	char comm[BPF_WALK_COMM_BYTES]; /* of the thread */
};

/* Counters of the programs, one set for each CPU. */
enum bpf_walk_counter {
	BPF_WALK_COUNT_SAMPLES,
	BPF_WALK_COUNT_SLICES,
	BPF_WALK_COUNT_LOST,      /* no room in the ring */
	BPF_WALK_COUNT_NO_STACK,  /* no room for the slice of who leaves: the time is kept */
	BPF_WALK_COUNT_NO_SPACE,  /* slices: the address space was not known */
	BPF_WALK_COUNT_NO_TABLE,  /* slices: a module or its table was not known */
	BPF_WALK_COUNT_AWAY_FULL, /* threads that could not be kept in mind */
	BPF_WALK_COUNT_SHORT,     /* times off a CPU that were too short to tell */
	BPF_WALK_COUNT_RUN_NS,    /* that threads ran between times off a CPU */
	/* Of what is watched: others on the machine are looked at, too. */
	BPF_WALK_COUNT_LEFT,    /* times that a thread left its CPU */
	BPF_WALK_COUNT_OWN,     /* switches from such a thread, or to one */
	BPF_WALK_COUNT_OWN_NS,  /* what they took, and wakers' stacks */
	BPF_WALK_COUNT_WAKEUPS, /* of such threads */
	/* Some of the others' switches, and what these took. */
	BPF_WALK_COUNT_OTHER,
	BPF_WALK_COUNT_OTHER_NS,
	BPF_WALK_COUNTERS,
};

#endif
