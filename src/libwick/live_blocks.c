/* SPDX-License-Identifier: BSD-2-Clause */
#include <wick/live_blocks.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/id_index.h"
#include "base/vec.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/live_blocks.h"
#include "heap/report.h"
#include "libwick/frames.h"
#include "libwick/profile_handle.h"
#include "libwick/public_error.h"
#include "libwick/sized_struct.h"
#include "model/profile.h"

/* The space of an address that a heap writer stored, see heap_writer_events.c. */
#define ADDRESS_BITS 56u

struct wick_live_blocks {
	struct heap_profile heap;
	VEC(struct wick_live_block) items; /* a site is a share of the report */
	struct frame_list frames;
};

static const struct heap_share *share_of(const struct wick_live_blocks *blocks, uint32_t share)
{
	const struct heap_report *report = heap_analysis_report(blocks->heap.analysis);

	return share < report->sites.shares.count ? &report->sites.shares.items[share] : NULL;
}

/* Lists the blocks that are selected. 0 or -ENOMEM. */
static int list_blocks(struct wick_live_blocks *blocks)
{
	const struct heap_live *live = heap_analysis_live(blocks->heap.analysis);

	if (vec_reserve(&blocks->items, live->count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < live->capacity; i++) {
		const struct heap_block *block = &live->slots[i];
		const struct heap_share *share = share_of(blocks, block->share);

		if (block->address == 0 || !share || blocks->heap.stacks[share->site] == ID_NONE)
			continue;
		if (vec_push(&blocks->items,
			     ((struct wick_live_block){
				     .address = block->address & ((1ull << ADDRESS_BITS) - 1),
				     .size = block->size,
				     .weight = heap_analysis_weight(blocks->heap.analysis, block),
				     .site = block->share})) < 0)
			return -ENOMEM;
	}
	return 0;
}

int wick_live_blocks_load(const char *path, const struct wick_load_options *options,
			  struct wick_live_blocks **ret, struct wick_error *err)
{
	struct wick_live_blocks *blocks = NULL;
	struct load_request request;
	struct error inner = {0};
	int r = need(path, "the path", &inner);

	if (r == 0)
		r = need(ret, "ret", &inner);
	if (r == 0)
		r = load_request_init(&request, options, &inner);
	if (r == 0) {
		blocks = calloc(1, sizeof(*blocks));
		if (!blocks)
			r = error_set(&inner, -ENOMEM, "out of memory");
	}
	if (r == 0)
		r = load_heap(path, &request.options, &blocks->heap, &inner);
	if (r == 0 && list_blocks(blocks) < 0)
		r = error_set(&inner, -ENOMEM, "out of memory");
	if (r < 0) {
		wick_live_blocks_free(blocks);
		return public_error(&inner, err);
	}
	*ret = blocks;
	return 0;
}

void wick_live_blocks_free(struct wick_live_blocks *blocks)
{
	if (!blocks)
		return;
	heap_profile_fini(&blocks->heap);
	vec_fini(&blocks->items);
	frame_list_fini(&blocks->frames);
	free(blocks);
}

size_t wick_live_blocks_count(const struct wick_live_blocks *blocks)
{
	return blocks ? blocks->items.count : 0;
}

size_t wick_live_blocks_get(const struct wick_live_blocks *blocks, size_t first, size_t count,
			    struct wick_live_block *ret)
{
	if (!blocks || !ret || first >= blocks->items.count)
		return 0;
	if (count > blocks->items.count - first)
		count = blocks->items.count - first;
	memcpy(ret, blocks->items.items + first, count * sizeof(*ret));
	return count;
}

/* The missing frames that the writer counted, at the root; 0: unknown, or none. */
static uint32_t cut_of(const struct frame_list *frames)
{
	const struct wick_profile_frame *root = frames->items.items;

	if (frames->items.count == 0 || strcmp(root->function, "[truncated]") != 0 ||
	    root->vaddr > UINT32_MAX)
		return 0;
	return (uint32_t)root->vaddr;
}

int wick_live_blocks_site(struct wick_live_blocks *blocks, uint32_t site,
			  struct wick_live_site *ret)
{
	const struct heap_share *share = blocks ? share_of(blocks, site) : NULL;
	const struct profile *profile;
	const struct profile_thread *thread;
	struct wick_live_site found = {0};
	uint32_t stack;
	int r;

	if (!blocks || !ret)
		return -EINVAL;
	stack = share ? blocks->heap.stacks[share->site] : ID_NONE;
	if (stack == ID_NONE || blocks->heap.threads[share->thread] == ID_NONE)
		return -ENOENT;
	profile = blocks->heap.profile;
	r = frame_list_fill(&blocks->frames, profile, stack);
	if (r < 0)
		return r;
	thread = &profile->threads.items[blocks->heap.threads[share->thread]];
	found.frames = blocks->frames.items.items;
	found.frame_count = blocks->frames.items.count;
	found.cut = cut_of(&blocks->frames);
	found.pid = thread->pid;
	found.tid = thread->tid;
	found.thread = profile_text(profile, thread->comm);
	return sized_hand_out(ret, &found, sizeof(found), "wick_live_site", NULL);
}
