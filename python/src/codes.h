/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_CODES_H
#define WICK_PYTHON_CODES_H

/*
 * codes: the code objects that stacks refer to.
 *
 * A word of a stack is the address of a code object and the index of an instruction. The line is
 * looked up on demand, at the latest when the code object is freed. The stacks that contain it are
 * then retired, because its memory may be reused for another code object. We hold no references,
 * because these would keep functions alive that the program has dropped.
 *
 * A subinterpreter may be destroyed together with its memory, so lines and names of its code
 * objects are copied when they are first seen.
 *
 * Locks: take the lock of the stack's table before the lock of this module.
 */

#include "tracer.h"

/* 45 bits for an address that is a multiple of 8, 19 bits for the instruction index + 1. */
#define CODES_INSTRUCTION_BITS 19
#define CODES_INSTRUCTION_MAX ((1u << CODES_INSTRUCTION_BITS) - 1)

static inline uint64_t codes_word(const PyCodeObject *code, int64_t instruction)
{
	uint64_t number = (uint64_t)(instruction + 1);

	if (number > CODES_INSTRUCTION_MAX)
		number = CODES_INSTRUCTION_MAX;
	return (uint64_t)(uintptr_t)code >> 3 << CODES_INSTRUCTION_BITS | number;
}

/*
 * Links the words of a new stack to their code objects, which are alive because `interpreter` is
 * executing the stack. Call with the GIL of `interpreter` held and the table locked. Returns 0, or
 * -ENOMEM; the caller must then retire the stack.
 */
int codes_link(enum tracer_table_id table, uint32_t stack, const PyInterpreterState *interpreter);

/*
 * Makes CPython call us when the code objects of a stack are freed. The stack must still be
 * executing. Call with no table locked, because this allocates.
 */
void codes_watch(enum tracer_table_id table, uint32_t stack);

/* Returns whether all code objects of a stack are known and watched. Does not need the GIL. */
bool codes_are_watched(const uint64_t *words, uint32_t count);

/* The frame that a word of a stack stands for. */
struct codes_call {
	PyObject *file; /* new references; NULL: no string */
	PyObject *name;
	int line;
};

/* Call with the GIL of the main interpreter held and no table locked. */
struct codes_call codes_call_at(enum tracer_table_id table, uint32_t word);

uint32_t codes_count(void);

/* Called by the fork handlers. */
void codes_lock(void);
void codes_unlock(void);

#endif
