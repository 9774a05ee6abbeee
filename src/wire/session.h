/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_SESSION_H
#define WICK_WIRE_SESSION_H

/*
 * session: what the preload library and the recorder share, in files that both map. They are in a
 * folder that only their user may list or change:
 *
 *	control           one, written by the recorder: what to record, and its heartbeat
 *	tables            one, written by the recorder: unwind tables and lists of modules
 *	PID.START.N       one for each program that runs, made by it
 *	wake              a pipe: a byte in it asks the recorder to look
 *	wick.so           a link to the library
 *	no-room           a program had no room for its file (empty, like the next)
 *	file-limit        a program's files may not become so large (ulimit -f)
 *
 * However a program dies, it leaves its file behind, with everything it wrote.
 *
 * A process file is a head, slots, and a ring for each slot, and then more slots and rings. A slot
 * belongs to a thread from its start until the recorder has read everything it wrote. Space is
 * allocated when a file is created, and for rings and more slots at their first use, so that a full
 * disk is detected there and never by a write to memory.
 *
 * Neither side trusts what the other may have overwritten: the recorder checks all lengths and ids.
 */

#include <stdatomic.h>
#include <stdint.h>

#include "wire/heap_hook.h"

#define SESSION_VERSION 9u
#define SESSION_MAGIC 0x6e6f69737365736bull /* "ksession" */

#define SESSION_VARIABLE "WICK_SESSION" /* environment variable: the folder */
#define SESSION_CONTROL "control"
#define SESSION_TABLES "tables"
#define SESSION_WAKE "wake"
#define SESSION_LIBRARY "wick.so"
#define SESSION_NO_ROOM "no-room"
#define SESSION_LIMITED "file-limit"
#define SESSION_PATH_MAX 200u          /* of the folder */
#define SESSION_FOLDER "wick-session-" /* the prefix of its name */

/*
 * Memory that the library maps, besides files of the session, is advised with MADV_RANDOM and
 * MADV_DONTDUMP, which nobody else uses together: a recorder recognises it in /proc/PID/smaps.
 */

#define SESSION_SLOTS 8192u
#define SESSION_TABLES_BYTES (256ull << 20) /* address space, not memory */

/* What is wanted: bits of control->mode. 0: nothing more, the recording has ended. */
enum session_mode {
	SESSION_CPU = 1 << 0,    /* samples of CPU time */
	SESSION_WALL = 1 << 1,   /* of all time */
	SESSION_EVENTS = 1 << 2, /* what the program itself reports */
	SESSION_HEAP = 1 << 3,   /* what it does with its memory */
	SESSION_PAUSED = 1 << 8, /* for now no samples */
};

struct session_control {
	uint64_t magic;
	uint32_t version;
	uint32_t recorder_pid;
	_Atomic uint32_t mode;
	_Atomic uint32_t frequency_hz;
	uint32_t depth;
	uint32_t ring_words; /* of each thread; a power of two */
	uint32_t frame_pointers_only;
	_Atomic uint32_t only_pid; /* only this process takes part; 0: all do */
	_Atomic uint64_t heartbeat_ns;
	uint32_t overwrite_old; /* a full ring drops its oldest records, not the newest */
	uint32_t heap_maps;     /* memory that programs map themselves is recorded too */
	uint32_t leaks;         /* programs wait at their end until their memory was scanned */
	uint32_t heap_lossy;    /* if its ring is full, a thread drops events and does not wait */
	uint64_t heap_sample_bytes; /* between blocks that are recorded, on average; 0: all are */
	uint64_t heap_max_bytes;    /* memory that we use for the heap; 0: no limit */
	uint32_t heap_free_stacks;  /* frees have stacks too */
	uint32_t hook_count;
	struct session_hook hooks[SESSION_HOOKS];
};

/* A recorder without progress for this long is dead, or as good as dead. */
#define SESSION_SILENCE_NS 10000000000ull

