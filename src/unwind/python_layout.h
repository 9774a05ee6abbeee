/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_PYTHON_LAYOUT_H
#define WICK_UNWIND_PYTHON_LAYOUT_H

/*
 * python_layout: where the interpreter of one process keeps the frames of its threads, as offsets
 * that depend on its version. Freestanding, with fixed widths: walkers in the kernel and inside a
 * process get a copy.
 *
 *	runtime -> interpreter -> interpreter …
 *	                |-> thread -> thread …
 *	                      |-> frame -> previous …     (3.11, 3.12: through a C frame)
 *	                            |-> code object
 */

#include <stdint.h>

/* Where C code calls Python: which frames a loop of the interpreter begins with. */
enum python_entry {
	PYTHON_ENTRY_EACH, /* every frame has a loop of its own (until 3.10) */
	PYTHON_ENTRY_FLAG, /* the frame has a flag (3.11) */
	PYTHON_ENTRY_SHIM, /* a frame without code precedes it (since 3.12) */
};

#define PYTHON_NO_OFFSET 0xffffu

/* Of the global lock, in all versions. */
#define PYTHON_GIL_HOLDER 8u  /* the thread state that has had it last */
#define PYTHON_GIL_LOCKED 16u /* an int: 1 while one has it */
#define PYTHON_GIL_BYTES 224u

/* The words of a frame that are read; its members are within the first frame_bytes of these. */
#define PYTHON_FRAME_WORDS 16u

struct python_layout {
	uint64_t runtime;   /* address of _PyRuntime; 0: there is no interpreter */
	uint64_t code_type; /* address of PyCode_Type; 0: unknown */
	/* How far a thread's id may be below its thread pointer. */
	uint32_t thread_slack;
	uint16_t version;      /* 0x030b: 3.11 */
	uint16_t interpreters; /* of the runtime */
	uint16_t interpreter_next;
	uint16_t threads; /* of an interpreter */
	uint16_t thread_next;
	uint16_t thread_id;
	uint16_t frame;   /* of a thread: its frame, or its C frame */
	uint16_t c_frame; /* of a C frame: the frame; PYTHON_NO_OFFSET: there are none */
	/* Of a frame: */
	uint16_t frame_bytes;
	uint16_t code;
	uint16_t previous;
	uint16_t instruction; /* a pointer, or a number until 3.10 */
	uint16_t boundary;    /* the byte that says where C calls Python; see entry */
	uint16_t
		first_instruction; /* of a code object; PYTHON_NO_OFFSET: instruction is a number */
	/* Of a code object, and of the strings that it refers to, before their characters: */
	uint16_t code_file;
	uint16_t code_name;
	uint16_t code_lines;
	uint16_t ascii_bytes;
	uint16_t unicode_bytes;
	/*
	 * The global lock: until 3.11 of the runtime, later of an interpreter, which points to it.
	 * PYTHON_NO_OFFSET: unknown.
	 */
	uint16_t gil;
	uint8_t entry;             /* enum python_entry */
	uint8_t shim;              /* value of the byte for a shim, and of all above it */
	uint8_t instruction_shift; /* of that number: 1 where it counts bytes */
	uint8_t zero[1];
};

_Static_assert(sizeof(struct python_layout) == 64, "is shared with other programs");

#endif
