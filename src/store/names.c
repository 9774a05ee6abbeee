/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/scope.h"
#include "base/text.h"
#include "model/entity.h"
#include "store/store.h"

int store_names_init(struct names *names)
{
	static const struct value_type none = {"", ""};
	int r;

	*names = (struct names){0};
	r = profile_new(&none, 1, &names->profile);
	/* The empty stack is never new. */
	if (r == 0 && vec_push(&names->is_used, true) < 0)
		r = -ENOMEM;
	names->saved_stacks = 1;
	return r;
}

void store_names_fini(struct names *names)
{
	profile_free(names->profile);
	vec_fini(&names->locations);
	id_index_fini(&names->location_index);
	vec_fini(&names->is_used);
	vec_fini(&names->used);
	bytes_fini(&names->text);
	*names = (struct names){0};
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text > 0x7e)
			return false;
	return true;
}

const char *names_clean(struct bytes *scratch, const char *text)
{
	if (is_plain(text))
		return text;
	bytes_clear(scratch);
	text_put_plain(scratch, text);
	bytes_put_u8(scratch, 0);
	return scratch->failed ? "" : (const char *)scratch->data;
}

static uint32_t add_text(struct names *names, const char *text)
{
	return strings_add(&names->profile->strings, names_clean(&names->text, text));
}

static bool same_location(const struct names *names, uint32_t id, const struct names_location *key,
			  const struct profile_line *lines)
{
	const struct names_location *known = &names->locations.items[id];

	if (known->build_id != key->build_id)
		return false;
	if (names_is_address(key))
		return known->vaddr == key->vaddr;
	return known->module == key->module && known->line_count == key->line_count &&
	       (key->line_count == 0 || memcmp(names->profile->lines.items + known->first_line,
					       lines, key->line_count * sizeof(*lines)) == 0);
}

static uint64_t hash_location(const struct names_location *key, const struct profile_line *lines)
{
	if (names_is_address(key))
		return hash_pair(key->build_id, key->vaddr);
	return hash_pair(
		XXH3_64bits_withSeed(lines, key->line_count * sizeof(*lines), hash_seed.first),
		key->module);
}

static uint32_t find_hashed(const struct names *names, const struct names_location *key,
			    const struct profile_line *lines, uint64_t hash)
{
	struct id_probe probe = id_index_probe(&names->location_index, hash);
	uint32_t id;

	while ((id = id_probe_next(&names->location_index, &probe)) != ID_NONE)
		if (same_location(names, id, key, lines))
			return id;
	return ID_NONE;
}

uint32_t names_find_location(const struct names *names, const struct names_location *key,
			     const struct profile_line *lines)
{
	return find_hashed(names, key, lines, hash_location(key, lines));
}

uint32_t names_location(struct names *names, struct names_location key,
			const struct profile_line *lines)
{
	struct profile *profile = names->profile;
	uint64_t hash = hash_location(&key, lines);
	uint32_t id = find_hashed(names, &key, lines, hash);

	if (id != ID_NONE)
		return id;
	id = (uint32_t)names->locations.count;
	key.first_line = (uint32_t)profile->lines.count;
	if (vec_reserve(&profile->lines, profile->lines.count + key.line_count) < 0 ||
	    vec_reserve(&names->locations, names->locations.count + 1) < 0 ||
	    id_index_add(&names->location_index, hash, id) < 0)
		return ID_NONE;
	if (key.line_count > 0)
		memcpy(profile->lines.items + profile->lines.count, lines,
		       key.line_count * sizeof(*lines));
	profile->lines.count += key.line_count;
	names->locations.items[names->locations.count++] = key;
	return id;
}

int names_index_location(struct names *names, uint32_t id)
{
	const struct names_location *location = &names->locations.items[id];

	return id_index_add(
		&names->location_index,
		hash_location(location, names->profile->lines.items + location->first_line), id);
}

/* The lines of an address, in place of those that it has. */
static int rename_location(struct names *names, struct names_location *location,
			   const struct store_naming *naming)
{
	struct profile *profile = names->profile;
	uint32_t first = (uint32_t)profile->lines.count;
	size_t i;

	for (i = 0; i < naming->name_count; i++) {
		uint32_t name = add_text(names, naming->names[i].function);
		uint32_t file = add_text(names, naming->names[i].file);
		struct profile_line line = {.line = naming->names[i].line};

		if (name == ID_NONE || file == ID_NONE)
			return -ENOMEM;
		line.function = profile_function(
			profile, profile_text(profile, name), profile_text(profile, file),
			profile_text(profile, location->module), ORIGIN_LIBRARY);
		if (line.function == ID_NONE || vec_push(&profile->lines, line) < 0)
			return -ENOMEM;
	}
	location->first_line = first;
	location->line_count = (uint32_t)naming->name_count;
	location->is_unnamed = false;
	return 0;
}

