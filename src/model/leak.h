/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_LEAK_H
#define WICK_MODEL_LEAK_H

/*
 * leak: what a scan of a process found out about its live blocks.
 *
 * Blocks with equal properties are one group, so a scan has as many entries as there are different
 * results, not as there are blocks.
 */

#include <stddef.h>
#include <stdint.h>

/* In order: if there are two ways to a block, the later class counts. */
enum leak_class {
	LEAK_DEFINITE,  /* nothing points to it */
	LEAK_INDIRECT,  /* only definite or probable blocks point to it */
	LEAK_PROBABLE,  /* only memory that the program no longer uses does, see leak_evidence */
	LEAK_POSSIBLE,  /* pointers lead into it, but none to its start */
	LEAK_REACHABLE, /* the program can still reach it */
	LEAK_CLASSES
};

/* Bits: what points to a block. */
enum leak_evidence {
	LEAK_FROM_GLOBAL = 1, /* data of a program or library */
	LEAK_FROM_STACK = 2,  /* of a thread, from its stack pointer up */
	LEAK_FROM_REGISTER = 4,
	LEAK_FROM_TLS = 8,
	LEAK_FROM_MAPPING = 16, /* memory that the program mapped itself */
	LEAK_FROM_BLOCK = 32,   /* another live block */
	LEAK_FROM_FREED = 64,   /* the allocator's memory outside live blocks */
	LEAK_FROM_DEAD_STACK = 128,
	LEAK_FROM_PADDING = 256, /* the part of a block beyond its requested size */
	LEAK_INSIDE = 512,       /* a pointer into it, not to its start */
	LEAK_IN_CYCLE = 1024,    /* blocks that refer to each other */
};

enum leak_trigger { LEAK_AT_EXIT, LEAK_AT_SIGNAL, LEAK_AT_INTERVAL, LEAK_ON_DEMAND };

struct leak_group {
	uint64_t size_bytes; /* of each block */
	uint64_t blocks;
	uint64_t led_blocks; /* of LEAK_DEFINITE, LEAK_PROBABLE: the indirect ones they lead to */
	uint64_t led_bytes;
	uint64_t first_born_ns; /* CLOCK_MONOTONIC, when the oldest was allocated */
	uint64_t last_born_ns;
	uint64_t example;   /* the address of one of them */
	uint32_t stack;     /* that allocated it; in the recording */
	uint32_t thread;    /* in the recording */
	uint16_t evidence;  /* bits of enum leak_evidence */
	uint8_t leak_class; /* enum leak_class */
	uint8_t zero;
};

struct leak_scan {
	uint64_t time_ns;   /* CLOCK_MONOTONIC, of the snapshot */
	uint64_t paused_ns; /* how long the process was stopped */
	uint64_t cpu_ns;    /* that the scan used */
	uint64_t live_blocks;
	uint64_t live_bytes;
	uint64_t read_bytes;     /* memory that was scanned */
	uint64_t unread_bytes;   /* not readable: what it points to may be reported as leaked */
	uint32_t process;        /* in the recording */
	uint32_t unread_threads; /* whose registers and stacks are unknown */
	uint8_t trigger;         /* enum leak_trigger */
	size_t group_count;
	const struct leak_group *groups;
};

#endif
