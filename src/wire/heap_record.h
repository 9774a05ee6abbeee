/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_HEAP_RECORD_H
#define WICK_WIRE_HEAP_RECORD_H

/* heap_record: what a thread does with its memory, as records in its ring. */

#include <stdbool.h>
#include <stdint.h>

#include "wire/session.h"

/* Which function was called: the same as enum heap_call of the model. */
enum session_call {
	SESSION_MALLOC,
	SESSION_CALLOC,
	SESSION_REALLOC,
	SESSION_ALIGNED,
	SESSION_NEW,
	SESSION_NEW_ARRAY,
	SESSION_MMAP,
	SESSION_POOL,
	SESSION_CALLS
};

/*
 * What a thread does with its memory: two words, four for an allocation. The first word is like a
 * record's, with the address in place of flags and length: kind and enum session_call, a byte each,
 * and 48 bits of address. For SESSION_TOTAL the address is the number of blocks and size their
 * total size; for SESSION_RATE size is the average number of bytes between two samples.
 * SESSION_AT_ONCE is added to the call of a sampled free: the thread has allocated nothing since
 * that block. A free whose call has SESSION_STACKED has three words.
 */
#define SESSION_AT_ONCE 0x40u

struct session_heap {
	uint64_t head;
	uint64_t ticks;
	uint64_t size; /* from here on: only in SESSION_ALLOC */
	uint32_t stack;
	uint16_t cpu;
	uint16_t slack; /* bytes beyond the size; SESSION_SLACK_MAX: that many or more */
};

#define SESSION_HEAP_WORDS 2u
#define SESSION_STACKED_WORDS 3u /* frees with a stack: its number replaces the size */
#define SESSION_ALLOC_WORDS 4u
#define SESSION_SLACK_MAX 0xffffu
#define SESSION_CPU_UNKNOWN 0xffffu

/* In place of an address: frames in the middle of a stack that were left out. */
#define SESSION_GAP 0ull
/* In SESSION_FREE and SESSION_MOVE, added to the call. */
#define SESSION_STACKED 0x80u

/*
 * The stack of a number that the thread increments from 0; relative to the last stack, like that of
 * samples. After this many it restarts at 0, and the earlier ones become invalid: a reader never
 * keeps more.
 */
#define SESSION_STACK_NUMBERS 8192u

struct session_stack {
	struct session_record record; /* flags: enum unwind_end */
	uint32_t number;
	uint16_t fresh;
	uint16_t kept;
	uint64_t pcs[];
};

static inline uint32_t session_kind(const struct session_record *record)
{
	return record->kind & 0xffu;
}

static inline bool session_is_heap(uint32_t kind)
{
	return kind >= SESSION_ALLOC && kind <= SESSION_TOTAL;
}

/* The length of a record in words: from its kind, or from the record itself. */
static inline uint32_t session_words(const struct session_record *record)
{
	uint32_t kind = session_kind(record);

	if (kind == SESSION_ALLOC || kind == SESSION_RATE || kind == SESSION_TOTAL)
		return SESSION_ALLOC_WORDS;
	if ((kind == SESSION_FREE || kind == SESSION_MOVE) && record->kind >> 8 & SESSION_STACKED)
		return SESSION_STACKED_WORDS;
	return kind >= SESSION_FREE && kind <= SESSION_KEPT ? SESSION_HEAP_WORDS : record->words;
}

#endif
