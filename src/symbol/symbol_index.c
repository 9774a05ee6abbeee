/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/symbol_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "symbol/address_sort.h"

/*
 * Symbols may contain each other. They are flattened into pieces that do not overlap, each with its
 * owner, so that one binary search finds it:
 *
 *	symbols   outer [0x10, 0x50)   inner [0x20, 0x30)   next [0x60, 0x70)
 *	pieces    0x10 outer   0x20 inner   0x30 outer   0x60 next
 *
 * A piece ends where the next one starts or where its owner ends.
 */

#define MAX_MADE_BYTES ((size_t)64 << 20)
/* Up to this number an insertion sort is used: calling a sort function costs more. */
#define FEW_ALIASES 8
#define AHEAD 12

/* Needed only while the index is built. */
struct build {
	const struct symbol_list *list;
	VEC(struct address_ref) order;
	VEC(struct indexed_symbol) kept;
	VEC(uint64_t) starts;
	VEC(uint32_t) owners;
	VEC(uint32_t) open; /* symbols that have not ended yet, innermost last */
};

static void scope_release_build(struct build *build)
{
	vec_fini(&build->order);
	vec_fini(&build->kept);
	vec_fini(&build->starts);
	vec_fini(&build->owners);
	vec_fini(&build->open);
}

void symbol_list_fini(struct symbol_list *list)
{
	bytes_fini(&list->names);
	vec_fini(&list->items);
}

int symbol_list_reserve_names(struct symbol_list *list, size_t size, uint8_t **ret_place,
			      uint32_t *ret_base)
{
	if (list->names.size == 0)
		bytes_put_u8(&list->names, 0);
	if (size >= UINT32_MAX - list->names.size)
		return -EFBIG;
	*ret_place = bytes_reserve(&list->names, size + 1);
	if (!*ret_place)
		return -ENOMEM;
	(*ret_place)[size] = 0;
	*ret_base = (uint32_t)list->names.size;
	list->names.size += size + 1;
	return 0;
}

uint32_t symbol_list_name(struct symbol_list *list, const char *name, const char *suffix)
{
	size_t size = strlen(name);
	size_t more = strlen(suffix);
	uintptr_t within = (uintptr_t)name - (uintptr_t)list->names.data;
	bool own = list->names.data && within < list->names.size;
	uint8_t *place;
	uint32_t base;

	if (size > MAX_MADE_BYTES || list->made_bytes + size > MAX_MADE_BYTES ||
	    symbol_list_reserve_names(list, size + more, &place, &base) < 0)
		return 0;
	list->made_bytes += size + more;
	/* A name in the list itself has moved with it. */
	memcpy(place, own ? (const char *)list->names.data + within : name, size);
	memcpy(place + size, suffix, more);
	return base;
}

int symbol_compare_names(const char *a, const char *b)
{
	size_t underscores_a, underscores_b;
	size_t length_a, length_b;

	if (strcmp(a, b) == 0)
		return 0;
	underscores_a = strspn(a, "_");
	underscores_b = strspn(b, "_");
	if (underscores_a != underscores_b)
		return underscores_a < underscores_b ? -1 : 1;
	length_a = strlen(a);
	length_b = strlen(b);
	if (length_a != length_b)
		return length_a < length_b ? -1 : 1;
	return strcmp(a, b);
}

struct sort_context {
	const struct symbol_candidate *candidates;
	const char *names;
};

/* Best first among candidates of one address. */
static int compare_aliases(const void *left, const void *right, void *argument)
{
	const struct sort_context *context = argument;
	const struct symbol_candidate *a =
		&context->candidates[((const struct address_ref *)left)->index];
	const struct symbol_candidate *b =
		&context->candidates[((const struct address_ref *)right)->index];
	int r;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->is_sized != b->is_sized)
		return a->is_sized ? -1 : 1;
	if (a->binding != b->binding)
		return a->binding < b->binding ? -1 : 1;
	if (a->is_repeated != b->is_repeated)
		return a->is_repeated ? 1 : -1;
	r = symbol_compare_names(context->names + a->name, context->names + b->name);
	if (r != 0)
		return r;
	return (a->size < b->size) - (a->size > b->size);
}

