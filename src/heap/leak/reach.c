/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/leak/reach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "heap/leak/interior_pointers.h"

#define WINDOW_BYTES (1u << 20)
#define PAGE_BYTES 4096u
/* Shorter untouched gaps are read anyway: one call per page would take longer. */
#define PRIVATE_GAP_BYTES (256u << 10)
#define SHARED_GAP_BYTES (64u << 20)
/* Words that are looked up together. */
#define AT_ONCE 64u
/* How many pointers ahead the notes of a block are prefetched. */
#define NOTE_AHEAD 16u

/* A pointer: to a block, and how far into it. */
struct edge {
	uint32_t block;
	uint32_t offset; /* UINT32_MAX: this or more */
};

/* A pointer in the current window, by word. */
struct pointer {
	uint32_t word;
	struct edge edge;
};

enum state { UNREACHED, INDIRECT, POSSIBLE, REACHABLE };

struct scan {
	const struct reach_config *config;
	const struct reach_block *blocks;
	size_t count;
	struct reach_index index;
	VEC(struct edge) edges; /* of all blocks, by block */
	size_t *first_edge;     /* by block, plus one */
	size_t edges_of;        /* the block whose edges come next */
	VEC(struct edge) roots; /* pointers in roots */
	uint8_t *states;
	uint32_t *leaders; /* by block: the owner of an indirect block; else itself */
	VEC(uint32_t) stack;
	uint16_t *evidence; /* by block, separate from the answers because of random writes */
	struct reach_answer *answers;
	uint64_t *window;
	uint32_t *places;         /* indexes of words in the window that may be pointers */
	struct pointer *pointers; /* of the window */
	size_t pointer_count;
	size_t pointer_next; /* the next one to consume */
	uint64_t read_bytes;
	uint64_t unread_bytes;
};

static void fini(struct scan *scan)
{
	reach_index_fini(&scan->index);
	vec_fini(&scan->edges);
	vec_fini(&scan->roots);
	vec_fini(&scan->stack);
	free(scan->first_edge);
	free(scan->states);
	free(scan->leaders);
	free(scan->evidence);
	free(scan->answers);
	free(scan->window);
	free(scan->places);
	free(scan->pointers);
}

static int init(struct scan *scan)
{
	size_t n = scan->count;

	scan->first_edge = calloc(n + 1, sizeof(*scan->first_edge));
	scan->states = calloc(n + 1, sizeof(*scan->states));
	scan->leaders = calloc(n + 1, sizeof(*scan->leaders));
	scan->evidence = calloc(n + 1, sizeof(*scan->evidence));
	scan->answers = calloc(n + 1, sizeof(*scan->answers));
	scan->window = malloc(WINDOW_BYTES);
	scan->places = malloc((WINDOW_BYTES / sizeof(uint64_t) + 1) * sizeof(*scan->places));
	scan->pointers = malloc(WINDOW_BYTES / sizeof(uint64_t) * sizeof(*scan->pointers));
	if (!scan->first_edge || !scan->states || !scan->leaders || !scan->evidence ||
	    !scan->answers || !scan->window || !scan->places || !scan->pointers)
		return -ENOMEM;
	return reach_index_init(&scan->index, scan->blocks, n);
}

static struct edge edge_to(const struct scan *scan, uint32_t block, uint64_t word)
{
	uint64_t offset = block == REACH_NOWHERE ? 0 : word - scan->blocks[block].address;

	return (struct edge){block, offset < UINT32_MAX ? (uint32_t)offset : UINT32_MAX};
}

/* Finds words that may be pointers, using only the bounds of all blocks. */
static size_t find_candidates(const struct scan *scan, const uint64_t *words, size_t n,
			      uint32_t *places)
{
	uint64_t low = scan->index.extents[0].start;
	uint64_t room = scan->index.extents[scan->count - 1].end - low;
	size_t count = 0;

	for (size_t i = 0; i < n; i++) { /* without branches */
		places[count] = (uint32_t)i;
		count += words[i] - low < room;
	}
	return count;
}

/* Looks up some words, with their memory accesses overlapped. */
static void find_some(struct scan *scan, const uint64_t *words, const uint32_t *places, size_t n)
{
	const uint32_t *pieces[AT_ONCE];

	for (size_t i = 0; i < n; i++) {
		pieces[i] = reach_index_piece(&scan->index, words[places[i]]);
		__builtin_prefetch(pieces[i]);
	}
	for (size_t i = 0; i < n; i++)
		if (pieces[i] && pieces[i][1] > 0)
			__builtin_prefetch(&scan->index.extents[pieces[i][1] - 1]);
	for (size_t i = 0; i < n; i++) {
		uint64_t word = words[places[i]];
		uint32_t block = pieces[i] ? reach_index_answer(&scan->index, pieces[i], word)
					   : REACH_NOWHERE;

		if (block != REACH_NOWHERE)
			scan->pointers[scan->pointer_count++] =
				(struct pointer){places[i], edge_to(scan, block, word)};
	}
}

