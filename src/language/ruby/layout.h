/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_RUBY_LAYOUT_H
#define WICK_LANGUAGE_RUBY_LAYOUT_H

/*
 * layout: where Ruby's virtual machine keeps the frames of its threads, as offsets that depend on
 * its version.
 *
 *	ruby_current_vm_ptr -> vm -> main thread -> thread … -> main thread
 *	                                |-> execution context (of the fiber that runs)
 *	                                       |-> stack: frames, the innermost first
 *	                                              |-> iseq -> body -> label, path, lines
 */

#include <stdint.h>

struct ruby_layout {
	uint32_t version;     /* 0x0301: 3.1 */
	uint16_t main_thread; /* of the vm */
	/* Of a thread; the pointer to the next one is its first word. */
	uint16_t thread_vm;
	uint16_t thread_context;
	uint16_t thread_id;
	/* Of an execution context: */
	uint16_t stack;
	uint16_t stack_words;
	uint16_t frame;
	/* Of a frame: */
	uint16_t frame_bytes;
	uint16_t instruction;
	uint16_t iseq;
	uint16_t environment;
	/* Of an iseq: */
	uint16_t body;
	/* Of its body: */
	uint16_t code_words;
	uint16_t code;
	uint16_t path;
	uint16_t label;
	uint16_t first_line;
	uint16_t lines;
	uint16_t positions;
	uint16_t line_count;
	uint16_t ranks;
	uint16_t body_bytes; /* up to the end of its last member that is read */
	uint16_t line_bytes; /* of an item of lines, which begins with the line */
};

/* Limits of a frame and of a body, of all versions. */
#define RUBY_FRAME_BYTES 64u
#define RUBY_BODY_BYTES 256u

/* NULL: this version cannot be read. */
const struct ruby_layout *ruby_layout_find(uint32_t version);

#endif
