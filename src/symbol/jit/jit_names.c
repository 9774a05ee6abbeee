/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/jit/jit_names.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "symbol/address_sort.h"
#include "symbol/jit/jitdump.h"

#define MAX_NAMES (4u << 20)
/* Successive names of an address; earlier ones are left out. */
#define MAX_OWNERS 16

struct jit_names {
	const uint64_t *addresses;
	size_t count;
	VEC(struct jit_name) names; /* in the order in which they were added */
};

struct jit_names *jit_names_new(const uint64_t *addresses, size_t count)
{
	struct jit_names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->addresses = addresses;
	names->count = count;
	return names;
}

void jit_names_free(struct jit_names *names)
{
	if (!names)
		return;
	vec_fini(&names->names);
	free(names);
}

/* The first address that is not below start. */
static size_t first_at(const struct jit_names *names, uint64_t start)
{
	return start == 0 ? 0 : address_upper_bound(names->addresses, names->count, start - 1);
}

int jit_names_add(struct jit_names *names, const struct jit_name *name)
{
	size_t first = first_at(names, name->start);

	/* A range that wraps around the end of the address space is damaged. */
	if (name->size == 0 || name->size - 1 > UINT64_MAX - name->start)
		return 0;
	if (first == names->count || names->addresses[first] - name->start >= name->size)
		return 0;
	if (names->names.count == MAX_NAMES)
		return -EFBIG;
	return vec_push(&names->names, *name);
}

/* The first address from i on without an owner; halves the paths to it on the way. */
static size_t next_free(uint32_t *next, size_t i)
{
	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

/* The names of each address, the last one first. */
struct owners {
	uint32_t *names; /* MAX_OWNERS for each address */
	uint8_t *counts;
};

static void owners_fini(struct owners *owners)
{
	free(owners->names);
	free(owners->counts);
}

/* Adds a name to those of an address. False if it takes no more. */
static bool add_owner(const struct jit_names *names, struct owners *owners, size_t i, uint32_t name)
{
	uint32_t *own = owners->names + i * MAX_OWNERS;
	uint64_t time_ns = names->names.items[name].time_ns;
	bool is_timed = time_ns > 0;

	/* Of several at one time, the last one counts. */
	if (is_timed && owners->counts[i] > 0 &&
	    names->names.items[own[owners->counts[i] - 1]].time_ns == time_ns)
		return true;
	/* A name without a time counts if there is no other. */
	if (is_timed || owners->counts[i] == 0)
		own[owners->counts[i]++] = name;
	return is_timed && owners->counts[i] < MAX_OWNERS;
}

/* An address is skipped as soon as it is full, so the time depends on the number of names only. */
static void fill_owners(const struct jit_names *names, struct owners *owners, uint32_t *next)
{
	for (size_t i = 0; i <= names->count; i++)
		next[i] = (uint32_t)i;
	for (size_t n = names->names.count; n-- > 0;) {
		const struct jit_name *name = &names->names.items[n];
		size_t i = next_free(next, first_at(names, name->start));

		while (i < names->count && names->addresses[i] - name->start < name->size) {
			if (!add_owner(names, owners, i, (uint32_t)n))
				next[i] = (uint32_t)i + 1;
			i = next_free(next, i + 1);
		}
	}
}

static int find_owners(const struct jit_names *names, struct owners *ret)
{
	uint32_t *next = malloc((names->count + 1) * sizeof(*next));
	struct owners owners = {
		.names = malloc((names->count + 1) * MAX_OWNERS * sizeof(*owners.names)),
		.counts = calloc(names->count + 1, sizeof(*owners.counts)),
	};

	if (!owners.names || !owners.counts || !next) {
		owners_fini(&owners);
		free(next);
		return -ENOMEM;
	}
	fill_owners(names, &owners, next);
	free(next);
	*ret = owners;
	return 0;
}

/* What is known about an address from its owner k. */
static struct jit_piece piece_of(const struct jit_names *names, const struct owners *owners,
				 size_t i, size_t k)
{
	const struct jit_name *name = &names->names.items[owners->names[i * MAX_OWNERS + k]];
	struct jit_piece piece = {.start = name->start,
				  .size = name->size,
				  .text = name->text,
				  .text_size = name->text_size,
				  .from_ns = owners->counts[i] > 1 ? name->time_ns : 0};

	if (name->lines)
		jitdump_find_line(name->lines, name->lines_size,
				  names->addresses[i] - name->start + name->lines_start, &piece);
	return piece;
}

/* Whether two addresses have the same names and lines. */
static bool is_same(const struct jit_names *names, const struct owners *owners, size_t i, size_t j)
{
	if (owners->counts[i] != owners->counts[j] ||
	    memcmp(owners->names + i * MAX_OWNERS, owners->names + j * MAX_OWNERS,
		   owners->counts[i] * sizeof(*owners->names)) != 0)
		return false;
	for (size_t k = 0; k < owners->counts[i]; k++) {
		struct jit_piece a = piece_of(names, owners, i, k);
		struct jit_piece b = piece_of(names, owners, j, k);

		if (a.line != b.line || a.file != b.file)
			return false;
	}
	return true;
}

/* Cuts a piece so that it excludes the addresses before i and from end on. */
static void cut(const struct jit_names *names, size_t i, size_t end, bool is_shared,
		struct jit_piece *piece)
{
	uint64_t last = piece->start + (piece->size - 1);

	if (is_shared) { /* the rest has other owners at other times, or other lines */
		piece->start = names->addresses[i];
		last = names->addresses[end - 1];
	}
	if (end < names->count && last >= names->addresses[end])
		last = names->addresses[end] - 1;
	if (i > 0 && piece->start <= names->addresses[i - 1])
		piece->start = names->addresses[i - 1] + 1;
	piece->size = last - piece->start + 1;
}

int jit_names_visit(struct jit_names *names,
		    int (*visit)(void *self, const struct jit_piece *piece), void *self)
{
	struct owners owners;
	int r = find_owners(names, &owners);
	size_t end;

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < names->count; i = end) {
		for (end = i + 1; end < names->count && is_same(names, &owners, i, end);)
			end++;
		for (size_t k = owners.counts[i]; k-- > 0 && r == 0;) {
			struct jit_piece piece = piece_of(names, &owners, i, k);

			cut(names, i, end, owners.counts[i] > 1 || piece.line > 0, &piece);
			r = visit(self, &piece);
		}
	}
	owners_fini(&owners);
	return r;
}
