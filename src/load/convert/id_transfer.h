/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_CONVERT_ID_TRANSFER_H
#define WICK_LOAD_CONVERT_ID_TRANSFER_H

/*
 * id_transfer: maps ids of a recording to ids of a sink that receives parts of it.
 *
 * What a sample refers to is passed to the sink when it is first needed. Initialise with zeros, and
 * set `from` and `to`. All functions return 0 or a negative errno.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/entity.h"

struct dictionary;
struct sample_batch;
struct sink;

/* Ids in the sink; ID_NONE: not needed yet. */
struct id_transfer_list {
	VEC(uint32_t) ids;
};

struct id_transfer {
	const struct dictionary *from; /* borrowed, like the next */
	const struct sink *to;
	/*
	 * Counts processes, to keep those of several recordings apart; NULL: process ids do not
	 * change.
	 */
	uint32_t *process_count;

	/* private */
	struct id_transfer_list modules;
	struct id_transfer_list processes;
	struct id_transfer_list threads;
	struct id_transfer_list places;
	struct id_transfer_list stacks;
	struct id_transfer_list labels;
	VEC(struct frame) frames;
};

void id_transfer_fini(struct id_transfer *transfer);

int id_transfer_process(struct id_transfer *transfer, uint32_t id, uint32_t *ret);
int id_transfer_thread(struct id_transfer *transfer, uint32_t id, uint32_t *ret);
int id_transfer_stack(struct id_transfer *transfer, uint32_t id, uint32_t *ret);
int id_transfer_module(struct id_transfer *transfer, uint32_t id, uint32_t *ret);

/* What one sample of a batch refers to. */
struct id_transfer_ids {
	uint32_t stack;
	uint32_t thread;
	uint32_t labels;
};

int id_transfer_sample(struct id_transfer *transfer, const struct sample_batch *batch, size_t i,
		       struct id_transfer_ids *ret);

#endif