/* Finds the pointers in a window. The tables are much larger than any cache. */
static void find_pointers(struct scan *scan, const uint64_t *words, size_t n)
{
	size_t count = scan->count > 0 ? find_candidates(scan, words, n, scan->places) : 0;

	scan->pointer_count = scan->pointer_next = 0;
	for (size_t at = 0; at < count; at += AT_ONCE)
		find_some(scan, words, scan->places + at,
			  count - at < AT_ONCE ? count - at : AT_ONCE);
}

/* Whether a pointer leads to the end of a block, which may be an empty array. */
static bool is_behind(const struct scan *scan, struct edge edge)
{
	return edge.offset == REACH_COUNT_BYTES &&
	       scan->blocks[edge.block].size_bytes == REACH_COUNT_BYTES;
}

static void note(struct scan *scan, struct edge edge, uint16_t evidence)
{
	if (is_behind(scan, edge))
		return; /* its meaning is unknown */
	scan->evidence[edge.block] |= (uint16_t)(evidence | (edge.offset > 0 ? LEAK_INSIDE : 0));
}

/* The next pointer of the window below a word; NULL: none. */
static const struct pointer *next_pointer(struct scan *scan, size_t end)
{
	size_t at = scan->pointer_next;

	if (at == scan->pointer_count || scan->pointers[at].word >= end)
		return NULL;
	if (at + NOTE_AHEAD < scan->pointer_count)
		__builtin_prefetch(&scan->evidence[scan->pointers[at + NOTE_AHEAD].edge.block], 1);
	scan->pointer_next++;
	return &scan->pointers[at];
}

static void skip_pointers(struct scan *scan, size_t end)
{
	while (next_pointer(scan, end))
		;
}

