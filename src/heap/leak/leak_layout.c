/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/leak/leak_layout.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/path.h"
#include "proc/maps.h"
#include "wire/scan_hints.h"

#define PAGE_BYTES 4096u
/* glibc: heaps of other threads than the first begin at multiples of this. */
#define ARENA_BYTES (64ull << 20)
/* Blocks of at least this size may have their own mapping. */
#define LARGE_BYTES (64u << 10)
#define CHUNK_IS_MAPPED 2u
#define CHUNK_FLAGS 7u
/* Distance within which the data of the loader and of the first thread are. */
#define POINTER_REACH_BYTES 4096u

/* For parts to remove from the ranges: no evidence at all. */
#define NOTHING 0u

struct paint {
	uint64_t start;
	uint64_t end;
	uint16_t evidence;
	bool starts_only;
};

struct paints { /* grown with base/vec.h */
	struct paint *items;
	size_t count;
	size_t capacity;
};

void leak_layout_fini(struct leak_layout *layout)
{
	vec_fini(&layout->ranges);
	vec_fini(&layout->files);
}

static bool is_writable(const struct map_region *region)
{
	return (region->protection & (REGION_READ | REGION_WRITE)) == (REGION_READ | REGION_WRITE);
}

/* Reading devices has side effects; our own files contain all addresses. */
static bool is_left_out(const struct map_region *region)
{
	const char *path = region->path;

	if (strstr(path, "/wick-session-"))
		return true;
	return strncmp(path, "/dev/", 5) == 0 && strncmp(path, "/dev/zero", 9) != 0 &&
	       strncmp(path, "/dev/shm/", 9) != 0;
}

/* The C library's own data point to its free memory. */
static bool is_c_library(const char *path)
{
	const char *name = path_base_name(path);

	return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-2.", 7) == 0;
}

static bool is_module(const struct map_region *region)
{
	return (region->kind == REGION_FILE || region->kind == REGION_DELETED) &&
	       !(region->protection & REGION_SHARED);
}

/* Files, even private mappings, have contents that the process did not write. */
static enum reach_pages pages_of(const struct map_region *region)
{
	if (region->protection & REGION_SHARED)
		return REACH_PAGES_SHARED;
	return region->kind == REGION_ANONYMOUS || region->kind == REGION_SPECIAL
		       ? REACH_PAGES_PRIVATE
		       : REACH_PAGES_ALL;
}

