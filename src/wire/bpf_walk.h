/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_BPF_WALK_H
#define WICK_WIRE_BPF_WALK_H

/*
 * bpf_walk: what the BPF programs share with the engine that loads them: the records that they
 * write into the rings, and the tables that they read.
 *
 * Fixed widths, no pointers. Both sides are from one build: no version is needed.
 *
 * Tables are in a store, see wire/bpf_table.h; their rules are those of a common dictionary.
 */

#include <stdint.h>

#include "wire/bpf_table.h"

#define BPF_WALK_DEPTH 1024u
#define BPF_WALK_KERNEL_DEPTH 128u
#define BPF_WALK_REGISTERS 33u      /* by DWARF number, as UNWIND_REGISTERS */
#define BPF_WALK_SLICE_BYTES 61440u /* a record in a ring has at most 64 KiB */
#define BPF_WALK_SLICE_MORE 8u      /* records like it that may follow */
#define BPF_WALK_MAPPINGS 4096u     /* of one process */

#define BPF_WALK_ALL (1u << 16) /* the whole, for shares of samples */

/* Identifies an address space: the kernel's mm, while it belongs to one program. */
struct bpf_walk_key {
	uint64_t mm;
	uint64_t start_stack; /* differs between execs, in case the mm is reused */
	uint32_t tgid;
	uint32_t zero;
};

/* The code of an address space: mappings[first, first + count), sorted by start. */
struct bpf_walk_space {
	uint32_t first; /* word */
	uint32_t count;
	uint32_t generation; /* unique: a cached pc is valid for one generation */
	uint32_t zero;
	/* Kept by the programs: pages of code when a stack led to none, and since when. */
	uint64_t doubt_pages;
	uint64_t doubt_ns;
};

/* A part of an address space with code. */
struct bpf_walk_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t base;       /* the address that the first page begins at */
	uint32_t first_page; /* word */
	uint32_t page_count; /* 0: code without rules */
	uint32_t unknown;    /* its table is not loaded yet */
	uint32_t zero;
};

#define BPF_WALK_MAPPING_WORDS 5u
_Static_assert(sizeof(struct bpf_walk_mapping) == BPF_WALK_MAPPING_WORDS * 8, "is an array");
_Static_assert(BPF_WALK_MAPPING_WORDS <= BPF_WALK_CHUNK_SLACK, "fits behind a chunk");

/* Kinds of records. */
enum bpf_walk_kind {
	BPF_WALK_STACK = 1,      /* pcs: kernel's, then user's */
	BPF_WALK_SLICE = 2,      /* the reader walks the user part */
	BPF_WALK_AWAY = 3,       /* a thread was off its CPU */
	BPF_WALK_AWAY_SLICE = 4, /* the same, and its stack was sent before it: */
	BPF_WALK_LEAVING = 5,    /* a slice of the thread `value`, which leaves its CPU */
	BPF_WALK_WAKER = 6,      /* pcs of a thread that wakes another: BPF_WALK_WAKER_VALUE() */
	BPF_WALK_WAKER_SLICE = 7,
	BPF_WALK_MORE = 8, /* the next part of the stack of the previous slice */
	/* From programs at an allocator's functions, see wire/bpf_heap.h: */
	BPF_WALK_HEAP = 9,        /* a block was allocated, with pcs */
	BPF_WALK_HEAP_SLICE = 10, /* a block was allocated, with a slice */
	BPF_WALK_HEAP_END = 11,   /* the end of a block */
	BPF_WALK_AWAY_SUMS = 12,  /* times off a CPU whose stack was not taken */
	BPF_WALK_CODE = 13,       /* a code object of Python, before a stack that refers to it */
};

/* A stack of this size continues, if more of it can be read. */
#define BPF_WALK_IS_FULL(stack_bytes) ((stack_bytes) > BPF_WALK_SLICE_BYTES - 4096u)

/* On whose behalf the kernel wakes a thread. */
enum bpf_walk_waker {
	BPF_WALK_BY_TASK,      /* the current task */
	BPF_WALK_BY_SOFTIRQ,   /* maybe the current task: sending to oneself ends there too */
	BPF_WALK_BY_INTERRUPT, /* nobody */
	BPF_WALK_BY_UNKNOWN,   /* the kernel's part of the stack shows which */
};

/* The value of a waker's record: which thread is woken, and on whose behalf. */
#define BPF_WALK_WAKER_VALUE(tid, context) ((uint64_t)(context) << 32 | (tid))