/* Sorts the candidates of one address, best first. Mostly there are two or three. */
static void sort_group(struct address_ref *refs, size_t count, struct sort_context *context)
{
	if (count > FEW_ALIASES) {
		qsort_r(refs, count, sizeof(*refs), compare_aliases, context);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		struct address_ref moved = refs[i];
		size_t at = i;

		for (; at > 0 && compare_aliases(&refs[at - 1], &moved, context) > 0; at--)
			refs[at] = refs[at - 1];
		refs[at] = moved;
	}
}

static int push_piece(struct build *build, uint64_t start, uint32_t owner)
{
	if (build->starts.count && build->starts.items[build->starts.count - 1] == start) {
		build->owners.items[build->owners.count - 1] = owner;
		return 0;
	}
	if (vec_push(&build->starts, start) < 0 || vec_push(&build->owners, owner) < 0)
		return -ENOMEM;
	return 0;
}

/* Closes the open symbols that end before address; the symbols around them continue. */
static int close_until(struct build *build, uint64_t address)
{
	while (build->open.count) {
		const struct indexed_symbol *top =
			&build->kept.items[build->open.items[build->open.count - 1]];
		uint64_t end = top->start + top->size;

		if (end > address)
			return 0;
		build->open.count--;
		while (build->open.count) {
			uint32_t outer = build->open.items[build->open.count - 1];

			if (build->kept.items[outer].start + build->kept.items[outer].size > end) {
				if (push_piece(build, end, outer) < 0)
					return -ENOMEM;
				break;
			}
			build->open.count--;
		}
	}
	return 0;
}

static int open_symbol(struct build *build, const struct symbol_candidate *candidate, uint64_t size)
{
	uint32_t index = (uint32_t)build->kept.count;

	if (vec_push(&build->kept,
		     (struct indexed_symbol){candidate->start, size, candidate->name}) < 0 ||
	    vec_push(&build->open, index) < 0)
		return -ENOMEM;
	return push_piece(build, candidate->start, index);
}

/* The symbol around the current address, which must exist. */
static const struct indexed_symbol *innermost(const struct build *build)
{
	return &build->kept.items[build->open.items[build->open.count - 1]];
}