enum session_slot_state {
	SESSION_SLOT_FREE,
	SESSION_SLOT_TAKEN,
	SESSION_SLOT_LEFT, /* its thread has ended; the recorder frees it */
};

/* Of one thread. Writer and reader have a cache line each. */
struct session_slot {
	_Atomic uint32_t state;
	uint32_t tid;
	_Atomic uint64_t head;        /* words written, ever */
	_Atomic uint64_t lost;        /* records for which there was no room */
	_Atomic uint64_t lost_weight; /* their nanoseconds */
	uint64_t born_ticks;
	char comm[16];
	uint64_t zero;

	_Atomic uint64_t tail; /* words read, ever */
	/* Of the writer, if a full ring drops its oldest records: */
	_Atomic uint64_t oldest;  /* words dropped, ever: they may be overwritten */
	_Atomic uint64_t samples; /* samples and events written, ever */
	uint32_t ring_words;      /* part of the ring that the thread uses; 0: all */
	uint32_t more_zero;
	uint64_t zeros[4];
};

_Static_assert(sizeof(struct session_slot) == 128, "two cache lines");

/* What went wrong or differently in a program: indexes of counts. */
enum session_count {
	SESSION_FAULTS,         /* of our own code, survived */
	SESSION_BUSY,           /* ticks while the thread was already in our code */
	SESSION_NO_SLOT,        /* threads without a free slot */
	SESSION_NO_TIMER,       /* threads for which the kernel had no timer */
	SESSION_FRAME_POINTERS, /* stacks that were walked without tables */
	SESSION_OVERRUNS,       /* ticks that the kernel counted but did not deliver */
	SESSION_HANDLER_NS,     /* CPU time in our handler, of those that were measured */
	SESSION_HANDLER_TIMES,  /* how many were measured */
	SESSION_SHARED_TIMER,   /* threads that share the one timer of their process */
	SESSION_HEAP_MISSED,    /* calls of the allocator by threads that could not write */
	SESSION_HEAP_DAMAGED,   /* entries of our tables that were overwritten */
	SESSION_HEAP_WAITS,     /* times that a thread waited for room in its ring */
	SESSION_HEAP_STALLS,    /* times that it gave up waiting: the recorder made no progress */
	SESSION_TICKS,          /* ticks that reached our handler, with or without a sample */
	SESSION_HEAP_BYPASSED,  /* 1: the program has a malloc() that comes before ours */
	SESSION_NO_LABEL,       /* labels for which there was no room */
	SESSION_HEAP_COUNTED,   /* blocks of which only the number is known, */
	SESSION_HEAP_COUNTED_BYTES, /* and their total size */
	SESSION_HEAP_DEEPBIND,      /* libraries that were opened so that they bypass us */
	SESSION_LEFT,               /* programs that were started without what loads us */
	SESSION_PYTHON_TORN,        /* samples whose Python calls could not be read */
	SESSION_COUNTS
};

/* What is recorded of the heap: less as memory gets short. Indexes of heap_steps, + 1. */
enum session_heap_level {
	SESSION_HEAP_ALL,
	SESSION_HEAP_SAMPLES, /* some blocks, at random, and all frees */
	SESSION_HEAP_TOTALS,  /* sums for each stack, and all frees */
	SESSION_HEAP_COUNTS,  /* only totals: SESSION_HEAP_COUNTED */
	SESSION_HEAP_NONE,    /* nothing: the program has overwritten our tables */
};

enum session_process_state {
	SESSION_PROCESS_LIVE = 1,
	SESSION_PROCESS_ENDED = 2, /* it reported that itself */
	SESSION_PROCESS_OFF = 3,   /* it continues without us: too many faults */
	SESSION_PROCESS_SEALED = 4 /* likewise: it installed a seccomp filter */
};

