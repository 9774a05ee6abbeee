/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_SCRATCH_H
#define WICK_BPF_SCRATCH_H

/*
 * scratch: what a walk works on, one for each CPU and kind of program.
 */

#include "bpf/kernel.h"
#include "bpf/registers.h"
#include "unwind/frame.h"
#include "unwind/table.h"
#include "wire/bpf_offcpu.h"
#include "wire/bpf_walk.h"

#define WINDOW_BYTES 256u
#define REMEMBERED 4096u
#define RECENT 4u

/* The rule of a pc that was looked up before. */
struct remembered {
	uint64_t pc;
	uint32_t generation;
	struct unwind_rule rule;
};

/* A mapping that was found before: most code of a program is in a few. */
struct recent {
	struct bpf_walk_mapping mapping;
	uint64_t generation;
};

/*
 * A walk on its way. It lies in the memory of a map, not on the stack: the
 * verifier takes what it reads there for unknown, and is done with the loop once
 * it has seen one turn.
 */
struct walk {
	struct unwind_frame frame; /* but for its registers, which are a pointer */
	struct bpf_walk_space space;
	uint64_t window_start;
	uint32_t window_bytes;
	uint32_t place; /* of the rule among the remembered */
	uint32_t first; /* of record.stack.pcs: behind the kernel's part */
	uint32_t count;
	uint8_t end;      /* enum unwind_end */
	uint8_t lacking;  /* a mapping or its table is not here */
	uint8_t outside;  /* no mapping has the address that something is lacking for */
	uint8_t borrowed; /* the space is that of a parent */
	uint8_t fresh;   /* what is lacking will be here soon: all of the stack is worth its room */
	uint8_t doubted; /* what may be a return address was taken for none: no code is there */
	uint8_t oldest;  /* of the recent mappings; stays from walk to walk */
};

/* What a walk needs and the 512 bytes of a BPF stack cannot hold; one for each CPU. */
struct scratch {
	struct registers registers;
	struct walk walk;
	uint8_t window[WINDOW_BYTES];
	struct recent recent[RECENT];
	struct remembered remembered[REMEMBERED];
	struct bpf_walk_away away; /* empty, to make others from */
	uint32_t drains;           /* of slices were sent since that many: */
	uint32_t sent_bytes;
	uint64_t copy_most;            /* of a stack, for now */
	uint8_t calls[BPF_WALK_CALLS]; /* words of the window that are return addresses */
	uint32_t calls_found;
	uint32_t calls_next; /* of the user's addresses */
	uint32_t left_over;  /* shares of samples that were left out, below a whole one */
	uint32_t busy;       /* of programs that others may interrupt: somebody works on it */
	union {
		struct bpf_walk_stack stack;
		struct bpf_walk_slice slice;
	} record;
};

#endif
