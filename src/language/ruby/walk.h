/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_RUBY_WALK_H
#define WICK_LANGUAGE_RUBY_WALK_H

/*
 * walk: the Ruby calls of a thread, as words like those of Python (unwind/python_walk.h): the
 * address of an iseq, the index of an instruction, and whether C code made the call.
 *
 * The memory may change while it is read: what does not look like a frame ends the walk, and its
 * result is not used. Methods written in C have frames too; they are left out, because the native
 * stack shows their functions.
 */

#include <stdint.h>

struct python_reader;
struct ruby_layout;

struct ruby_thread {
	uint64_t vm_pointer;     /* address of ruby_current_vm_ptr */
	uint64_t thread_pointer; /* of the thread to read */
};

/*
 * Writes the calls, innermost first. Returns an enum python_end; *ret_count is 0 unless it is
 * PYTHON_ROOT or PYTHON_DEPTH.
 */
int ruby_walk(const struct ruby_layout *layout, const struct python_reader *reader,
	      const struct ruby_thread *thread, uint64_t *words, uint32_t capacity,
	      uint32_t *ret_count);

#endif
