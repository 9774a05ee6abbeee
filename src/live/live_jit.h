/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIVE_LIVE_JIT_H
#define WICK_LIVE_LIVE_JIT_H

/*
 * live_jit: names of compiled code while it runs. The lists of runtimes grow all the time
 * and may be long: they are read again when there are frames without a name, and so seldom
 * that it takes less than a hundredth of the time. Starts as zeros.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dictionary;
struct jit_symbols;

struct live_jit {
	struct jit_symbols *symbols; /* NULL: none yet */
	size_t named;                /* how many there are */
	uint64_t next_ns;            /* when to look again */
	size_t frames;               /* of the dictionary that were looked at then */
};

void live_jit_fini(struct live_jit *jit);

/*
 * Looks when it is time to. Returns whether there are other symbols now; the old ones are
 * gone then.
 */
bool live_jit_look(struct live_jit *jit, const struct dictionary *dictionary, uint64_t now_ns);

/* Whether a frame is of compiled code, in memory without a file. */
bool live_jit_is_compiled(const struct dictionary *dictionary, uint32_t frame);

#endif
