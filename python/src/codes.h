/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_CODES_H
#define WICK_PYTHON_CODES_H

/*
 * codes: the code objects that stacks refer to.
 *
 * A word of a stack is the address of a code object and the index of an instruction. The line is
 * looked up on demand, at the latest when the code object is freed. Its frames have ended then,
 * because its memory may be reused for another code object. We hold no references, because these
 * would keep functions alive that the program has dropped.
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

static inline PyCodeObject *codes_object(uint64_t word)
{
	return (PyCodeObject *)(uintptr_t)(word >> CODES_INSTRUCTION_BITS << 3);
}

/*
 * Links the frames of a new stack, those from `first` on, to their code objects, which are alive
 * because `interpreter` is executing the stack. Call with the GIL of `interpreter` held and the
 * table locked. Returns 0, or -ENOMEM; frames that are not linked have ended then.
 */
int codes_link(enum tracer_table_id table, uint32_t first, const PyInterpreterState *interpreter);

/*
 * Makes CPython call us when the code objects of a stack are freed. The stack must still be
 * executing. Call with no table locked, because this allocates. Does nothing if the stacks were
 * dropped since `clears` was read from the table.
 */
void codes_watch(enum tracer_table_id table, uint32_t stack, uint32_t clears);

/* Returns whether all code objects of a stack are known and watched. Does not need the GIL. */
bool codes_are_watched(const uint64_t *words, uint32_t count);

/* What a frame stands for. */
struct codes_call {
	PyObject *file; /* new references; NULL: no string */
	PyObject *name;
	int line;
};

/* Call with the GIL of the main interpreter held and no table locked. */
struct codes_call codes_call_at(enum tracer_table_id table, uint32_t frame);

uint32_t codes_count(void);

/*
 * Forgets all code objects, once no frame refers to them. codes_drop() is called with the tables
 * locked and only puts aside what codes_free() frees later, without locks.
 */
struct codes_dropped {
	struct trace_array codes;
	uint32_t count;
	struct trace_index index;
	struct trace_array texts;
};

void codes_drop(struct codes_dropped *ret);
void codes_free(struct codes_dropped *dropped);

/* Called by the fork handlers. */
void codes_lock(void);
void codes_unlock(void);

#endif
