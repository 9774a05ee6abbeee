/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/resolver_batch.h"

#include <errno.h>
#include <string.h>

#define CACHE_LINE 64
#define AHEAD 2
#define FAR_AHEAD 6

void resolver_batch_fini(struct resolver_batch *batch)
{
	vec_fini(&batch->order);
	vec_fini(&batch->answers);
	vec_fini(&batch->first_frames);
	vec_fini(&batch->frames);
	arena_fini(&batch->texts);
}

/* Keeps the frames of an answer, and the text of one without a name, which is made anew each time.
 */
static int keep(struct resolver_batch *batch, const struct resolved *found, uint32_t i)
{
	struct symbol_frame *frames;

	if (vec_reserve(&batch->frames, batch->frames.count + found->count) < 0)
		return -ENOMEM;
	frames = &batch->frames.items[batch->frames.count];
	memcpy(frames, found->frames, found->count * sizeof(*frames));
	if (found->quality >= SYMBOL_NONE) {
		frames[0].function = arena_strndup(&batch->texts, frames[0].function,
						   strlen(frames[0].function));
		if (!frames[0].function)
			return -ENOMEM;
	}
	batch->answers.items[i] = *found;
	batch->first_frames.items[i] = batch->frames.count;
	batch->frames.count += found->count;
	return 0;
}

int resolver_batch_find(struct resolver_batch *batch, struct resolver *resolver,
			const uint64_t *addresses, size_t count)
{
	batch->frames.count = 0;
	arena_fini(&batch->texts);
	if (vec_reserve(&batch->order, count) < 0 || vec_reserve(&batch->answers, count) < 0 ||
	    vec_reserve(&batch->first_frames, count) < 0)
		return -ENOMEM;
	batch->order.count = batch->answers.count = batch->first_frames.count = count;
	for (size_t i = 0; i < count; i++)
		batch->order.items[i] = (struct address_ref){addresses[i], (uint32_t)i};
	if (address_sort(batch->order.items, count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		struct resolved found;

		resolver_find(resolver, batch->order.items[i].address, &found);
		if (keep(batch, &found, batch->order.items[i].index) < 0)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Answers are read in an order that no processor foresees, and their texts lie anywhere:
 * those that come next are called in before they are needed.
 */
static void call_in(const struct resolver_batch *batch, size_t i)
{
	const struct symbol_frame *frames;
	size_t count;

	if (i + FAR_AHEAD < batch->answers.count) {
		__builtin_prefetch(&batch->frames.items[batch->first_frames.items[i + FAR_AHEAD]]);
		__builtin_prefetch(&batch->answers.items[i + FAR_AHEAD]);
	}
	if (i + AHEAD >= batch->answers.count)
		return;
	frames = &batch->frames.items[batch->first_frames.items[i + AHEAD]];
	count = batch->answers.items[i + AHEAD].count;
	for (size_t k = 0; k < count && k < 8; k++)
		for (size_t at = 0; at < 6 && at * CACHE_LINE < frames[k].plain_bytes; at++)
			__builtin_prefetch(frames[k].function + at * CACHE_LINE);
}

struct resolved resolver_batch_at(const struct resolver_batch *batch, size_t i)
{
	call_in(batch, i);
	struct resolved found = batch->answers.items[i];

	found.frames = &batch->frames.items[batch->first_frames.items[i]];
	return found;
}
