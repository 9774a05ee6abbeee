/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/names_lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"

int names_lookup_init(struct names_lookup *lookup, const struct profile *profile,
		      const uint8_t *wanted)
{
	lookup->profile = profile;
	lookup->wanted = wanted;
	if (vec_fill_ones(&lookup->strings, profile->strings.entries.count) < 0 ||
	    vec_fill_ones(&lookup->functions, profile->functions.count) < 0 ||
	    vec_fill_ones(&lookup->locations, profile->locations.count) < 0 ||
	    vec_fill_ones(&lookup->stacks, profile->stacks.nodes.count) < 0)
		return -ENOMEM;
	lookup->stacks.items[0] = 0;
	return 0;
}

void names_lookup_fini(struct names_lookup *lookup)
{
	vec_fini(&lookup->strings);
	vec_fini(&lookup->functions);
	vec_fini(&lookup->locations);
	vec_fini(&lookup->stacks);
	vec_fini(&lookup->lines);
	bytes_fini(&lookup->text);
}

/* Finds names; adds those that are missing if it may. Otherwise ID_NONE is also an answer. */
struct finder {
	const struct names *names;
	struct names *to; /* the same, or NULL: nothing may be added */
	struct names_lookup *lookup;
};

static uint32_t find_text(struct finder *finder, const char *text)
{
	text = names_clean(&finder->lookup->text, text);
	return finder->to ? strings_add(&finder->to->profile->strings, text)
			  : strings_find(&finder->names->profile->strings, text);
}

static uint32_t find_string(struct finder *finder, uint32_t id)
{
	const struct strings *strings = &finder->lookup->profile->strings;
	uint32_t *known = &finder->lookup->strings.items[id];

	/* All that is known is clean, so what is found as it is needs no cleaning. */
	if (*known == ID_NONE)
		*known = strings_find_entry(&finder->names->profile->strings,
					    &strings->entries.items[id]);
	if (*known == ID_NONE)
		*known = find_text(finder, strings_get(strings, id));
	return *known;
}

/* Makes the key of a function. Returns false if one of its texts is missing. */
static bool make_function(struct finder *finder, uint32_t id, struct profile_function *ret)
{
	const struct profile_function *function = &finder->lookup->profile->functions.items[id];

	ret->name = find_string(finder, function->name);
	ret->file = find_string(finder, function->file);
	ret->module = find_string(finder, function->module);
	ret->origin = function->origin;
	return ret->name != ID_NONE && ret->file != ID_NONE && ret->module != ID_NONE;
}

static uint32_t find_function(struct finder *finder, uint32_t id)
{
	uint32_t *known = &finder->lookup->functions.items[id];
	struct profile_function key;

	if (*known != ID_NONE)
		return *known;
	if (!make_function(finder, id, &key))
		return ID_NONE;
	*known = finder->to ? profile_function_of(finder->to->profile, &key)
			    : profile_find_function(finder->names->profile, &key);
	return *known;
}

