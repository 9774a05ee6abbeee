/* SPDX-License-Identifier: BSD-2-Clause */
#include "block_trace/blocks.h"

#include <errno.h>
#include <string.h>

#define FIRST_PAGES 1024
#define PAGE_GRANULES (1u << (TRACE_PAGE_BITS - TRACE_GRANULE_BITS))

static uint32_t slots_of(uint32_t step)
{
	return (PAGE_GRANULES + step - 1) / step;
}

void trace_blocks_init(struct trace_blocks *blocks, struct trace_memory *memory)
{
	*blocks = (struct trace_blocks){.memory = memory,
					.slots = {.item_bytes = sizeof(struct trace_slot_entry)},
					.odd = {.memory = memory}};
	for (uint32_t step = 1; step <= TRACE_STEP_MAX; step++)
		blocks->inverse[step] = ((1u << TRACE_INVERSE_BITS) + step - 1) / step;
}

static void free_pages(struct trace_blocks *blocks)
{
	trace_memory_unmap(blocks->memory, blocks->pages,
			   blocks->page_capacity * sizeof(*blocks->pages));
}

void trace_blocks_clear(struct trace_blocks *blocks)
{
	free_pages(blocks);
	trace_array_free(blocks->memory, &blocks->slots);
	tracked_blocks_clear(&blocks->odd);
	trace_blocks_init(blocks, blocks->memory);
}

static struct trace_slot_entry *slot_at(const struct trace_blocks *blocks, uint32_t slot)
{
	return (struct trace_slot_entry *)blocks->slots.items + slot;
}

/* An array of free slots for a page of this step. Returns its first slot, or UINT32_MAX. */
static uint32_t take_slots(struct trace_blocks *blocks, uint32_t step)
{
	uint32_t n = slots_of(step);
	uint32_t first = blocks->free_slots[step];

	if (first != 0) {
		/* The link to the next one is in the first slot. */
		blocks->free_slots[step] = slot_at(blocks, first - 1)->size;
		slot_at(blocks, first - 1)->size = 0;
		return first - 1;
	}
	if (blocks->slot_count + n > UINT32_MAX / 2 ||
	    trace_array_reserve(blocks->memory, &blocks->slots, blocks->slot_count + n) < 0)
		return UINT32_MAX;
	first = (uint32_t)blocks->slot_count;
	blocks->slot_count += n;
	return first;
}

/* The slots must be free. */
static void give_slots(struct trace_blocks *blocks, uint32_t first, uint32_t step)
{
	slot_at(blocks, first)->size = blocks->free_slots[step];
	blocks->free_slots[step] = first + 1;
}

static struct trace_page *page_place(struct trace_page *pages, size_t capacity, unsigned int shift,
				     uint64_t number)
{
	size_t i = (size_t)(number * 0x9e3779b97f4a7c15ull >> shift);

	while (pages[i].number != 0)
		i = (i + 1) & (capacity - 1);
	return &pages[i];
}

/* Makes room for one more page. Those without blocks are dropped. */
static int reserve_page(struct trace_blocks *blocks)
{
	struct trace_page *pages;
	size_t capacity = FIRST_PAGES;
	size_t used = 0;
	unsigned int shift = 64 - 10;

	if (blocks->page_count < blocks->page_capacity / 2)
		return 0;
	for (size_t i = 0; i < blocks->page_capacity; i++)
		used += blocks->pages[i].number != 0 && blocks->pages[i].count > 0;
	for (; capacity / 3 < used + 1; shift--)
		capacity *= 2;
	pages = trace_memory_map(blocks->memory, capacity * sizeof(*pages));
	if (!pages) /* a search ends at a free place */
		return blocks->page_count + 1 < blocks->page_capacity ? 0 : -ENOMEM;
	for (size_t i = 0; i < blocks->page_capacity; i++) {
		const struct trace_page *page = &blocks->pages[i];

		if (page->number != 0 && page->count > 0)
			*page_place(pages, capacity, shift, page->number) = *page;
		else if (page->number != 0)
			give_slots(blocks, page->first, page->step);
	}
	free_pages(blocks);
	blocks->pages = pages;
	blocks->page_capacity = capacity;
	blocks->page_count = used;
	blocks->shift = shift;
	return 0;
}

static struct trace_page *add_page(struct trace_blocks *blocks, uint64_t number, uint32_t step)
{
	struct trace_page *page;
	uint32_t first;

	if (reserve_page(blocks) < 0)
		return NULL;
	first = take_slots(blocks, step);
	if (first == UINT32_MAX)
		return NULL;
	page = page_place(blocks->pages, blocks->page_capacity, blocks->shift, number);
	*page = (struct trace_page){.number = number, .first = first, .step = (uint8_t)step};
	blocks->page_count++;
	return page;
}

