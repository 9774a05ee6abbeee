/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/jit_names.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "symbol/address_sort.h"

#define MAX_NAMES (4u << 20)
#define NO_NAME UINT32_MAX

struct jit_names {
	const uint64_t *addresses;
	size_t count;
	VEC(struct jit_name) names; /* in the order in which they came */
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

	/* One that wraps around the end of the addresses is damage. */
	if (name->size == 0 || name->size - 1 > UINT64_MAX - name->start)
		return 0;
	if (first == names->count || names->addresses[first] - name->start >= name->size)
		return 0;
	if (names->names.count == MAX_NAMES)
		return -EFBIG;
	return vec_push(&names->names, *name);
}

/* The first address from i on that has no owner; paths to it are halved on the way. */
static size_t next_free(uint32_t *next, size_t i)
{
	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

/* Gives each address its last name. Each is given once, so the time is that of the names. */
static int find_owners(const struct jit_names *names, uint32_t **ret_owners)
{
	uint32_t *owners = malloc((names->count + 1) * sizeof(*owners));
	uint32_t *next = malloc((names->count + 1) * sizeof(*next));

	if (!owners || !next) {
		free(owners);
		free(next);
		return -ENOMEM;
	}
	for (size_t i = 0; i <= names->count; i++) {
		owners[i] = NO_NAME;
		next[i] = (uint32_t)i;
	}
	for (size_t n = names->names.count; n-- > 0;) {
		const struct jit_name *name = &names->names.items[n];
		size_t i = next_free(next, first_at(names, name->start));

		while (i < names->count && names->addresses[i] - name->start < name->size) {
			owners[i] = (uint32_t)n;
			next[i] = (uint32_t)i + 1;
			i = next_free(next, i);
		}
	}
	free(next);
	*ret_owners = owners;
	return 0;
}

int jit_names_visit(struct jit_names *names, int (*visit)(void *self, const struct jit_name *name),
		    void *self)
{
	uint32_t *owners;
	int r = find_owners(names, &owners);
	size_t end;

	if (r < 0)
		return r;
	for (size_t i = 0; r == 0 && i < names->count; i = end) {
		struct jit_name name;
		uint64_t last;

		for (end = i + 1; end < names->count && owners[end] == owners[i];)
			end++;
		if (owners[i] == NO_NAME)
			continue;
		name = names->names.items[owners[i]];
		last = name.start + (name.size - 1);
		if (end < names->count && last >= names->addresses[end])
			last = names->addresses[end] - 1;
		if (i > 0 && name.start <= names->addresses[i - 1])
			name.start = names->addresses[i - 1] + 1;
		name.size = last - name.start + 1;
		r = visit(self, &name);
	}
	free(owners);
	return r;
}
