/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_FORMAT_H
#define WICK_RECORDING_FORMAT_H

/*
 * format: the bytes of a .wick file; docs/reference/recording-format.md explains them.
 *
 *	file   := header chunk*
 *	header := magic[8] major:u16 minor:u16 zero:u32
 *	chunk  := sync:u32 type:u8 flags:u8 check:u16 epoch:u32 sequence:u32
 *	          stored:u32 raw:u32 checksum:u64 payload[stored]
 *
 * All numbers are little-endian. check covers the header alone, so that a length
 * can be trusted before the payload is there; checksum covers both.
 */

#include <stdint.h>

/* What to do about data of ours that no reader would take: it is a mistake of wick. */
#define RECORDING_REPORT "this is a bug in wick: report it with what was recorded and how"

#define RECORDING_MAGIC "\x89WICK\r\n\x1a"
#define RECORDING_MAGIC_BYTES 8u
#define RECORDING_HEADER_BYTES 16u
#define RECORDING_MAJOR 1u
#define RECORDING_MINOR 4u

#define CHUNK_SYNC 0x4b494357u /* "WCIK" */
#define CHUNK_HEADER_BYTES 32u
#define CHUNK_CHECK_OFFSET 6u
#define CHUNK_CHECKSUM_OFFSET 24u

/* A reader refuses more: it is damage or an attack. */
#define CHUNK_MAX_BYTES (16u << 20) /* of a payload, stored and raw */
#define CHUNK_MAX_SAMPLES 65536u
#define CHUNK_MAX_HEAP_EVENTS 65536u
#define CHUNK_MAX_LEAK_GROUPS 65536u
#define RECORDING_MAX_SCHEMAS 256u

/* Longer texts are cut by the writer. */
#define RECORDING_MAX_TEXT 65536u

/* The value of the key "stacks" where frame pointers gave them: these do not say where they end. */
#define RECORDING_FRAME_POINTERS "frame pointers"

/* A key: why the file that was imported lacks its end, in words. */
#define RECORDING_DAMAGE "damage"

/* A key and its value: the longest of waits for a lock that were added up is a sample by itself. */
#define RECORDING_LOCK_WAITS "lock_waits"
#define RECORDING_LONGEST "longest"

/* A key: lines "PID WHY" of processes whose lists of compiled code were there and not used. */
#define RECORDING_JIT_REFUSED "jit_refused"

enum chunk_type {
	CHUNK_INFO = 1,       /* key/value pairs about the session; later ones win */
	CHUNK_DICTIONARY = 2, /* new entries of the epoch's dictionaries */
	CHUNK_SAMPLES = 3,    /* columns of samples */
	CHUNK_MAPS = 4,       /* map events */
	CHUNK_CLOCK = 5,      /* (monotonic, realtime) pairs */
	CHUNK_LOSS = 6,       /* samples that were lost, by reason */
	CHUNK_KERNEL_SYMBOLS = 7,
	CHUNK_SCHEMA = 8,
	CHUNK_END = 9, /* the recording was closed in good order */
	CHUNK_JIT_SYMBOLS = 10,
	CHUNK_JIT_PLACES = 11,  /* the same with times and lines */
	CHUNK_TOLD_SCHEMA = 12, /* as a schema, with its kind: not one of samples */
	CHUNK_HEAP = 13,        /* columns of heap events */
	CHUNK_MEMORY = 14,      /* what memory processes had */
	CHUNK_LEAKS = 15,       /* what a leak scan found, or a part of it */
};

enum chunk_flags {
	CHUNK_MUST_UNDERSTAND = 1, /* a reader that does not know the type stops with an error */
	CHUNK_ZSTD = 2,            /* the payload is one zstd frame of `raw` bytes */
};

/* Code that a process made: from start on in its memory. */
struct recording_jit_symbol {
	uint32_t pid; /* with the next two the process's identity */
	uint32_t exec_count;
	uint64_t start_ns;
	uint64_t start;
	uint64_t size;
	const char *name;
	uint64_t from_ns; /* from then on; 0: always */
	const char *file; /* NULL: unknown */
	uint32_t line;    /* 0: unknown */
};

/* Sections of a dictionary chunk, in this order: referred-to things come first. */
enum dictionary_section {
	SECTION_STRINGS = 1,
	SECTION_PROCESSES = 2,
	SECTION_MODULES = 3,
	SECTION_THREADS = 4,
	SECTION_FRAMES = 5,
	SECTION_STACKS = 6,
	SECTION_LABELS = 7,
	SECTION_PLACES = 8, /* stands before the frames */
};

enum sample_column {
	COLUMN_STACK = 1,  /* 0: the next stack of the epoch; else stack + 1 */
	COLUMN_CPU = 2,    /* cpu */
	COLUMN_TIME = 3,   /* ticks since the cpu's last sample - period, zigzag */
	COLUMN_THREAD = 4, /* 0: as the cpu's last sample; else thread + 1 */
	COLUMN_WEIGHT = 5, /* 0: as the sample before; else weight + 1 */
	COLUMN_LABELS = 6, /* 0: as the sample before; else label set + 1 (set 0: no labels) */
	COLUMN_TIMES = 7,  /* samples that it stands for - 1; not written when all are 0 */
};

/* A "far" column has what does not fit into the bytes of the one before. */
enum heap_column {
	HEAP_COLUMN_THREADS = 1,  /* whose events follow, how many, and when they begin */
	HEAP_COLUMN_NEW_SITE = 2, /* op, call and what it has */
	HEAP_COLUMN_NEW_STACK = 3,
	HEAP_COLUMN_SITE = 4, /* a byte an event */
	HEAP_COLUMN_FAR_SITE = 5,
	HEAP_COLUMN_SIZE = 6,
	HEAP_COLUMN_SLACK = 7,
	HEAP_COLUMN_ADDRESS = 8, /* a byte an event */
	HEAP_COLUMN_FAR_ADDRESS = 9,
	HEAP_COLUMN_TIME = 10, /* a byte for some events at the same tick */
	HEAP_COLUMN_FAR_TIME = 11,
	HEAP_COLUMN_CPU = 12,
};

/* One tick of COLUMN_TIME. Finer steps cost a byte a sample and show nothing. */
#define TIME_TICK_NS 1000u

/* Dictionaries start anew after this many stored bytes: a reader can join there. */
#define EPOCH_BYTES (64ull << 20)
/* No dictionary of an epoch has more entries. */
#define EPOCH_MAX_NUMBERS (8u << 20)

/* CPUs that a reader keeps state for; the kernel's own limit is 8192. */
#define RECORDING_MAX_CPUS 65536u

#endif
