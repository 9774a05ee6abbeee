/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_CODES_H
#define WICK_PYTHON_CODES_H

/*
 * codes: the code objects that stacks refer to.
 *
 * A word of a stack is the address of a code object and the number of an instruction. The line is
 * looked up when somebody asks for it, or at the latest when the code object ends: its memory may
 * be used for another one, so the stacks with it are retired then. We hold no reference, which
 * would keep functions alive that the program has dropped.
 *
 * An interpreter other than the main one may end with its memory. Lines and names of its code
 * objects are copied when they are first seen.
 *
 * Locks: the table of the stack is locked before the lock in here.
 */

#include "tracer.h"

/* 45 bits of an address that is a multiple of 8, 19 bits of an instruction number + 1. */
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
 * Links the words of a new stack to their code objects, which are alive: the stack is being
 * executed by `interpreter`, whose GIL is held. The table is locked. Returns 0 or -ENOMEM; the
 * stack must be retired then.
 */
int codes_link(enum tracer_table_id table, uint32_t stack, const PyInterpreterState *interpreter);

/*
 * Asks to be told when the code objects of a stack end. It is still being executed; no table is
 * locked: this allocates.
 */
void codes_watch(enum tracer_table_id table, uint32_t stack);

/* Whether all code objects of a stack are known and watched. Needs no GIL. */
bool codes_are_watched(const uint64_t *words, uint32_t count);

/* What a word of a stack stands for. */
struct codes_call {
	PyObject *file; /* new references; NULL: no string */
	PyObject *name;
	int line;
};

/* The GIL of the main interpreter is held, and no table is locked. */
struct codes_call codes_call_at(enum tracer_table_id table, uint32_t word);

uint32_t codes_count(void);

/* In use before and after a fork. */
void codes_lock(void);
void codes_unlock(void);

#endif
