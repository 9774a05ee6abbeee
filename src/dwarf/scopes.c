/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/scopes.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/leb.h"
#include "base/scope.h"
#include "base/vec.h"
#include "dwarf/functions.h"
#include "dwarf/unit.h"

/* There is one for each type, so positions are distances from the start of the unit. */
struct scope {
	uint32_t start; /* of the entry */
	uint32_t body;  /* of its first child */
	uint32_t end;
	uint32_t first_child; /* those with children of their own; 0: not searched yet */
	uint32_t child_count;
};

struct scope_tree {
	VEC(struct scope) scopes; /* the root first; siblings are adjacent */
};

void scope_tree_free(struct scope_tree *tree)
{
	if (!tree)
		return;
	vec_fini(&tree->scopes);
	free(tree);
}

/* Reads an entry's code and skips the entry. NULL if damaged; *ret is NULL for a null entry. */
static const uint8_t *step(const struct unit *unit, const uint8_t *at, const uint8_t *end,
			   const struct abbrev **ret, const uint8_t **ret_attributes)
{
	uint64_t code = 0;

	*ret = NULL;
	at = leb_read(at, end, &code);
	*ret_attributes = at;
	if (!at || code == 0)
		return at;
	*ret = abbrev_find(unit->abbrevs, code);
	return *ret ? abbrev_skip(unit->abbrevs, *ret, at, end) : NULL;
}

/* The end of the children that begin at at, past their null entry; NULL if damaged. */
static const uint8_t *skip_children(const struct unit *unit, const uint8_t *at,
				    const struct entry_bytes *bytes)
{
	const uint8_t *end = bytes->end;
	const struct abbrev *abbrev;
	const uint8_t *attributes;

	for (size_t depth = 1; depth > 0 && at && at < end;) {
		const uint8_t *sibling = NULL;

		at = step(unit, at, end, &abbrev, &attributes);
		if (at && abbrev && abbrev->has_children)
			sibling = sibling_of(unit, abbrev, attributes, bytes);
		if (sibling)
			at = sibling;
		else if (abbrev && abbrev->has_children)
			depth++;
		else if (!abbrev)
			depth--;
	}
	return at;
}

/* Lists the children of a scope that have children. Damage ends the list. */
static int expand(struct unit *unit, size_t index)
{
	struct scope_tree *tree = unit->scopes;
	struct scope scope = tree->scopes.items[index];
	const uint8_t *start = unit_bytes(unit, unit->start + scope.body, scope.end - scope.body);
	const uint8_t *end = start ? start + (scope.end - scope.body) : NULL;
	const uint8_t *at = start, *attributes;
	struct entry_bytes bytes = {start, end, scope.body};
	const struct abbrev *abbrev;

	scope.first_child = (uint32_t)tree->scopes.count;
	while (at && at < end) {
		const uint8_t *entry = at, *body, *next;
		struct scope child = {0};

		body = at = step(unit, at, end, &abbrev, &attributes);
		if (!at || !abbrev)
			break;
		if (!abbrev->has_children)
			continue;
		next = sibling_of(unit, abbrev, attributes, &bytes);
		at = next ? next : skip_children(unit, at, &bytes);
		child.start = scope.body + (uint32_t)(entry - start);
		child.body = scope.body + (uint32_t)(body - start);
		child.end = at ? scope.body + (uint32_t)(at - start) : scope.end;
		if (vec_push(&tree->scopes, child) < 0)
			return -ENOMEM;
	}
	scope.child_count = (uint32_t)tree->scopes.count - scope.first_child;
	tree->scopes.items[index] = scope;
	return 0;
}

static bool make_root(struct unit *unit)
{
	struct scope root = {.start = (uint32_t)(unit->first - unit->start),
			     .end = (uint32_t)(unit->end - unit->start)};
	SCOPED(mem) struct die *die = NULL;

	if (unit->end - unit->start > UINT32_MAX)
		return false; /* no compiler emits this: names have no scopes then */

	if (unit->scopes)
		return true;
	die = malloc(sizeof(*die));
	if (!die || !die_read(unit, unit->first, die) || !die->abbrev->has_children)
		return false;
	root.body = (uint32_t)(die->next - unit->start);
	unit->scopes = calloc(1, sizeof(*unit->scopes));
	return unit->scopes && vec_push(&unit->scopes->scopes, root) == 0;
}

/* The child whose entries contain the distance; 0 if none does. */
static size_t find_child(const struct scope_tree *tree, const struct scope *scope,
			 uint64_t distance)
{
	size_t low = scope->first_child, high = low + scope->child_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tree->scopes.items[middle].end <= distance)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == scope->first_child + scope->child_count ||
	    distance < tree->scopes.items[low].body)
		return 0;
	return low;
}

size_t scopes_around(struct unit *unit, uint64_t offset, uint64_t chain[SCOPES_MAX])
{
	size_t count = 0, index = 0;

	if (!unit_open(unit) || !make_root(unit) || unit->scopes->scopes.count == 0 ||
	    offset - unit->start < unit->scopes->scopes.items[0].body)
		return 0;
	do {
		chain[count++] = unit->start + unit->scopes->scopes.items[index].start;
		if (unit->scopes->scopes.items[index].first_child == 0 && expand(unit, index) < 0)
			return count;
		index = find_child(unit->scopes, &unit->scopes->scopes.items[index],
				   offset - unit->start);
	} while (index > 0 && count < SCOPES_MAX);
	return count;
}