int names_rename(struct names *names, const struct store_naming *namings, size_t count,
		 names_ids *ret)
{
	size_t i;

	for (i = 0; i < count; i++) {
		uint32_t id = namings[i].id;

		if (id >= names->locations.count || !names->locations.items[id].is_unnamed ||
		    namings[i].name_count == 0 || namings[i].name_count > PLACES_MAX)
			continue;
		if (vec_push(ret, id) < 0 ||
		    rename_location(names, &names->locations.items[id], &namings[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

int names_stacks_with(const struct names *names, const names_ids *locations, names_ids *ret)
{
	const struct stack_tree *stacks = &names->profile->stacks;
	SCOPED(mem) bool *is_changed = calloc(names->locations.count + 1, 1);
	SCOPED(mem) bool *is_within = calloc(stacks->nodes.count, 1);
	size_t i;

	if (!is_changed || !is_within)
		return -ENOMEM;
	for (i = 0; i < locations->count; i++)
		is_changed[locations->items[i]] = true;
	for (i = 1; i < stacks->nodes.count; i++) {
		struct stack_node node = stacks->nodes.items[i];

		is_within[i] = is_within[node.parent] || is_changed[node.frame];
		if (is_within[i] && names->is_used.items[i] && vec_push(ret, (uint32_t)i) < 0)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t copy_function(struct names_copier *copier, uint32_t id)
{
	const struct profile *from = copier->names->profile;
	const struct profile_function *function = &from->functions.items[id];

	if (copier->functions.items[id] == ID_NONE)
		copier->functions.items[id] =
			profile_function(copier->profile, profile_text(from, function->name),
					 profile_text(from, function->file),
					 profile_text(from, function->module), function->origin);
	return copier->functions.items[id];
}

static uint32_t copy_location(struct names_copier *copier, uint32_t id)
{
	const struct names_location *location = &copier->names->locations.items[id];
	const struct profile *from = copier->names->profile;
	uint32_t i;

	if (copier->locations.items[id] != ID_NONE)
		return copier->locations.items[id];
	copier->lines.count = 0;
	for (i = 0; i < location->line_count; i++) {
		struct profile_line line = from->lines.items[location->first_line + i];

		line.function = copy_function(copier, line.function);
		line.file = line.file ? strings_add(&copier->profile->strings,
						    profile_text(from, line.file))
				      : 0;
		if (line.function == ID_NONE || line.file == ID_NONE ||
		    vec_push(&copier->lines, line) < 0)
			return ID_NONE;
	}
	copier->locations.items[id] =
		profile_location(copier->profile, profile_text(from, location->module),
				 location->vaddr, copier->lines.items, location->line_count);
	return copier->locations.items[id];
}

static int prepare(struct names_copier *copier)
{
	const struct names *names = copier->names;

	if (copier->stacks.count > 0)
		return 0;
	if (vec_fill_ones(&copier->functions, names->profile->functions.count) < 0 ||
	    vec_fill_ones(&copier->locations, names->locations.count) < 0 ||
	    vec_fill_ones(&copier->stacks, names->profile->stacks.nodes.count) < 0)
		return -ENOMEM;
	copier->stacks.items[0] = 0;
	return 0;
}

uint32_t names_copy_stack(struct names_copier *copier, uint32_t stack)
{
	const struct stack_node *nodes = copier->names->profile->stacks.nodes.items;
	uint32_t copy;

	if (prepare(copier) < 0)
		return ID_NONE;
	/* A row whose stack is not there: its dictionary was lost. */
	if (stack >= copier->stacks.count)
		return 0;
	copier->path.count = 0;
	for (; copier->stacks.items[stack] == ID_NONE; stack = nodes[stack].parent)
		if (vec_push(&copier->path, stack) < 0)
			return ID_NONE;
	copy = copier->stacks.items[stack];
	while (copier->path.count > 0) {
		uint32_t node = copier->path.items[--copier->path.count];
		uint32_t location = copy_location(copier, nodes[node].frame);

		if (location == ID_NONE)
			return ID_NONE;
		copy = stack_tree_child(&copier->profile->stacks, copy, location);
		if (copy == ID_NONE)
			return ID_NONE;
		copier->stacks.items[node] = copy;
	}
	return copy;
}

void names_copier_fini(struct names_copier *copier)
{
	vec_fini(&copier->functions);
	vec_fini(&copier->locations);
	vec_fini(&copier->stacks);
	vec_fini(&copier->path);
	vec_fini(&copier->lines);
}
