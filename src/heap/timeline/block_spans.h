/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_TIMELINE_BLOCK_SPANS_H
#define WICK_HEAP_TIMELINE_BLOCK_SPANS_H

/*
 * block_spans: when blocks were live, in time slices.
 *
 * From these, the blocks allocated in a time range and those live at its end can be added up, for
 * any range of whole slices. Blocks of one share with the same slices of birth and death form one
 * span, so memory is proportional to the shares, not the blocks. When there are too many spans,
 * slices double in length.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "heap/sample_weight.h"

#define HEAP_SPANS_SLICES 512u        /* limit */
#define HEAP_SPANS_FEWEST_SLICES 32u  /* many spans never merge slices below this */
#define HEAP_SPANS_LIMIT (256u << 10) /* number of spans at which slices get longer */
#define HEAP_SPANS_LIVE UINT32_MAX    /* died: never */

struct heap_span {
	uint32_t share; /* of heap_sites */
	uint32_t born;  /* slice */
	uint32_t died;  /* slice; HEAP_SPANS_LIVE: live at the end */
	struct heap_sum sum;
	double temporary_blocks; /* part of sum, see sites.h */
};

/* If slice_ns is 0, nothing is kept. */
struct heap_spans {
	uint64_t slice_ns;
	VEC(struct heap_span) items; /* unordered */

	/* private */
	struct id_index index;
	uint32_t last; /* the span last added to */
	bool failed;   /* out of memory: spans are incomplete */
};

void heap_spans_fini(struct heap_spans *spans);

/*
 * Adds blocks that were born and died at these times since the start of the analysis; UINT64_MAX:
 * did not die. sum may be zero to add only temporary blocks.
 */
void heap_spans_add(struct heap_spans *spans, uint32_t share, uint64_t born_ns, uint64_t died_ns,
		    struct heap_sum sum, double temporary_blocks);

/* Lengthens slices to slice_ns, which is a power of two times the current length. */
void heap_spans_lengthen(struct heap_spans *spans, uint64_t slice_ns);

#endif
