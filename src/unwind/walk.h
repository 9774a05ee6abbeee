/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_WALK_H
#define WICK_UNWIND_WALK_H

/*
 * walk: from the registers of a thread to its whole stack, over any memory.
 *
 * The modules of the target define which code has which table; its memory is read through
 * callbacks: from another process, from a copied stack. Freestanding and stateless: any thread may
 * walk, as its callbacks allow. To walk the calling process, use own_stack.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/frame.h"
#include "unwind/module.h"
#include "unwind/table.h"

/*
 * The pages of a table: for each 128 bytes the last row at or before their start, and one more row
 * that ends the last. The caller provides room for unwind_pages_count() of them; they may be shared
 * like the table.
 */
uint32_t unwind_pages_count(const struct unwind_table *table);
void unwind_pages_fill(const struct unwind_table *table, uint32_t *pages);

/* What is walked. */
struct unwind_space {
	struct unwind_limits limits;
	struct unwind_reader reader; /* without is_code: the modules define it */
	const struct unwind_module *modules;
	size_t module_count;
	/* Optional, instead of modules: the one that contains pc, valid until the next call. */
	const struct unwind_module *(*find)(void *context, uint64_t pc); /* of the reader */
	/*
	 * Optional: there may be code outside all modules: a program with a JIT, or a new dlopen.
	 */
	bool unknown_code;
};

/* A stack, leaf first. */
struct unwind_trace {
	uint64_t *pcs;
	uint32_t capacity;
	uint32_t count;
	uint32_t guessed; /* frames that were left without a rule */
	enum unwind_end end;
};

/*
 * Walks from start, with pc, sp, fp, lr, exact, lr_valid and registers set. trace->pcs and capacity
 * are given; the rest is filled in. The pcs of callers are return addresses, or made to look like
 * them: see unwind_trace_pc().
 */
void unwind_walk(const struct unwind_space *space, const struct unwind_frame *start,
		 struct unwind_trace *trace);

/*
 * Fills in a first frame from all general registers by DWARF number (UNWIND_REGISTERS of them),
 * which must stay valid as long as the frame is used.
 */
void unwind_frame_init(struct unwind_frame *frame, const struct unwind_arch *arch,
		       const uint64_t *registers, uint64_t pc);

/* "root", "depth", "no rule" … for summaries. */
const char *unwind_end_name(enum unwind_end end);

#endif
