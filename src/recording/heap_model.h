/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_HEAP_MODEL_H
#define WICK_RECORDING_HEAP_MODEL_H

/*
 * heap_model: predicts the next event in a chunk of heap events.
 *
 * Writer and reader feed the same model with the same events, so both make the same predictions.
 * docs/reference/recording-format.md describes it: a change here changes the format.
 */

#include <stdint.h>
#include <string.h>

#include "model/heap_event.h"
#include "recording/format.h"

#define HEAP_CONTEXT_BITS 12u
#define HEAP_CONTEXTS (1u << HEAP_CONTEXT_BITS)
#define HEAP_SLACKS 512u
#define HEAP_CLASSES 1024u

/* A kind of event: which call from which stack. */
struct heap_site {
	uint64_t size; /* of the last event */
	uint32_t stack;
	uint8_t kind;    /* op | call << 3, and the bits below */
	uint8_t is_hole; /* its stack was lost */
};

#define HEAP_KIND_OP 7u
#define HEAP_KIND_CALL_SHIFT 3u
#define HEAP_KIND_SIZED 64u    /* has size and slack */
#define HEAP_KIND_STACKED 128u /* has a stack */

struct heap_model {
	uint16_t next_site[HEAP_CONTEXTS];
	uint16_t distance[HEAP_CONTEXTS]; /* of frees */
	uint32_t slack[HEAP_SLACKS];      /* difference from the usual one, by size */
	uint32_t freed[HEAP_CLASSES];     /* last event that freed a block of that class, + 1 */
	uint32_t last_site;
	uint32_t site_before;
	uint32_t site_count;
	uint64_t last_far_address;
	uint32_t freed_before[CHUNK_MAX_HEAP_EVENTS]; /* by event: the previous free of its class, +
							 1 */
	struct heap_site sites[CHUNK_MAX_HEAP_EVENTS];
};

static inline void heap_model_begin(struct heap_model *model)
{
	memset(model->next_site, 0, sizeof(model->next_site));
	memset(model->distance, 0, sizeof(model->distance));
	memset(model->slack, 0, sizeof(model->slack));
	memset(model->freed, 0, sizeof(model->freed));
	model->last_site = 0;
	model->site_before = 0;
	model->site_count = 0;
	model->last_far_address = 0;
}

/* The context given by the last two sites. */
static inline uint32_t heap_model_context(const struct heap_model *model)
{
	return (model->last_site * 0x9e3779b1u + model->site_before * 0x85ebca77u) >>
	       (32 - HEAP_CONTEXT_BITS);
}

static inline void heap_model_site(struct heap_model *model, uint32_t context, uint32_t site)
{
	model->next_site[context] = (uint16_t)site;
	model->site_before = model->last_site;
	model->last_site = site;
}

/*
 * The slack that glibc adds to a size: usable sizes are 8 bytes below a multiple of 16, at least
 * 24.
 */
static inline uint32_t heap_usual_slack(uint64_t size)
{
	uint64_t usable = ((size + 23) & ~15ull) - 8;

	return (uint32_t)((size <= 24 ? 24 : usable) - size);
}

static inline uint32_t *heap_model_slack(struct heap_model *model, uint64_t size)
{
	return &model->slack[(size + 7) / 8 % HEAP_SLACKS];
}

/* The size of a block in units of 16 bytes. */
static inline uint32_t heap_units(uint64_t size, uint32_t slack)
{
	return (uint32_t)((size + slack) / 16) & 0x7fffffffu;
}

/* Blocks of a class reuse each other's addresses, separately in each thread. */
static inline uint32_t heap_class(uint32_t units, uint32_t thread)
{
	return (units + thread * 61) % HEAP_CLASSES;
}

/* Records that this event freed a block of the class. */
static inline void heap_model_free(struct heap_model *model, uint32_t class, uint32_t event)
{
	model->freed_before[event] = model->freed[class];
	model->freed[class] = event + 1;
}

/* Takes the last free that has not been reused: returns its event + 1, 0: none. */
static inline uint32_t heap_model_reuse(struct heap_model *model, uint32_t class)
{
	uint32_t event = model->freed[class];

	if (event > 0)
		model->freed[class] = model->freed_before[event - 1];
	return event;
}

#endif