/* Gives a page another step and its blocks their new slots. */
static int set_step(struct trace_blocks *blocks, struct trace_page *page, uint32_t step)
{
	struct trace_page next = *page;
	uint32_t old_slots = slots_of(page->step);
	uint32_t first = take_slots(blocks, step);

	if (first == UINT32_MAX)
		return -ENOMEM;
	next.first = first;
	next.step = (uint8_t)step;
	for (uint32_t i = 0; i < old_slots; i++) {
		struct trace_slot_entry *old = slot_at(blocks, page->first + i);
		uint32_t granule = i * page->step + (old->site_rest & 31);
		uint32_t rest;
		struct trace_slot_entry *slot;

		if (old->site_rest == 0)
			continue;
		slot = trace_blocks_slot(blocks, &next, (uint64_t)granule << TRACE_GRANULE_BITS,
					 &rest);
		*slot = (struct trace_slot_entry){old->size, (old->site_rest & ~31u) | rest};
		*old = (struct trace_slot_entry){0};
	}
	/* Free slots may have stale sizes; only the links of free arrays are read. */
	give_slots(blocks, page->first, page->step);
	*page = next;
	return 0;
}

static uint32_t step_for(uint64_t size)
{
	uint64_t granules = (size + 15) >> TRACE_GRANULE_BITS;

	if (granules == 0)
		return 1;
	return granules < TRACE_STEP_MAX ? (uint32_t)granules : TRACE_STEP_MAX;
}

static int put_odd(struct trace_blocks *blocks, const struct trace_block *block,
		   struct trace_block *ret_old)
{
	bool is_known = trace_blocks_take(blocks, block->address, ret_old);

	if (tracked_blocks_add(&blocks->odd, &(struct tracked_block){block->address, block->size, 0,
								     block->site + 1}) < 0)
		return -ENOMEM;
	blocks->count++;
	return is_known;
}

int trace_blocks_put_slowly(struct trace_blocks *blocks, const struct trace_block *block,
			    struct trace_block *ret_old)
{
	uint32_t step = step_for(block->size);
	struct trace_page *page;
	struct trace_slot_entry *slot;
	uint32_t rest;

	if (trace_block_is_odd(block->address, block->size))
		return put_odd(blocks, block, ret_old);
	page = trace_blocks_page(blocks, block->address);
	if (!page) {
		page = add_page(blocks, block->address >> TRACE_PAGE_BITS, step);
		if (!page)
			return -ENOMEM;
	} else if (step < page->step || (page->count == 0 && step != page->step)) {
		if (set_step(blocks, page, step) < 0)
			return -ENOMEM;
	}
	slot = trace_blocks_slot(blocks, page, block->address, &rest);
	if (slot->site_rest != 0) {
		*ret_old = (struct trace_block){block->address, slot->size,
						(slot->site_rest >> 5) - 1};
		*slot = (struct trace_slot_entry){(uint32_t)block->size,
						  (block->site + 1) << 5 | rest};
		return 1;
	}
	*slot = (struct trace_slot_entry){(uint32_t)block->size, (block->site + 1) << 5 | rest};
	page->count++;
	blocks->count++;
	return 0;
}

bool trace_blocks_get_odd(const struct trace_blocks *blocks, uint64_t address,
			  struct trace_block *ret)
{
	const struct tracked_block *block = tracked_blocks_find(&blocks->odd, 0, address);

	if (!block)
		return false;
	*ret = (struct trace_block){address, block->size, block->site - 1};
	return true;
}

bool trace_blocks_take_odd(struct trace_blocks *blocks, uint64_t address, struct trace_block *ret)
{
	struct tracked_block *block = tracked_blocks_find(&blocks->odd, 0, address);

	if (!block)
		return false;
	*ret = (struct trace_block){address, block->size, block->site - 1};
	tracked_blocks_remove(&blocks->odd, block);
	blocks->count--;
	return true;
}

/* The cursor is a place in the directory << 16 | a slot of the page; then places among the odd. */
bool trace_blocks_next(const struct trace_blocks *blocks, uint64_t *cursor, struct trace_block *ret)
{
	size_t place = (size_t)(*cursor >> 16);
	uint32_t i = (uint32_t)(*cursor & 0xffff);

	for (; place < blocks->page_capacity; place++, i = 0) {
		const struct trace_page *page = &blocks->pages[place];

		if (page->number == 0 || page->count == 0)
			continue;
		for (; i < slots_of(page->step); i++) {
			const struct trace_slot_entry *slot = slot_at(blocks, page->first + i);
			uint64_t granule = i * page->step + (slot->site_rest & 31);

			if (slot->site_rest == 0)
				continue;
			*ret = (struct trace_block){page->number << TRACE_PAGE_BITS |
							    granule << TRACE_GRANULE_BITS,
						    slot->size, (slot->site_rest >> 5) - 1};
			*cursor = (uint64_t)place << 16 | (i + 1);
			return true;
		}
	}
	for (size_t k = place - blocks->page_capacity; k < blocks->odd.capacity; k++) {
		const struct tracked_block *block = &blocks->odd.slots[k];

		if (block->site == 0)
			continue;
		*ret = (struct trace_block){block->address, block->size, block->site - 1};
		*cursor = (uint64_t)(blocks->page_capacity + k + 1) << 16;
		return true;
	}
	return false;
}