/* What programs that see all tasks watch. */
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
	BPF_WALK_PREEMPTED, /* it could run */
	BPF_WALK_ENDED,
};

/* The value of a slice of a thread that is already asleep: which thread, and how. */
#define BPF_WALK_SLEEPER_VALUE(tid, state) ((uint64_t)(state) << 32 | (tid))

/* Which process a record is about, in case it ends before its name is read. */
#define BPF_WALK_COMM_BYTES 16u

struct bpf_walk_name {
	char comm[BPF_WALK_COMM_BYTES]; /* of the thread */
	uint32_t pid;                   /* 0: no longer known */
	uint32_t tid;
};

/* How the user part ended, besides enum unwind_end. */
#define BPF_WALK_NO_USER 0u        /* a kernel thread */
#define BPF_WALK_FOREIGN_USER 255u /* a 32-bit program */

struct bpf_walk_head {
	uint8_t kind;
	uint8_t end; /* enum unwind_end, or one of the above */
	uint16_t kernel_count;
	uint32_t user_count;
	uint64_t value; /* the event's count; 0: none */
	struct bpf_walk_key key;
};

/* For a process that is new or has no memory, a struct bpf_walk_name follows. */
struct bpf_walk_stack {
	struct bpf_walk_head head;
	uint64_t pcs[BPF_WALK_KERNEL_DEPTH + BPF_WALK_DEPTH];
};

struct bpf_walk_slice {
	struct bpf_walk_head head;
	uint64_t pcs[BPF_WALK_KERNEL_DEPTH];
	uint64_t pc;
	uint64_t registers[BPF_WALK_REGISTERS];
	uint64_t stack_start; /* sp, or below it by a readable red zone */
	uint64_t stack_bytes;
	/* The process that forked it and has the same code: key, and id, 0 for none. */
	struct bpf_walk_key parent;
	uint32_t parent_pid;
	/* For a thread that is already asleep: */
	uint32_t pid;  /* of its process */
	uint32_t task; /* its own, as the kernel counts */
	uint32_t zero;
	uint64_t lock; /* as in struct bpf_walk_times */
	uint64_t thread_pointer;
	struct bpf_walk_name name;
	uint8_t stack[BPF_WALK_SLICE_BYTES];
};

/* How many new code objects are sent with a stack, and how much of one; see src/bpf/python.h. */
#define BPF_WALK_NEW_CODES 64u
#define BPF_WALK_LINE_BYTES 8192u

/* Copies of a code object and of what it refers to, with the addresses that they had. */
struct bpf_walk_code {
	struct bpf_walk_head head;
	uint64_t object_address;
	uint64_t name_address;
	uint64_t file_address;
	uint64_t lines_address;
	uint32_t object_bytes;
	uint32_t name_bytes;
	uint32_t file_bytes;
	uint32_t lines_bytes;
	uint8_t object[192];
	uint8_t name[320];
	uint8_t file[512];
	uint8_t lines[BPF_WALK_LINE_BYTES];
};

/* CLOCK_MONOTONIC. It slept until it was woken (0: never), and then waited for a CPU. */
struct bpf_walk_times {
	uint64_t left_ns; /* 0: it is not away */
	uint64_t woken_ns;
	uint64_t back_ns;
	uint32_t tid; /* as in the recorder's pid namespace */
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
	BPF_WALK_COUNT_NO_STACK,  /* no room for the slice of a leaving thread: its time is kept */
	BPF_WALK_COUNT_NO_SPACE,  /* slices: the address space was unknown */
	BPF_WALK_COUNT_NO_TABLE,  /* slices: a module or its table was unknown */
	BPF_WALK_COUNT_AWAY_FULL, /* too many threads to track */
	BPF_WALK_COUNT_SHORT,     /* times off a CPU that were too short to report */
	BPF_WALK_COUNT_TORN,      /* stacks whose Python calls could not be read */
	BPF_WALK_COUNT_RUN_NS,    /* time that threads ran between times off a CPU */
	/* Of watched threads only: the programs see others as well. */
	BPF_WALK_COUNT_LEFT,    /* times that a thread left its CPU */
	BPF_WALK_COUNT_OWN,     /* switches from or to such a thread */
	BPF_WALK_COUNT_OWN_NS,  /* time spent on them, and on wakers' stacks */
	BPF_WALK_COUNT_WAKEUPS, /* of such threads */
	/* Some of the other switches, and the time spent on them. */
	BPF_WALK_COUNT_OTHER,
	BPF_WALK_COUNT_OTHER_NS,
	BPF_WALK_COUNTERS,
};

#endif