/* Handles the words of a live block, up to one of the window. */
static int look_into_block(struct scan *scan, uint32_t block, size_t end)
{
	const struct pointer *pointer;

	while ((pointer = next_pointer(scan, end))) {
		if (pointer->edge.block != block)
			note(scan, pointer->edge, LEAK_FROM_BLOCK);
		if (vec_push(&scan->edges, pointer->edge) < 0)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Handles words outside live blocks. In shades a pointer counts only if it leads to the start of a
 * block: allocators and leftovers point into the middle of anything.
 */
static int look_outside(struct scan *scan, uint16_t evidence, bool starts_only, size_t end)
{
	const struct pointer *pointer;
	bool is_root = reach_is_root(evidence);

	while ((pointer = next_pointer(scan, end))) {
		if (pointer->edge.offset > 0 && (starts_only || !is_root))
			continue;
		note(scan, pointer->edge, evidence);
		if (is_root && vec_push(&scan->roots, pointer->edge) < 0)
			return -ENOMEM;
	}
	return 0;
}

static size_t words_up_to(uint64_t from, uint64_t to)
{
	return to > from ? (size_t)(to - from) / sizeof(uint64_t) : 0;
}

static uint64_t round_up(uint64_t address)
{
	return (address + sizeof(uint64_t) - 1) & ~(uint64_t)(sizeof(uint64_t) - 1);
}

/* The edges of all blocks before this one are complete. */
static void begin_edges(struct scan *scan, size_t block)
{
	while (scan->edges_of <= block)
		scan->first_edge[scan->edges_of++] = scan->edges.count;
}

/* The end of the slack after a block: where the next block may have its header. */
static uint64_t slack_end(const struct reach_block *block)
{
	uint64_t size = block->size_bytes < 24 ? 24 : block->size_bytes;

	return block->address + ((size + 8 + 15) & ~15ull) - 8;
}

/*
 * Handles words between blocks, or up to the end of a range: the slack of the previous block, and
 * the rest.
 */
static int look_between(struct scan *scan, const struct reach_range *range, size_t next,
			uint64_t base, uint64_t end)
{
	uint64_t slack = next > 0 ? slack_end(&scan->blocks[next - 1]) : 0;
	int r = 0;

	if (next > 0 && range->evidence == LEAK_FROM_FREED)
		r = look_outside(scan, LEAK_FROM_PADDING, true,
				 words_up_to(base, slack < end ? slack : end));
	return r < 0 ? r
		     : look_outside(scan, range->evidence, range->starts_only,
				    words_up_to(base, end));
}

/*
 * Words at [at, end), which were read. *next is the first block that does not end before `at`.
 */
static int look_at_window(struct scan *scan, const struct reach_range *range, uint64_t at,
			  uint64_t end, size_t *next)
{
	const uint64_t base = at;
	int r = 0;

	find_pointers(scan, scan->window, words_up_to(base, end));
	while (at < end && r == 0) {
		const struct reach_block *block = *next < scan->count ? &scan->blocks[*next] : NULL;
		uint64_t stop = end;

		if (block && at >= block->address) {
			uint64_t inside = block->address + block->size_bytes;

			if (inside < stop)
				stop = inside;
			begin_edges(scan, *next);
			r = look_into_block(scan, (uint32_t)*next, words_up_to(base, stop));
			if (inside <= end)
				++*next;
			at = inside <= end ? round_up(inside) : end;
			/* A word that is partly in a block is ignored. */
			skip_pointers(scan, words_up_to(base, at));
		} else {
			if (block && block->address < stop)
				stop = round_up(block->address);
			r = look_between(scan, range, *next, base, stop);
			at = stop;
		}
	}
	return r;
}

/* Reads a piece; skips unreadable parts page by page. Returns the bytes read. */
static size_t read_some(struct scan *scan, uint64_t at, size_t size)
{
	size_t got = scan->config->read(scan->config->self, at, scan->window, size);

	got -= got % sizeof(uint64_t);
	scan->read_bytes += got;
	return got;
}

static size_t unreadable(uint64_t at, uint64_t end)
{
	size_t step = PAGE_BYTES - at % PAGE_BYTES;

	return end - at < step ? (size_t)(end - at) : step;
}

/* The next piece of a range to read, no larger than a window; empty at its end. */
static struct reach_range next_piece(const struct scan *scan, const struct reach_range *range,
				     uint64_t at, uint64_t end)
{
	const struct reach_config *config = scan->config;
	enum reach_pages pages = (enum reach_pages)range->pages;
	uint64_t gap = pages == REACH_PAGES_SHARED ? SHARED_GAP_BYTES : PRIVATE_GAP_BYTES;
	uint64_t most = end - at < WINDOW_BYTES ? end : at + WINDOW_BYTES;
	uint64_t touched;

	if (pages == REACH_PAGES_ALL || !config->next_touched)
		return (struct reach_range){.start = at, .end = most};
	touched = config->next_touched(config->self, pages, at, end);
	if (touched == end || touched - at >= gap)
		at = touched;
	most = end - at < WINDOW_BYTES ? end : at + WINDOW_BYTES;
	for (uint64_t stop = at; stop < most; stop = (stop / gap + 1) * gap) {
		touched = config->next_touched(config->self, pages, stop, end);
		if (touched == end || touched - stop >= gap)
			return (struct reach_range){.start = at, .end = stop};
		stop = touched;
	}
	return (struct reach_range){.start = at, .end = most};
}

static int look_at_range(struct scan *scan, const struct reach_range *range, size_t *next)
{
	uint64_t at = round_up(range->start);
	uint64_t end = range->end & ~(uint64_t)(sizeof(uint64_t) - 1);
	int r = 0;

	while (at < end && r == 0) {
		struct reach_range piece = next_piece(scan, range, at, end);
		size_t size = (size_t)(piece.end - piece.start);
		size_t got;

		at = piece.start;
		if (at == end)
			break;
		got = read_some(scan, at, size);
		while (*next < scan->count && reach_block_end(&scan->blocks[*next]) <= at)
			++*next;
		if (got == 0) {
			got = unreadable(at, end);
			scan->unread_bytes += got;
		} else {
			r = look_at_window(scan, range, at, at + got, next);
		}
		at += got;
	}
	return r;
}

/* With many threads, the registers exceed a window. */
static int look_at_registers(struct scan *scan)
{
	size_t most = WINDOW_BYTES / sizeof(uint64_t);
	int r = 0;

	for (size_t at = 0; at < scan->config->register_count && r == 0; at += most) {
		size_t left = scan->config->register_count - at;
		size_t n = left < most ? left : most;

		find_pointers(scan, scan->config->registers + at, n);
		r = look_outside(scan, LEAK_FROM_REGISTER, false, n);
	}
	return r;
}

static int look_at_all(struct scan *scan)
{
	size_t next = 0;
	int r = 0;

	for (size_t i = 0; i < scan->config->range_count && r == 0; i++)
		r = look_at_range(scan, &scan->config->ranges[i], &next);
	if (r == 0)
		r = look_at_registers(scan);
	begin_edges(scan, scan->count);
	return r;
}

static int set_state(struct scan *scan, uint32_t block, enum state state)
{
	scan->states[block] = (uint8_t)state;
	return vec_push(&scan->stack, block);
}

static bool is_explained(const struct scan *scan, struct edge edge)
{
	return interior_pointers_explain(scan->config, &scan->blocks[edge.block], edge.offset);
}

/* Whether an edge is a pointer to its block at all: memory is read only in doubtful cases. */
static bool counts(const struct scan *scan, struct edge edge)
{
	return !is_behind(scan, edge) || is_explained(scan, edge);
}

/*
 * Follows a pointer from memory that is definitely or possibly reachable. What a possibly reachable
 * block points to is at most possibly reachable.
 */
static int mark(struct scan *scan, struct edge edge, bool is_sure)
{
	enum state state = scan->states[edge.block];

	if (state == REACHABLE || !counts(scan, edge))
		return 0;
	if (is_sure && (edge.offset == 0 || is_explained(scan, edge)))
		return set_state(scan, edge.block, REACHABLE);
	return state == UNREACHED ? set_state(scan, edge.block, POSSIBLE) : 0;
}

static int mark_from_roots(struct scan *scan)
{
	int r = 0;

	for (size_t i = 0; i < scan->roots.count && r == 0; i++) {
		r = mark(scan, scan->roots.items[i], true);
		while (r == 0 && scan->stack.count > 0) {
			uint32_t block = scan->stack.items[--scan->stack.count];
			bool is_sure = scan->states[block] == REACHABLE;

			for (size_t k = scan->first_edge[block];
			     k < scan->first_edge[block + 1] && r == 0; k++)
				r = mark(scan, scan->edges.items[k], is_sure);
		}
	}
	return r;
}

/* Everything that an unreached block points to, by any pointer, is lost with it. */
static int follow_leader(struct scan *scan, uint32_t leader)
{
	int r = vec_push(&scan->stack, leader);

	while (r == 0 && scan->stack.count > 0) {
		uint32_t block = scan->stack.items[--scan->stack.count];

		for (size_t k = scan->first_edge[block]; k < scan->first_edge[block + 1] && r == 0;
		     k++) {
			struct edge edge = scan->edges.items[k];
			uint32_t to = edge.block;

			if (to == leader && block != leader)
				scan->evidence[leader] |= LEAK_IN_CYCLE;
			if (scan->states[to] != UNREACHED || to == leader || !counts(scan, edge))
				continue;
			scan->leaders[to] = leader;
			r = set_state(scan, to, INDIRECT);
		}
	}
	return r;
}

static int find_leaders(struct scan *scan)
{
	int r = 0;

	for (uint32_t i = 0; i < scan->count; i++)
		scan->leaders[i] = i;
	for (uint32_t i = 0; i < scan->count && r == 0; i++)
		if (scan->states[i] == UNREACHED)
			r = follow_leader(scan, i);
	return r;
}

/* A leader may have got a leader itself later. */
static uint32_t last_leader(struct scan *scan, uint32_t block)
{
	uint32_t last = block;

	while (scan->leaders[last] != last)
		last = scan->leaders[last];
	while (scan->leaders[block] != last) {
		uint32_t next = scan->leaders[block];

		scan->leaders[block] = last;
		block = next;
	}
	return last;
}

static enum leak_class class_of(const struct scan *scan, uint32_t block)
{
	const uint16_t shades = LEAK_FROM_FREED | LEAK_FROM_DEAD_STACK | LEAK_FROM_PADDING;

	switch ((enum state)scan->states[block]) {
	case INDIRECT:
		return LEAK_INDIRECT;
	case POSSIBLE:
		return LEAK_POSSIBLE;
	case REACHABLE:
		return LEAK_REACHABLE;
	case UNREACHED:
	default:
		return scan->evidence[block] & shades ? LEAK_PROBABLE : LEAK_DEFINITE;
	}
}

static void answer_all(struct scan *scan)
{
	for (uint32_t i = 0; i < scan->count; i++) {
		struct reach_answer *leader = &scan->answers[last_leader(scan, i)];

		scan->answers[i].leak_class = (uint8_t)class_of(scan, i);
		scan->answers[i].evidence = scan->evidence[i];
		if (scan->states[i] != INDIRECT)
			continue;
		leader->led_blocks++;
		leader->led_bytes += scan->blocks[i].size_bytes;
	}
}

int reach_run(const struct reach_config *config, const struct reach_block *blocks, size_t count,
	      struct reach_result *ret)
{
	struct scan scan = {.config = config, .blocks = blocks, .count = count};
	int r = init(&scan);

	if (r == 0)
		r = look_at_all(&scan);
	if (r == 0)
		r = mark_from_roots(&scan);
	if (r == 0)
		r = find_leaders(&scan);
	if (r == 0) {
		answer_all(&scan);
		*ret = (struct reach_result){scan.answers, scan.read_bytes, scan.unread_bytes};
		scan.answers = NULL;
	}
	fini(&scan);
	return r;
}