struct session_process {
	uint64_t magic; /* written last, when everything else is set */
	uint32_t version;
	uint32_t pid;
	uint32_t forked_from; /* a process with the same modules; 0: it began as a program */
	_Atomic uint32_t maps_moving; /* calls in progress that may load or unload modules */
	uint64_t start_ticks;         /* since boot, from /proc */
	uint64_t created_ticks;       /* when the file was created, by the CPU's counter */
	uint32_t slot_count;
	uint32_t ring_words;
	uint64_t slots_offset;
	uint64_t rings_offset;
	_Atomic uint32_t rings; /* rings with space in the file */
	_Atomic uint32_t state;
	_Atomic uint32_t signal;       /* that delivers ticks */
	_Atomic uint32_t own_signal;   /* the program uses SIGPROF itself */
	_Atomic uint32_t maps_changed; /* how often modules were loaded or unloaded */
	_Atomic uint32_t maps_known;   /* the value of it that modules corresponds to */
	_Atomic uint64_t gone_ticks;   /* when modules were last unloaded; 0: never */
	_Atomic uint64_t modules;      /* address in the program: struct unwind_modules */
	uint64_t tables_address;       /* where the program has mapped the tables */
	uint64_t tables_bytes;
	_Atomic uint64_t heap_steps[SESSION_HEAP_NONE]; /* when levels were reached, in ticks; 0 */
	char deepbind[128];                             /* the first of these libraries */
	uint64_t inside_address;                        /* in the program: struct scan_hints */
	_Atomic uint32_t scan_asked; /* the program is ending, and waits for the next to be 1 */
	_Atomic uint32_t scan_done;
	_Atomic uint64_t counts[SESSION_COUNTS];
	_Atomic uint32_t hook_states[SESSION_HOOKS]; /* enum session_hook_state */
	_Atomic uint64_t python[8];                  /* struct python_layout; 0: not known */
};

/* Kinds of records in a ring. Each begins with a head word. */
enum session_record_kind {
	SESSION_PAD = 1, /* nothing up to the end of the ring */
	SESSION_SAMPLE = 2,
	/*
	 * Texts: the labels of the thread from here on. If full rings drop their oldest records,
	 * they apply only to the next sample or event, and are dropped with it.
	 */
	SESSION_LABELS = 3,
	SESSION_EVENT = 4, /* a sample, and texts: name, unit, labels of its own */
	/* Of the heap: wire/heap_record.h. */
	SESSION_ALLOC = 5,
	SESSION_FREE = 6,
	SESSION_MOVE = 7, /* a free by realloc(), before its result is known */
	SESSION_KEPT = 8, /* the block was unchanged */
	SESSION_STACK = 9,
	SESSION_RATE = 10,  /* blocks of this thread are sampled from here on */
	SESSION_TOTAL = 11, /* blocks of a stack, summed */
	SESSION_CODE = 12,  /* a code object of Python, before a sample that refers to it */
};

struct session_record {
	uint16_t kind;
	uint16_t flags;
	uint32_t words; /* with this one */
};

/* Of samples' flags. */
#define SESSION_END_MASK 0x0fu         /* enum unwind_end */
#define SESSION_ASLEEP 0x10u           /* it represents time without a CPU: it slept */
#define SESSION_BY_FRAME_POINTER 0x20u /* without tables */
#define SESSION_GAUGE 0x40u            /* an event: a level, not to be added up */
#define SESSION_PREEMPTED 0x80u        /* like SESSION_ASLEEP: another thread had its CPU */

/* The maximum size of a record's texts, each with its NUL, and the end mark. */
#define SESSION_TEXT_BYTES 2048u

/*
 * Any number of texts: key, value, key, value … and one more at the end: any text may be empty, and
 * NULs fill up the record's last word. A record without texts has none.
 */
#define SESSION_TEXT_END "\1"
struct session_texts {
	struct session_record record;
	char bytes[];
};

/*
 * A sample. In an event, texts follow its addresses. Its stack is `fresh` addresses, leaf first,
 * and then the last `kept` ones of the previous sample in this ring.
 */
struct session_sample {
	struct session_record record;
	uint64_t ticks;
	uint64_t weight_ns;
	uint32_t cpu;
	uint16_t fresh;
	uint16_t kept;
	uint64_t pcs[];
};

#endif
