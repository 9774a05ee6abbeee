/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_TIMELINE_BLOCK_SPANS_H
#define WICK_HEAP_TIMELINE_BLOCK_SPANS_H

/*
 * block_spans: from when to when blocks were live, in slices of time.
 *
 * What was allocated in a part of the time and what was live at its end can be added up from
 * these, for any part that begins and ends with slices. Blocks of one share that were born in one
 * slice and died in one are one span, so memory follows the shares and not the blocks. When there
 * are too many, slices become twice as long.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "heap/weight.h"

#define HEAP_SPANS_SLICES 512u        /* at most */
#define HEAP_SPANS_FEWEST_SLICES 32u  /* of which no more are made one because spans are many */
#define HEAP_SPANS_LIMIT (256u << 10) /* spans, before slices get longer */
#define HEAP_SPANS_LIVE UINT32_MAX    /* a slice of no death */

struct heap_span {
	uint32_t share; /* of heap_sites */
	uint32_t born;  /* slices */
	uint32_t died;  /* HEAP_SPANS_LIVE: they were live at the end */
	struct heap_sum sum;
	double temporary_blocks; /* of these, see sites.h */
};

/* With a slice_ns of 0 nothing is kept. */
struct heap_spans {
	uint64_t slice_ns;
	VEC(struct heap_span) items; /* in no order */

	/* private */
	struct id_index index;
	uint32_t last; /* that was added to */
	bool failed;   /* there was no memory: they are not whole */
};

void heap_spans_fini(struct heap_spans *spans);

/*
 * Adds what was born and died at these times since the analysis began; UINT64_MAX: it did not.
 * sum may be of nothing where only temporary blocks are to be told.
 */
void heap_spans_add(struct heap_spans *spans, uint32_t share, uint64_t born_ns, uint64_t died_ns,
		    struct heap_sum sum, double temporary_blocks);

/* Makes slices as long as these, which are a power of two times those that are. */
void heap_spans_lengthen(struct heap_spans *spans, uint64_t slice_ns);

#endif
