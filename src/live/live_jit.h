/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_LIVE_JIT_H
#define WICK_LIVE_LIVE_JIT_H

/*
 * live_jit: names of JIT-compiled code while it runs. The perf maps of runtimes keep growing and
 * may be long: they are read again when there are frames without a name, but so rarely that it
 * takes less than 1 % of the time. Initialise with zeros.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dictionary;
struct jit_symbols;

struct live_jit {
	struct jit_symbols *symbols; /* NULL: none yet */
	size_t named;                /* number of symbols */
	uint64_t next_ns;            /* when to read again */
	size_t frames;               /* frames of the dictionary examined at the last time */
	size_t searched;             /* frames that are not compiled code, from the first on */
};

void live_jit_fini(struct live_jit *jit);

/*
 * Reads the maps if it is time. Returns whether the symbols changed; the old ones are then freed.
 */
bool live_jit_look(struct live_jit *jit, const struct dictionary *dictionary, uint64_t now_ns);

/* The frames of the dictionary have other numbers now. */
void live_jit_forget(struct live_jit *jit);

/* Whether a frame is JIT-compiled code, in memory without a file. */
bool live_jit_is_compiled(const struct dictionary *dictionary, uint32_t frame);

#endif
