/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_SCRATCH_H
#define WICK_BPF_SCRATCH_H

/* scratch: the working memory of a walk, one for each CPU and kind of program. */

#include "bpf/arch/native.h"
#include "bpf/kernel.h"
#include "unwind/frame.h"
#include "unwind/python_layout.h"
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
 * A walk in progress. It is in the memory of a map, not on the stack: the verifier treats what it
 * reads there as unknown, and needs only one iteration of the loop.
 */
struct walk {
	struct unwind_frame frame; /* without its registers, which are a pointer */
	struct bpf_walk_space space;
	uint64_t window_start;
	uint32_t window_bytes;
	uint32_t place; /* of the rule in the cache */
	uint32_t first; /* of record.stack.pcs: after the kernel's part */
	uint32_t count;
	uint8_t end;      /* enum unwind_end */
	uint8_t lacking;  /* a mapping or its table is not loaded */
	uint8_t outside;  /* no mapping contains the address that something is missing for */
	uint8_t borrowed; /* the space is that of a parent */
	uint8_t stranger; /* the address space is unknown */
	uint8_t fresh;    /* what is missing will be loaded soon: send the whole stack */
	uint8_t doubted;  /* a possible return address was rejected: there is no code */
	uint8_t oldest;   /* index in the recent mappings; kept between walks */
};

#define PYTHON_STATES 4u /* a power of two */

/* The Python calls of a walk in progress. */
struct python_calls {
	struct python_layout layout;
	uint64_t thread_pointer;
	uint64_t interpreter; /* of the search for the thread, like the next two */
	uint64_t state;
	uint64_t first_state; /* of all threads */
	uint64_t
		states[PYTHON_STATES]; /* of the thread, one in each interpreter, innermost first */
	uint64_t frame;                /* the next one */
	uint64_t block[PYTHON_FRAME_WORDS];
	uint64_t refers[4]; /* what a code object refers to */
	uint64_t new_codes[BPF_WALK_NEW_CODES];
	uint64_t new_mixes[BPF_WALK_NEW_CODES];
	uint32_t new_count;
	uint32_t first; /* of record.stack.pcs: after the native part */
	uint32_t count;
	uint32_t room;
	uint32_t shims;
	uint32_t end;       /* enum python_end */
	uint32_t is_alone;  /* the process has no other thread */
	uint32_t is_single; /* it has one interpreter */
	uint32_t state_count;
	uint32_t state_at; /* whose calls are read */
};

/* What a walk needs and does not fit into the 512 bytes of a BPF stack; one for each CPU. */
struct scratch {
	struct registers registers;
	struct walk walk;
	struct python_calls python;
	struct bpf_walk_code code;
	uint8_t window[WINDOW_BYTES];
	struct recent recent[RECENT];
	struct remembered remembered[REMEMBERED];
	struct bpf_walk_away away; /* empty, to initialise others */
	uint32_t drains;           /* slices of sent_bytes were sent since this one */
	uint32_t sent_bytes;
	uint64_t rang_ns;              /* when the reader was woken for an unknown address space */
	uint64_t copy_most;            /* limit for a stack, for now */
	uint8_t calls[BPF_WALK_CALLS]; /* indices of return addresses in the window */
	uint32_t calls_found;
	uint32_t calls_next; /* index in the user's addresses */
	uint32_t left_over;  /* fraction of a sample that is still to be left out */
	uint32_t busy;       /* in use; for programs that others may interrupt */
	union {
		struct bpf_walk_stack stack;
		struct bpf_walk_slice slice;
	} record;
};

#endif