/* Collects the lines of a location. Returns 1 if one of them is missing, 0 or -ENOMEM. */
static int find_lines(struct finder *finder, const struct profile_location *location)
{
	struct names_lookup *lookup = finder->lookup;
	uint32_t i;

	lookup->lines.count = 0;
	for (i = 0; i < location->line_count; i++) {
		struct profile_line line = lookup->profile->lines.items[location->first_line + i];

		line.function = find_function(finder, line.function);
		line.file = line.file ? find_string(finder, line.file) : 0;
		if (line.function == ID_NONE || line.file == ID_NONE)
			return finder->to ? -ENOMEM : 1;
		if (vec_push(&lookup->lines, line) < 0)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t find_build_id(struct finder *finder, uint32_t module)
{
	const struct profile_module *known = profile_find_module(finder->lookup->profile, module);
	char hex[2 * BUILD_ID_MAX + 1] = "";

	if (known)
		build_id_format(&known->build_id, hex);
	return find_text(finder, hex);
}

static int find_place(struct finder *finder, uint32_t id, uint32_t *ret)
{
	const struct profile *from = finder->lookup->profile;
	const struct profile_location *location = &from->locations.items[id];
	struct names_location key = {.line_count = location->line_count};
	const struct profile_line *lines;
	uint32_t *known = &finder->lookup->locations.items[id];
	int r;

	*ret = *known;
	if (*known != ID_NONE)
		return 0;
	r = find_lines(finder, location);
	if (r != 0)
		return r < 0 ? r : 0;
	key.module = find_string(finder, location->module);
	if (location->line_count == 1 &&
	    from->functions.items[from->lines.items[location->first_line].function].origin ==
		    ORIGIN_UNKNOWN)
		key.build_id = find_build_id(finder, location->module);
	if (key.module == ID_NONE || key.build_id == ID_NONE)
		return finder->to ? -ENOMEM : 0;
	if (names_is_address(&key)) {
		key.is_unnamed = true;
		key.vaddr = location->vaddr;
	}
	lines = finder->lookup->lines.items;
	*known = finder->to ? names_location(finder->to, key, lines)
			    : names_find_location(finder->names, &key, lines);
	*ret = *known;
	return finder->to && *known == ID_NONE ? -ENOMEM : 0;
}

/* The stack of a node whose caller is known. */
static int find_stack(struct finder *finder, uint32_t id)
{
	struct names_lookup *lookup = finder->lookup;
	struct stack_node node = lookup->profile->stacks.nodes.items[id];
	uint32_t parent = lookup->stacks.items[node.parent];
	uint32_t location;
	int r = find_place(finder, node.frame, &location);

	if (r < 0 || location == ID_NONE || parent == ID_NONE)
		return r;
	lookup->stacks.items[id] =
		finder->to ? names_stack(finder->to, parent, location)
			   : stack_tree_find(&finder->names->profile->stacks, parent, location);
	return finder->to && lookup->stacks.items[id] == ID_NONE ? -ENOMEM : 0;
}

/* Which stacks of the profile are needed: what is wanted and its callers, which have smaller ids.
 */
static uint8_t *needed_stacks(const struct names_lookup *lookup)
{
	const struct stack_tree *stacks = &lookup->profile->stacks;
	uint8_t *needed = malloc(stacks->nodes.count);
	size_t i;

	if (!needed)
		return NULL;
	memcpy(needed, lookup->wanted, stacks->nodes.count);
	for (i = stacks->nodes.count; i-- > 1;)
		needed[stacks->nodes.items[i].parent] |= needed[i];
	return needed;
}

static int find_stacks(struct finder *finder)
{
	struct names_lookup *lookup = finder->lookup;
	SCOPED(mem) uint8_t *needed = needed_stacks(lookup);
	size_t i;
	int r = needed ? 0 : -ENOMEM;

	for (i = 1; r == 0 && i < lookup->stacks.count; i++)
		if (needed[i] && lookup->stacks.items[i] == ID_NONE)
			r = find_stack(finder, (uint32_t)i);
	return r;
}

/*
 * What the store knows is far larger than the caches, and most of a search is waiting for memory.
 * So texts, functions and locations are searched in turn, and in blocks: first all memory of a
 * block is asked for, then it is read.
 */
#define BLOCK 256u

static size_t block_end(size_t begin, size_t count)
{
	return count - begin < BLOCK ? count : begin + BLOCK;
}

static void find_strings(struct finder *finder)
{
	const struct strings *from = &finder->lookup->profile->strings;
	const struct strings *known = &finder->names->profile->strings;
	size_t count = from->entries.count;
	size_t begin;
	size_t i;

	for (begin = 0; begin < count; begin = block_end(begin, count)) {
		for (i = begin; i < block_end(begin, count); i++)
			id_index_prefetch(&known->index, from->entries.items[i].hash);
		for (i = begin; i < block_end(begin, count); i++)
			finder->lookup->strings.items[i] =
				strings_find_entry(known, &from->entries.items[i]);
	}
}

static void find_functions(struct finder *finder)
{
	size_t count = finder->lookup->profile->functions.count;
	size_t begin;
	size_t i;

	for (begin = 0; begin < count; begin = block_end(begin, count)) {
		struct profile_function key;

		for (i = begin; i < block_end(begin, count); i++)
			if (make_function(finder, (uint32_t)i, &key))
				profile_prefetch_function(finder->names->profile, &key);
		for (i = begin; i < block_end(begin, count); i++)
			(void)find_function(finder, (uint32_t)i); /* it is looked for again */
	}
}

/* Only of those with a name, which are nearly all. */
static void prefetch_location(struct finder *finder, const struct profile_location *location)
{
	struct names_location key = {.line_count = location->line_count};

	if (find_lines(finder, location) != 0)
		return;
	key.module = find_string(finder, location->module);
	names_prefetch_location(finder->names, &key, finder->lookup->lines.items);
}

static int find_locations(struct finder *finder)
{
	const struct profile *profile = finder->lookup->profile;
	size_t count = profile->locations.count;
	size_t begin;
	size_t i;
	int r = 0;

	for (begin = 0; begin < count; begin = block_end(begin, count)) {
		uint32_t id;

		for (i = begin; i < block_end(begin, count); i++)
			prefetch_location(finder, &profile->locations.items[i]);
		for (i = begin; i < block_end(begin, count) && r == 0; i++)
			r = find_place(finder, (uint32_t)i, &id);
	}
	return r;
}

/* Of files with the same path the store keeps that path: they differ in their build ids. */
static void find_real_paths(struct finder *finder)
{
	const struct profile *profile = finder->lookup->profile;

	for (size_t i = 0; i < profile->modules.count; i++) {
		const struct profile_module *module = &profile->modules.items[i];

		if (module->real_path != 0)
			finder->lookup->strings.items[module->path] =
				find_string(finder, module->real_path);
	}
}

int names_find(const struct names *names, struct names_lookup *lookup)
{
	struct finder finder = {.names = names, .lookup = lookup};
	int r;

	find_strings(&finder);
	find_real_paths(&finder);
	find_functions(&finder);
	r = find_locations(&finder);
	return r < 0 ? r : find_stacks(&finder);
}

bool names_has_all(const struct names *names, const struct names_lookup *lookup, uint16_t day)
{
	size_t i;

	for (i = 1; i < lookup->stacks.count; i++) {
		uint32_t id = lookup->stacks.items[i];

		if (lookup->wanted[i] &&
		    (id >= names->used_days.count || names->used_days.items[id] < day))
			return false;
	}
	return true;
}

int names_add(struct names *names, struct names_lookup *lookup, uint16_t day)
{
	struct finder finder = {.names = names, .to = names, .lookup = lookup};
	size_t i;
	int r;

	find_real_paths(&finder);
	r = find_stacks(&finder);
	for (i = 1; r == 0 && i < lookup->stacks.count; i++)
		if (lookup->wanted[i])
			r = names_use_stack(names, lookup->stacks.items[i], day);
	return r;
}
