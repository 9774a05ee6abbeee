/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_LEAK_H
#define WICK_MODEL_LEAK_H

/*
 * leak: what a scan of a process found out about the blocks that were live then.
 *
 * Blocks that agree in all that can be asked about them are one group, so a scan has as many
 * entries as there are different answers, not as there are blocks.
 */

#include <stddef.h>
#include <stdint.h>

/* In order: of two ways to a block the one that is named later here counts. */
enum leak_class {
	LEAK_DEFINITE,  /* nothing points to it */
	LEAK_INDIRECT,  /* only blocks that are definite or probable do */
	LEAK_PROBABLE,  /* only what the program no longer looks at does, see leak_evidence */
	LEAK_POSSIBLE,  /* pointers lead into it, none to where it begins */
	LEAK_REACHABLE, /* the program can still get there */
	LEAK_CLASSES
};

/* Bits: what was seen that points to a block. */
enum leak_evidence {
	LEAK_FROM_GLOBAL = 1, /* data of a program or library */
	LEAK_FROM_STACK = 2,  /* of a thread, from its stack pointer up */
	LEAK_FROM_REGISTER = 4,
	LEAK_FROM_TLS = 8,
	LEAK_FROM_MAPPING = 16, /* memory that the program mapped itself */
	LEAK_FROM_BLOCK = 32,   /* another live block */
	LEAK_FROM_FREED = 64,   /* memory of the allocator in no live block */
	LEAK_FROM_DEAD_STACK = 128,
	LEAK_FROM_PADDING = 256, /* what a block has beyond the size that was asked for */
	LEAK_INSIDE = 512,       /* a pointer into it, not to where it begins */
	LEAK_IN_CYCLE = 1024,    /* blocks that hold each other */
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
	uint32_t stack;     /* that allocated, of the recording */
	uint32_t thread;    /* of the recording */
	uint16_t evidence;  /* bits of enum leak_evidence */
	uint8_t leak_class; /* enum leak_class */
	uint8_t zero;
};

struct leak_scan {
	uint64_t time_ns;   /* CLOCK_MONOTONIC: of the snapshot */
	uint64_t paused_ns; /* how long the process was stopped */
	uint64_t cpu_ns;    /* that the scan took */
	uint64_t live_blocks;
	uint64_t live_bytes;
	uint64_t read_bytes;     /* memory that was looked at */
	uint64_t unread_bytes;   /* that could not be read: what it points to may be called lost */
	uint32_t process;        /* of the recording */
	uint32_t unread_threads; /* whose registers and stacks are not known */
	uint8_t trigger;         /* enum leak_trigger */
	size_t group_count;
	const struct leak_group *groups;
};

#endif
