/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_FUNCTIONS_H
#define WICK_DWARF_FUNCTIONS_H

/*
 * functions: which function of a unit contains an address, and what is inlined there.
 *
 * One walk over the unit lists its functions, skipping what cannot contain code. The calls inlined
 * into a function are read when the function is first hit, into two flat arrays: addresses where
 * the innermost call changes, and calls with a link to the call around them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "dwarf/ranges.h"
#include "dwarf/unit.h"

#define INLINE_NONE UINT32_MAX
#define INLINE_ELSEWHERE (1u << 31)

struct inline_call {
	uint32_t name;   /* its number in names.h; 0 until it is needed */
	uint32_t origin; /* distance of its origin from the unit's start; with INLINE_ELSEWHERE,
			    that of its own entry: the origin is in another unit */
	uint32_t parent; /* the call that it is inlined into, INLINE_NONE: the function */
	uint32_t line;   /* where it is called */
	uint16_t file;
	uint16_t column;
};

struct inline_change {
	uint32_t distance; /* from the base */
	uint32_t call;     /* the innermost call from here on, or INLINE_NONE */
};

struct inline_table {
	uint64_t base;
	struct inline_change *changes; /* sorted */
	struct inline_call *calls;
	size_t change_count, call_count;
};

struct function {
	uint64_t offset;              /* of its entry */
	uint64_t end;                 /* of the entries below it; the unit's if unknown */
	uint32_t name;                /* as in inline_call */
	struct inline_table *inlines; /* NULL until it is hit */
};

struct function_range {
	uint64_t low, high;
	uint64_t reach; /* the highest end up to here: where a search can stop */
	uint32_t function;
};

struct functions {
	struct unit *unit;
	struct function *items;
	size_t count, capacity;
	struct function_range *ranges; /* sorted by low */
	size_t range_count, range_capacity;
	bool whole;         /* nothing was skipped */
	struct arena arena; /* inline tables */
	size_t bytes;
};

/* Scratch memory, reused for each function. */
struct inline_scratch;
struct inline_scratch *inline_scratch_new(void); /* NULL if out of memory */
void inline_scratch_free(struct inline_scratch *scratch);

/*
 * Lists the functions of a unit; whole: also searches entries that should contain none. 0 or
 * -ENOMEM.
 */
int functions_read(struct functions *ret, struct unit *unit, bool whole);
void functions_fini(struct functions *functions);

/* The range that contains address, the innermost of several; NULL if none does. */
const struct function_range *functions_find(const struct functions *functions, uint64_t address);

/* Reads the calls inlined into the function. 0 or -ENOMEM. */
int function_read_inlines(struct functions *functions, struct function *function,
			  struct inline_scratch *scratch);

/* The innermost call at an address, INLINE_NONE when it is the function itself. */
uint32_t inline_table_find(const struct inline_table *table, uint64_t address);

/* The bytes of the entries being read. */
struct entry_bytes {
	const uint8_t *start, *end;
	uint64_t distance; /* of start from the start of the unit */
};

/*
 * Where the entry's next sibling begins; NULL when the entry does not say, its offset is invalid,
 * or the sibling is not among the bytes.
 */
const uint8_t *sibling_of(const struct unit *unit, const struct abbrev *abbrev,
			  const uint8_t *attributes, const struct entry_bytes *bytes);

#endif
