/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/path.h"
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
	/* The empty stack is never new, and never removed. */
	if (r == 0 &&
	    (vec_push(&names->used_days, UINT16_MAX) < 0 || vec_push(&names->free_bits, 0) < 0))
		r = -ENOMEM;
	return r;
}

void store_names_fini(struct names *names)
{
	profile_free(names->profile);
	vec_fini(&names->locations);
	id_index_fini(&names->location_index);
	vec_fini(&names->used_days);
	vec_fini(&names->free_bits);
	vec_fini(&names->new_stacks);
	vec_fini(&names->new_used);
	vec_fini(&names->new_days);
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

void names_prefetch_location(const struct names *names, const struct names_location *key,
			     const struct profile_line *lines)
{
	id_index_prefetch(&names->location_index, hash_location(key, lines));
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

#define BITS 64u

/* The smallest free id above a parent's; ID_NONE if there is none. */
static uint32_t find_free(const struct names *names, uint32_t parent)
{
	size_t word = (parent + 1) / BITS;
	uint64_t mask = UINT64_MAX << (parent + 1) % BITS;

	for (; word < names->free_bits.count; word++, mask = UINT64_MAX)
		if (names->free_bits.items[word] & mask)
			return (uint32_t)(word * BITS +
					  (size_t)__builtin_ctzll(names->free_bits.items[word] &
								  mask));
	return ID_NONE;
}

/* Makes room in what is indexed by stack. */
static int reserve_stack(struct names *names)
{
	size_t count = names->profile->stacks.nodes.count + 1;

	if (vec_reserve(&names->used_days, count) < 0 ||
	    vec_reserve(&names->free_bits, count / BITS + 1) < 0)
		return -ENOMEM;
	while (names->free_bits.count <= count / BITS)
		names->free_bits.items[names->free_bits.count++] = 0;
	return 0;
}

uint32_t names_stack(struct names *names, uint32_t parent, uint32_t location)
{
	struct stack_tree *stacks = &names->profile->stacks;
	uint32_t id = stack_tree_find(stacks, parent, location);
	uint32_t slot;

	if (id != ID_NONE)
		return id;
	if (reserve_stack(names) < 0 ||
	    vec_reserve(&names->new_stacks, names->new_stacks.count + 1) < 0)
		return ID_NONE;
	slot = find_free(names, parent);
	id = slot == ID_NONE ? stack_tree_child(stacks, parent, location)
			     : stack_tree_put(stacks, slot, parent, location);
	if (id == ID_NONE)
		return ID_NONE;
	names->free_bits.items[id / BITS] &= ~(1ull << id % BITS);
	if (id == names->used_days.count)
		names->used_days.items[names->used_days.count++] = 0;
	names->new_stacks.items[names->new_stacks.count++] = id;
	return id;
}

int names_use_stack(struct names *names, uint32_t stack, uint16_t day)
{
	uint16_t *known = &names->used_days.items[stack];

	if (*known >= day)
		return 0;
	if (vec_reserve(&names->new_used, names->new_used.count + 1) < 0 ||
	    vec_reserve(&names->new_days, names->new_days.count + 1) < 0)
		return -ENOMEM;
	names->new_days.items[names->new_days.count++] = stack;
	if (*known == 0) {
		names->new_used.items[names->new_used.count++] = stack;
		names->used_count++;
	}
	*known = day;
	return 0;
}

int names_skip_stack(struct names *names)
{
	uint32_t id;

	if (reserve_stack(names) < 0)
		return -ENOMEM;
	id = stack_tree_append(&names->profile->stacks, 0, ID_NONE);
	if (id == ID_NONE)
		return -ENOMEM;
	names->used_days.items[names->used_days.count++] = 0;
	names->free_bits.items[id / BITS] |= 1ull << id % BITS;
	return 0;
}

int64_t names_find_unused(const struct names *names, uint16_t oldest_day, size_t limit, bool **ret)
{
	const struct stack_tree *stacks = &names->profile->stacks;
	bool *is_gone = calloc(stacks->nodes.count, sizeof(*is_gone));
	bool *is_needed = calloc(stacks->nodes.count, sizeof(*is_needed));
	size_t count = 0;
	size_t i;

	/* Callees have larger ids, so they come first. */
	for (i = stacks->nodes.count; is_gone && is_needed && i-- > 1 && count < limit;) {
		struct stack_node node = stacks->nodes.items[i];

		if (node.frame == ID_NONE)
			continue;
		is_needed[i] |= names->used_days.items[i] >= oldest_day;
		is_needed[node.parent] |= is_needed[i];
		is_gone[i] = !is_needed[i];
		count += is_gone[i];
	}
	*ret = is_gone;
	i = is_gone && is_needed;
	free(is_needed);
	return i ? (int64_t)count : -ENOMEM;
}

void names_remove_stacks(struct names *names, const bool *is_gone)
{
	size_t i;

	stack_tree_remove(&names->profile->stacks, is_gone);
	for (i = 1; i < names->used_days.count; i++) {
		if (!is_gone[i])
			continue;
		names->used_count -= names->used_days.items[i] > 0;
		names->used_days.items[i] = 0;
		names->free_bits.items[i / BITS] |= 1ull << i % BITS;
	}
}

/* Whether a path is that of a shared library: "libx.so", "libx.so.1". */
static bool is_library(const char *path)
{
	const char *end = strstr(path_base_name(path), ".so");

	return end && (end[3] == '\0' || end[3] == '.' || end[3] == ' ');
}

enum function_origin names_origin(const char *module)
{
	return is_library(module) ? ORIGIN_LIBRARY : ORIGIN_PROGRAM;
}

/* The lines of an address, in place of those that it has. */
static int rename_location(struct names *names, struct names_location *location,
			   const struct store_naming *naming)
{
	struct profile *profile = names->profile;
	enum function_origin origin = names_origin(profile_text(profile, location->module));
	uint32_t first = (uint32_t)profile->lines.count;
	size_t i;

	for (i = 0; i < naming->name_count; i++) {
		uint32_t name = add_text(names, naming->names[i].function);
		uint32_t file = add_text(names, naming->names[i].file);
		struct profile_line line = {.line = naming->names[i].line};

		if (name == ID_NONE || file == ID_NONE)
			return -ENOMEM;
		line.function = profile_function(profile, profile_text(profile, name),
						 profile_text(profile, file),
						 profile_text(profile, location->module), origin);
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

		if (node.frame == ID_NONE)
			continue; /* it was removed */
		is_within[i] = is_within[node.parent] || is_changed[node.frame];
		if (is_within[i] && names->used_days.items[i] > 0 && vec_push(ret, (uint32_t)i) < 0)
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
	if (stack >= copier->stacks.count || (stack > 0 && nodes[stack].frame == ID_NONE))
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