/* The initial ranges, from the mappings. Anonymous memory after a file's data is its .bss. */
static int add_regions(struct leak_layout *layout, const struct maps *maps, bool has_older)
{
	const struct map_region *module = NULL;

	for (size_t i = 0; i < maps->count; i++) {
		const struct map_region *region = &maps->items[i];
		struct reach_range range = {region->start, region->end, LEAK_FROM_MAPPING, false,
					    (uint8_t)pages_of(region)};
		bool behind = module && region->kind == REGION_ANONYMOUS && i > 0 &&
			      maps->items[i - 1].end == region->start;

		if (is_module(region))
			module = region;
		else if (!behind)
			module = NULL;
		if ((region->protection & REGION_READ) && module == region &&
		    vec_push(&layout->files,
			     (struct reach_file){region->start, region->end,
						 region->protection & REGION_EXEC}) < 0)
			return -ENOMEM;
		if (!is_writable(region) || is_left_out(region))
			continue;
		if (module) {
			range.evidence = LEAK_FROM_GLOBAL;
			range.starts_only = is_c_library(module->path);
		}
		if (strcmp(region->path, "[heap]") == 0 && !has_older) {
			range.evidence = LEAK_FROM_FREED;
			range.starts_only = true;
		}
		if (vec_push(&layout->ranges, range) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int keep_part(struct leak_layout *to, const struct reach_range *range, uint64_t start,
		     uint64_t end)
{
	struct reach_range part = *range;

	part.start = start;
	part.end = end;
	return start < end ? vec_push(&to->ranges, part) : 0;
}

/* Splits a range at the sorted paints that overlap it; *at is the first of them. */
static int paint_range(struct leak_layout *to, const struct reach_range *range,
		       const struct paints *paints, size_t *at)
{
	uint64_t from = range->start;
	int r = 0;

	while (*at < paints->count && paints->items[*at].end <= range->start)
		++*at;
	for (size_t i = *at; i < paints->count && paints->items[i].start < range->end && r == 0;
	     i++) {
		const struct paint *paint = &paints->items[i];
		uint64_t start = paint->start > from ? paint->start : from;
		uint64_t end = paint->end < range->end ? paint->end : range->end;
		struct reach_range middle = {start, end, paint->evidence, paint->starts_only,
					     range->pages};

		r = keep_part(to, range, from, start);
		if (r == 0 && start < end && paint->evidence != NOTHING)
			r = vec_push(&to->ranges, middle);
		from = end > from ? end : from;
	}
	return r < 0 ? r : keep_part(to, range, from, range->end);
}

/* Changes the meaning of parts of the ranges; the rest stays unchanged. */
static int paint_all(struct leak_layout *layout, const struct paints *paints)
{
	struct leak_layout after = {0};
	size_t at = 0;
	int r = 0;

	for (size_t i = 0; i < layout->ranges.count && r == 0; i++)
		r = paint_range(&after, &layout->ranges.items[i], paints, &at);
	if (r < 0) {
		vec_fini(&after.ranges);
		return r;
	}
	vec_fini(&layout->ranges);
	memcpy(&layout->ranges, &after.ranges, sizeof(layout->ranges));
	return 0;
}

static int paint(struct leak_layout *layout, struct paint paint)
{
	if (paint.start >= paint.end)
		return 0;
	return paint_all(layout, &(struct paints){.items = &paint, .count = 1});
}

static int cut_own(struct leak_layout *layout, const struct scan_hints *inside)
{
	uint32_t count = atomic_load(&inside->own_count);
	int r = 0;

	for (uint32_t i = 0; i < count && i < INSIDE_OWN && r == 0; i++) {
		uint64_t start = inside->own[i].start;
		uint64_t bytes = inside->own[i].bytes;

		if (bytes > 0 && bytes < UINT64_MAX - start)
			r = paint(layout, (struct paint){start, start + bytes, NOTHING, false});
	}
	return r;
}

/* Reads the header of a glibc block: its offset, and its size with flags. */
static bool read_head(const struct layout_input *input, const struct reach_block *block,
		      uint64_t head[2])
{
	return input->read(input->self, block->address - 16, head, 16) == 16;
}

/*
 * Allocator memory around a block outside the [heap]: its own mapping, or the heap of another
 * thread.
 */
static struct paint area_around(const struct layout_input *input, const struct map_region *region,
				const struct reach_block *block)
{
	struct paint area = {block->address & ~(ARENA_BYTES - 1), region->end, LEAK_FROM_FREED,
			     true};
	uint64_t head[2] = {0, 0};

	if (block->size_bytes >= LARGE_BYTES && read_head(input, block, head) &&
	    (head[1] & CHUNK_IS_MAPPED) && head[0] < block->address - 16) {
		area.start = block->address - 16 - head[0];
		area.end = area.start + (head[1] & ~(uint64_t)CHUNK_FLAGS) + head[0];
	}
	if (area.start < region->start)
		area.start = region->start;
	if (area.end > region->end || area.end <= block->address)
		area.end = region->end;
	return area;
}

/* Areas are added in order. There may be very many large blocks, most of them adjacent. */
static int add_area(struct paints *paints, struct paint area)
{
	struct paint *last = paints->count > 0 ? &paints->items[paints->count - 1] : NULL;

	if (!last || area.start > last->end)
		return vec_push(paints, area);
	last->end = area.end;
	return 0;
}

static int find_areas(const struct layout_input *input, struct paints *paints)
{
	uint64_t done = 0; /* blocks below this are in a known area */
	int r = 0;

	for (size_t i = 0; i < input->block_count && r == 0; i++) {
		const struct reach_block *block = &input->blocks[i];
		const struct map_region *region;

		if (block->address < done)
			continue;
		region = maps_find(input->maps, block->address);
		if (!region)
			continue;
		if (strcmp(region->path, "[heap]") == 0) {
			done = region->end;
		} else if (is_writable(region) && !is_module(region)) {
			r = add_area(paints, area_around(input, region, block));
			done = r == 0 ? paints->items[paints->count - 1].end : done;
		}
	}
	return r;
}

static int paint_allocator(struct leak_layout *layout, const struct layout_input *input)
{
	struct paints paints = {0};
	int r = find_areas(input, &paints);

	if (r == 0)
		r = paint_all(layout, &paints);
	vec_fini(&paints);
	return r;
}

/* Heaps of threads without live blocks: the used part and the rest. */
static int paint_empty_arenas(struct leak_layout *layout, const struct maps *maps)
{
	int r = 0;

	for (size_t i = 0; i + 1 < maps->count && r == 0; i++) {
		const struct map_region *region = &maps->items[i];
		const struct map_region *rest = &maps->items[i + 1];

		if (region->kind == REGION_ANONYMOUS && is_writable(region) &&
		    region->start % ARENA_BYTES == 0 && rest->start == region->end &&
		    (rest->protection & (REGION_READ | REGION_WRITE | REGION_EXEC)) == 0 &&
		    rest->end == region->start + ARENA_BYTES)
			r = paint(layout, (struct paint){region->start, region->end,
							 LEAK_FROM_FREED, true});
	}
	return r;
}

/* The upper end of a thread's frames in a region; NULL: unknown. */
static const struct scan_hint_stack *find_stack(const struct layout_input *input,
						const struct map_region *region, uint64_t pointer)
{
	for (size_t i = 0; input->inside && i < INSIDE_STACKS; i++) {
		const struct scan_hint_stack *stack = &input->inside->stacks[i];
		uint64_t high = atomic_load(&stack->high);

		if (high > region->start && high <= region->end &&
		    (pointer == 0 || stack->pointer == pointer))
			return stack;
	}
	return NULL;
}

static bool is_leaving(const struct layout_input *input, const struct layout_thread *thread)
{
	return input->inside && input->inside->leaving_tid == (uint32_t)thread->tid;
}

/* The thread that ends the program counts only the frames that it had before. */
static uint64_t live_sp(const struct layout_input *input, const struct layout_thread *thread)
{
	const struct scan_hints *inside = input->inside;

	if (!is_leaving(input, thread))
		return thread->sp - input->red_zone;
	return inside->leaving_sp ? inside->leaving_sp : inside->stack_end;
}

static bool is_first_stack(const struct map_region *region)
{
	return strcmp(region->path, "[stack]") == 0;
}

/* Other stacks and data may lie below a stack in the same region. */
static struct paint below(const struct map_region *region, uint64_t low, uint64_t end)
{
	return (struct paint){low > region->start ? low : region->start, end, LEAK_FROM_DEAD_STACK,
			      true};
}

static int paint_stack(struct leak_layout *layout, const struct layout_input *input,
		       const struct layout_thread *thread)
{
	const struct map_region *region = maps_find(input->maps, thread->sp);
	uint64_t sp = live_sp(input, thread);
	const struct scan_hint_stack *stack =
		region ? find_stack(input, region, thread->pointer) : NULL;
	bool is_first = region && is_first_stack(region);
	struct paint dead;
	uint64_t high;
	int r;

	if (!region || (!stack && !is_first) || sp < region->start || sp > region->end)
		return 0; /* on a stack that the program made: scan all of it */
	high = stack ? atomic_load(&stack->high) : region->end;
	if (high < sp)
		high = sp;
	dead = below(region, stack ? stack->low : 0, sp);
	/* The frames of a thread that ends the program are never used again. */
	if (is_leaving(input, thread))
		dead.evidence = NOTHING;
	r = paint(layout, dead);
	if (r == 0)
		r = paint(layout, (struct paint){sp, high, LEAK_FROM_STACK, false});
	return r < 0 ? r : paint(layout, (struct paint){high, region->end, LEAK_FROM_TLS, false});
}

static bool has_live_thread(const struct layout_input *input, const struct map_region *region,
			    uint64_t pointer)
{
	for (size_t i = 0; i < input->thread_count; i++)
		if (input->threads[i].pointer == pointer ||
		    (input->threads[i].sp >= region->start && input->threads[i].sp < region->end))
			return true;
	return false;
}

/* Stacks that the C library keeps for new threads: their old contents are dead. */
static int paint_dead_stacks(struct leak_layout *layout, const struct layout_input *input)
{
	int r = 0;

	for (size_t i = 0; input->inside && i < INSIDE_STACKS && r == 0; i++) {
		const struct scan_hint_stack *stack = &input->inside->stacks[i];
		uint64_t high = atomic_load(&stack->high);
		const struct map_region *region = high ? maps_find(input->maps, high - 1) : NULL;
		uint64_t word;

		if (!region || region->kind != REGION_ANONYMOUS || !is_writable(region) ||
		    stack->pointer < high || stack->pointer >= region->end ||
		    has_live_thread(input, region, stack->pointer) ||
		    input->read(input->self, stack->pointer, &word, sizeof(word)) != sizeof(word) ||
		    word == 0)
			continue; /* in use, or reused for something else */
		r = paint(layout, below(region, stack->low, high));
		if (r == 0)
			r = paint(layout, (struct paint){high, region->end, LEAK_FROM_TLS, false});
	}
	return r;
}

/* If the first thread has ended before the others, its stack has no frames. */
static int paint_ended_first(struct leak_layout *layout, const struct layout_input *input)
{
	const struct map_region *region;

	if (!input->first_ended || !input->inside || input->inside->stack_end == 0)
		return 0;
	region = maps_find(input->maps, input->inside->stack_end);
	return region && is_first_stack(region)
		       ? paint(layout, below(region, 0, input->inside->stack_end))
		       : 0;
}

/* The thread data of the first thread are among those of the loader. */
static int paint_first_words(struct leak_layout *layout, const struct layout_input *input)
{
	for (size_t i = 0; i < input->thread_count; i++) {
		uint64_t pointer = input->threads[i].pointer;

		if (input->threads[i].tid == input->pid && pointer > POINTER_REACH_BYTES)
			return paint(layout, (struct paint){pointer - POINTER_REACH_BYTES,
							    pointer + POINTER_REACH_BYTES,
							    LEAK_FROM_TLS, false});
	}
	return 0;
}

int leak_layout_make(struct leak_layout *layout, const struct layout_input *input)
{
	int r = add_regions(layout, input->maps, input->has_older);

	if (r == 0)
		r = paint_first_words(layout, input);
	/*
	 * With older blocks, memory outside known blocks may be in an unknown one, and is scanned.
	 */
	if (r == 0 && !input->has_older)
		r = paint_empty_arenas(layout, input->maps);
	if (r == 0 && !input->has_older)
		r = paint_allocator(layout, input);
	if (r == 0)
		r = paint_dead_stacks(layout, input);
	if (r == 0)
		r = paint_ended_first(layout, input);
	for (size_t i = 0; i < input->thread_count && r == 0; i++)
		r = paint_stack(layout, input, &input->threads[i]);
	if (r == 0 && input->inside)
		r = cut_own(layout, input->inside);
	return r;
}
