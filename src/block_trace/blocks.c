/* SPDX-License-Identifier: BSD-2-Clause */
#include "block_trace/blocks.h"

#include <errno.h>

#define FIRST_PAGES 1024
#define PAGE_GRANULES (1u << (TRACE_PAGE_BITS - TRACE_GRANULE_BITS))

static uint32_t slots_of(uint32_t step)
{
	return (PAGE_GRANULES + step - 1) / step;
}

void trace_blocks_init(struct trace_blocks *blocks, struct trace_memory *memory)
{
	*blocks = (struct trace_blocks){.memory = memory,
					.slots = {.item_bytes = sizeof(trace_slot_word)},
					.odd = {.memory = memory}};
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

static trace_slot_word *slot_at(const struct trace_blocks *blocks, uint32_t slot)
{
	return (trace_slot_word *)blocks->slots.items + slot;
}

static bool is_odd(uint64_t address, uint64_t size)
{
	return (address & 15) != 0 || size > UINT32_MAX || address >> TRACE_PAGE_BITS == 0;
}

static struct trace_page *find_page(const struct trace_blocks *blocks, uint64_t address)
{
	uint64_t number = address >> TRACE_PAGE_BITS;

	if (!blocks->pages || number == 0)
		return NULL;
	for (size_t i = trace_blocks_place(blocks, number);;
	     i = (i + 1) & (blocks->page_capacity - 1)) {
		struct trace_page *page = &blocks->pages[i];

		if (page->number == number)
			return page;
		if (page->number == 0)
			return NULL;
	}
}

static void set_slots(struct trace_page *page, uint32_t first, uint32_t step)
{
	page->first_step = first << 5 | (step - 1);
	page->inverse = (uint16_t)(((1u << TRACE_INVERSE_BITS) + step - 1) / step);
}

/* The granule at which the block of a slot starts. */
static uint32_t granule_of(const struct trace_page *page, uint32_t slot, trace_slot_word word)
{
	uint32_t start = slot * trace_page_step(page);

	return start + (((uint32_t)(word >> 32) - start) & 31);
}

/* An array of free slots for a page of this step. Returns its first slot, or UINT32_MAX. */
static uint32_t take_slots(struct trace_blocks *blocks, uint32_t step)
{
	uint32_t n = slots_of(step);
	uint32_t first = blocks->free_slots[step];

	if (first != 0) {
		/* The link to the next one is in the first slot. */
		blocks->free_slots[step] = (uint32_t)*slot_at(blocks, first - 1);
		*slot_at(blocks, first - 1) = 0;
		return first - 1;
	}
	if (blocks->slot_count + n > TRACE_SLOTS_MAX ||
	    trace_array_reserve(blocks->memory, &blocks->slots, blocks->slot_count + n) < 0)
		return UINT32_MAX;
	first = (uint32_t)blocks->slot_count;
	blocks->slot_count += n;
	return first;
}

/* The slots must be free. */
static void give_slots(struct trace_blocks *blocks, uint32_t first, uint32_t step)
{
	*slot_at(blocks, first) = blocks->free_slots[step];
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
			give_slots(blocks, page->first_step >> 5, trace_page_step(page));
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
	page->number = number;
	page->count = 0;
	set_slots(page, first, step);
	blocks->page_count++;
	return page;
}

/* Gives a page another step and its blocks their new slots. */
static int set_step(struct trace_blocks *blocks, struct trace_page *page, uint32_t step)
{
	struct trace_page next = *page;
	uint32_t old_first = page->first_step >> 5;
	uint32_t old_step = trace_page_step(page);
	uint32_t first = take_slots(blocks, step);

	if (first == UINT32_MAX)
		return -ENOMEM;
	set_slots(&next, first, step);
	for (uint32_t i = 0; i < slots_of(old_step); i++) {
		trace_slot_word *old = slot_at(blocks, old_first + i);

		if (*old != 0)
			*trace_blocks_slot(blocks, &next, granule_of(page, i, *old)) = *old;
		*old = 0;
	}
	give_slots(blocks, old_first, old_step);
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
	bool is_known = trace_blocks_take_slowly(blocks, block->address, ret_old);

	if (tracked_blocks_add(&blocks->odd, &(struct tracked_block){block->address, block->size, 0,
								     block->site + 1}) < 0)
		return -ENOMEM;
	blocks->count++;
	return is_known;
}

/* The page for a block, with a step that fits. NULL without memory. */
static struct trace_page *page_for(struct trace_blocks *blocks, const struct trace_block *block)
{
	uint32_t step = step_for(block->size);
	struct trace_page *page = find_page(blocks, block->address);

	if (!page)
		return add_page(blocks, block->address >> TRACE_PAGE_BITS, step);
	if ((step < trace_page_step(page) || (page->count == 0 && step != trace_page_step(page))) &&
	    set_step(blocks, page, step) < 0)
		return NULL;
	return page;
}

int trace_blocks_put_slowly(struct trace_blocks *blocks, const struct trace_block *block,
			    struct trace_block *ret_old)
{
	uint32_t granule = trace_granule(block->address);
	struct trace_page *page;
	trace_slot_word *slot;
	trace_slot_word old;

	if (is_odd(block->address, block->size))
		return put_odd(blocks, block, ret_old);
	page = page_for(blocks, block);
	if (!page)
		return -ENOMEM;
	slot = trace_blocks_slot(blocks, page, granule);
	old = *slot;
	*slot = trace_slot_make(granule, block->size, block->site);
	if (old != 0) {
		*ret_old =
			(struct trace_block){block->address, (uint32_t)old, trace_slot_site(old)};
		return 1;
	}
	page->count++;
	blocks->count++;
	return 0;
}

/* The slot of a block, and its page. */
static trace_slot_word *find_slot(const struct trace_blocks *blocks, uint64_t address,
				  struct trace_page **ret_page)
{
	struct trace_page *page = find_page(blocks, address);
	trace_slot_word *slot;

	if (!page || page->count == 0 || (address & 15) != 0)
		return NULL;
	slot = trace_blocks_slot(blocks, page, trace_granule(address));
	*ret_page = page;
	return trace_slot_is(*slot, trace_granule(address)) ? slot : NULL;
}

trace_slot_word *trace_blocks_find_slot(const struct trace_blocks *blocks, uint64_t address)
{
	struct trace_page *page;

	return find_slot(blocks, address, &page);
}

bool trace_blocks_get(const struct trace_blocks *blocks, uint64_t address, struct trace_block *ret)
{
	struct trace_page *page;
	const trace_slot_word *slot = find_slot(blocks, address, &page);
	const struct tracked_block *odd;

	if (slot) {
		*ret = (struct trace_block){address, (uint32_t)*slot, trace_slot_site(*slot)};
		return true;
	}
	odd = tracked_blocks_find(&blocks->odd, 0, address);
	if (odd)
		*ret = (struct trace_block){address, odd->size, odd->site - 1};
	return odd != NULL;
}

bool trace_blocks_take_slowly(struct trace_blocks *blocks, uint64_t address,
			      struct trace_block *ret)
{
	struct trace_page *page;
	trace_slot_word *slot;
	struct tracked_block *odd;

	if (!trace_blocks_get(blocks, address, ret))
		return false;
	slot = find_slot(blocks, address, &page);
	if (slot) {
		*slot = 0;
		page->count--;
	} else {
		odd = tracked_blocks_find(&blocks->odd, 0, address);
		tracked_blocks_remove(&blocks->odd, odd);
	}
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
		for (; i < slots_of(trace_page_step(page)); i++) {
			trace_slot_word slot = *slot_at(blocks, (page->first_step >> 5) + i);

			if (slot == 0)
				continue;
			*ret = (struct trace_block){page->number << TRACE_PAGE_BITS |
							    (uint64_t)granule_of(page, i, slot)
								    << TRACE_GRANULE_BITS,
						    (uint32_t)slot, trace_slot_site(slot)};
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
