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
 * All numbers are little-endian. `check` covers only the header, so that a length can be trusted
 * before the payload has arrived; `checksum` covers both.
 */

#include <stdint.h>

/* The remedy for data that we must not write because readers would reject it: a bug in wick. */
#define RECORDING_REPORT "this is a bug in wick: report it with what was recorded and how"

#define RECORDING_MAGIC "\x89WICK\r\n\x1a"
#define RECORDING_MAGIC_BYTES 8u
#define RECORDING_HEADER_BYTES 16u
#define RECORDING_MAJOR 1u
#define RECORDING_MINOR 5u

#define CHUNK_SYNC 0x4b494357u /* "WCIK" */
#define CHUNK_HEADER_BYTES 32u
#define CHUNK_CHECK_OFFSET 6u
#define CHUNK_CHECKSUM_OFFSET 24u

/* A reader rejects larger values as damage or an attack. */
#define CHUNK_MAX_BYTES (16u << 20) /* of a payload, stored and raw */
#define CHUNK_MAX_SAMPLES 65536u
#define CHUNK_MAX_HEAP_EVENTS 65536u
#define CHUNK_MAX_LEAK_GROUPS 65536u
#define RECORDING_MAX_SCHEMAS 256u

/* The writer truncates longer texts. */
#define RECORDING_MAX_TEXT 65536u

/*
 * The value of the key "stacks" for stacks from frame pointers, which do not say where they were
 * cut.
 */
#define RECORDING_FRAME_POINTERS "frame pointers"

/* A key: why an imported file is cut off, as text. */
#define RECORDING_DAMAGE "damage"

/* A key and its value: of lock waits that are summed up, the longest is a separate sample. */
#define RECORDING_LOCK_WAITS "lock_waits"
#define RECORDING_LONGEST "longest"

/* A key: lines "PID WHY" of processes whose lists of JIT-compiled code exist but were not used. */
#define RECORDING_JIT_REFUSED "jit_refused"

enum chunk_type {
	CHUNK_INFO = 1,       /* key/value pairs about the session; the last value of a key wins */
	CHUNK_DICTIONARY = 2, /* new entries of the epoch's dictionaries */
	CHUNK_SAMPLES = 3,    /* columns of samples */
	CHUNK_MAPS = 4,       /* map events */
	CHUNK_CLOCK = 5,      /* (monotonic, realtime) pairs */
	CHUNK_LOSS = 6,       /* lost samples, by reason */
	CHUNK_KERNEL_SYMBOLS = 7,
	CHUNK_SCHEMA = 8,
	CHUNK_END = 9, /* the recording was closed properly */
	CHUNK_JIT_SYMBOLS = 10,
	CHUNK_JIT_PLACES = 11,  /* the same with times and lines */
	CHUNK_TOLD_SCHEMA = 12, /* a schema with its kind: for events reported by the program */
	CHUNK_HEAP = 13,        /* columns of heap events */
	CHUNK_MEMORY = 14,      /* memory of processes */
	CHUNK_LEAKS = 15,       /* result of a leak scan, or a part of it */
};

enum chunk_flags {
	CHUNK_MUST_UNDERSTAND =
		1,      /* a reader that does not know the type must stop with an error */
	CHUNK_ZSTD = 2, /* the payload is one zstd frame of `raw` bytes */
};

/* JIT-compiled code of a process, at `start` in its memory. */
struct recording_jit_symbol {
	uint32_t pid; /* the identity of the process, with the next two */
	uint32_t exec_count;
	uint64_t start_ns;
	uint64_t start;
	uint64_t size;
	const char *name;
	uint64_t from_ns; /* valid from this time on; 0: always */
	const char *file; /* NULL: unknown */
	uint32_t line;    /* 0: unknown */
};

/* Sections of a dictionary chunk, in this order: entries come before those that refer to them. */
enum dictionary_section {
	SECTION_STRINGS = 1,
	SECTION_PROCESSES = 2,
	SECTION_MODULES = 3,
	SECTION_THREADS = 4,
	SECTION_FRAMES = 5,
	SECTION_STACKS = 6,
	SECTION_LABELS = 7,
	SECTION_PLACES = 8, /* comes before the frames */
};

enum sample_column {
	COLUMN_STACK = 1,  /* 0: the next stack of the epoch; else stack + 1 */
	COLUMN_CPU = 2,    /* cpu */
	COLUMN_TIME = 3,   /* ticks since the cpu's last sample - period, zigzag */
	COLUMN_THREAD = 4, /* 0: as the cpu's last sample; else thread + 1 */
	COLUMN_WEIGHT = 5, /* 0: as the sample before; else weight + 1 */
	COLUMN_LABELS = 6, /* 0: as the sample before; else label set + 1 (set 0: no labels) */
	COLUMN_TIMES = 7,  /* samples that it represents - 1; not written if all are 0 */
};

/* A "far" column has the values that do not fit into the bytes of the column before it. */
enum heap_column {
	HEAP_COLUMN_THREADS =
		1, /* thread of the events that follow, their number, and their start */
	HEAP_COLUMN_NEW_SITE = 2, /* op, call and attributes */
	HEAP_COLUMN_NEW_STACK = 3,
	HEAP_COLUMN_SITE = 4, /* a byte per event */
	HEAP_COLUMN_FAR_SITE = 5,
	HEAP_COLUMN_SIZE = 6,
	HEAP_COLUMN_SLACK = 7,
	HEAP_COLUMN_ADDRESS = 8, /* a byte per event */
	HEAP_COLUMN_FAR_ADDRESS = 9,
	HEAP_COLUMN_TIME = 10, /* a byte per run of events at the same tick */
	HEAP_COLUMN_FAR_TIME = 11,
	HEAP_COLUMN_CPU = 12,
};

/* One tick of COLUMN_TIME. Finer steps would cost a byte per sample and show nothing. */
#define TIME_TICK_NS 1000u

/* Dictionaries are restarted after this many stored bytes: a reader can start there. */
#define EPOCH_BYTES (64ull << 20)
/* No dictionary of an epoch has more entries. */
#define EPOCH_MAX_NUMBERS (8u << 20)

/* CPUs that a reader keeps state for; the kernel's own limit is 8192. */
#define RECORDING_MAX_CPUS 65536u

#endif