/* Whether a symbol inside another one is only a label. */
static bool is_label(const struct build *build, const struct symbol_candidate *candidate)
{
	if (candidate->kind == KIND_START)
		return true;
	if (candidate->is_sized && candidate->kind != KIND_UNTYPED)
		return false;
	return innermost(build)->name != 0; /* any name is better than none */
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Where the sizeless symbol refs[0] ends: at the next symbol, and no later than the function around
 * it and the one that starts with it, for which .eh_frame is more reliable than a guessed size.
 */
static uint64_t bound_sizeless(const struct build *build, const struct address_ref *refs,
			       size_t count, uint64_t next)
{
	const struct symbol_candidate *candidates = build->list->items.items;
	const struct symbol_candidate *best = &candidates[refs[0].index];
	const struct symbol_candidate *last = &candidates[refs[count - 1].index];
	uint64_t size = last->kind == KIND_START ? last->size : best->size;

	size = smaller(size, next - best->start);
	if (build->open.count)
		size = smaller(size,
			       innermost(build)->start + innermost(build)->size - best->start);
	return size;
}

/*
 * Opens the symbols of one address, refs[0..count) best first. Those that end no later than a
 * better one are aliases and are dropped; the longest is opened first so that the best ends up
 * innermost.
 */
static int open_group(struct build *build, struct address_ref *refs, size_t count, uint64_t next)
{
	const struct symbol_candidate *candidates = build->list->items.items;
	const struct symbol_candidate *best = &candidates[refs[0].index];
	uint64_t reach = 0;
	size_t used = 0;

	if (build->open.count && is_label(build, best))
		return 0;
	if (!best->is_sized)
		return open_symbol(build, best, bound_sizeless(build, refs, count, next));
	for (size_t i = 0; i < count; i++) {
		if (!candidates[refs[i].index].is_sized || candidates[refs[i].index].size <= reach)
			continue;
		if (i > 0 && candidates[refs[i].index].kind == KIND_START)
			continue; /* the rest after the named one is padding */
		reach = candidates[refs[i].index].size;
		refs[used++] = refs[i];
	}
	while (used-- > 0) {
		const struct symbol_candidate *candidate = &candidates[refs[used].index];

		if (open_symbol(build, candidate, candidate->size) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int flatten(struct build *build)
{
	struct sort_context context = {build->list->items.items,
				       (const char *)build->list->names.data};
	struct address_ref *refs = build->order.items;
	size_t count = build->order.count;
	size_t n;

	for (size_t i = 0; i < count; i += n) {
		uint64_t next;

		for (n = 1; i + n < count && refs[i + n].address == refs[i].address;)
			n++;
		/* Tables list symbols in any order: the next ones are prefetched. */
		for (size_t k = i + AHEAD; k < i + AHEAD + n && k < count; k++)
			__builtin_prefetch(&context.candidates[refs[k].index]);
		next = i + n < count ? refs[i + n].address : UINT64_MAX;
		sort_group(refs + i, n, &context);
		if (close_until(build, refs[i].address) < 0 ||
		    open_group(build, refs + i, n, next) < 0)
			return -ENOMEM;
	}
	return close_until(build, UINT64_MAX);
}

/* Frees the spare capacity of a vector. */
static void *take_trimmed(void *items, size_t count, size_t item_bytes)
{
	void *trimmed = count ? realloc(items, count * item_bytes) : NULL;

	return trimmed ? trimmed : items;
}

/* Untouched memory costs nothing; growing in steps would. */
static int reserve(struct build *build, size_t count)
{
	if (vec_reserve(&build->order, count) < 0 || vec_reserve(&build->kept, count) < 0 ||
	    vec_reserve(&build->starts, count) < 0 || vec_reserve(&build->owners, count) < 0)
		return -ENOMEM;
	return 0;
}

int symbol_index_init(struct symbol_index *index, struct symbol_list *list)
{
	SCOPED(build) struct build build = {.list = list};
	size_t count = list->items.count;

	if (reserve(&build, count) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		build.order.items[i] =
			(struct address_ref){list->items.items[i].start, (uint32_t)i};
	build.order.count = count;
	if (address_sort(build.order.items, count) < 0 || flatten(&build) < 0)
		return -ENOMEM;
	index->symbol_count = (uint32_t)build.kept.count;
	index->piece_count = build.starts.count;
	index->symbols =
		take_trimmed(build.kept.items, index->symbol_count, sizeof(*index->symbols));
	build.kept.items = NULL;
	index->piece_starts =
		take_trimmed(build.starts.items, index->piece_count, sizeof(*index->piece_starts));
	build.starts.items = NULL;
	index->piece_owners =
		take_trimmed(build.owners.items, index->piece_count, sizeof(*index->piece_owners));
	build.owners.items = NULL;
	return 0;
}

void symbol_index_fini(struct symbol_index *index)
{
	free(index->symbols);
	free(index->piece_starts);
	free(index->piece_owners);
	*index = (struct symbol_index){0};
}

uint32_t symbol_index_find(const struct symbol_index *index, uint64_t vaddr)
{
	size_t i = address_upper_bound(index->piece_starts, index->piece_count, vaddr);
	const struct indexed_symbol *symbol;

	if (i == 0)
		return UINT32_MAX;
	symbol = &index->symbols[index->piece_owners[i - 1]];
	return vaddr - symbol->start < symbol->size ? index->piece_owners[i - 1] : UINT32_MAX;
}
