/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/hash_seed.h"

int profile_new(const struct value_type *types, uint32_t count, struct profile **ret)
{
	struct profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return -ENOMEM;
	if (strings_init(&profile->strings) < 0 || stack_tree_init(&profile->stacks) < 0 ||
	    label_sets_init(&profile->labels) < 0) {
		profile_free(profile);
		return -ENOMEM;
	}
	profile->value_count = count < PROFILE_MAX_VALUES ? count : PROFILE_MAX_VALUES;
	memcpy(profile->value_types, types, profile->value_count * sizeof(*types));
	profile->title = "";
	profile->time.heap_value = ID_NONE;
	*ret = profile;
	return 0;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	strings_fini(&profile->strings);
	stack_tree_fini(&profile->stacks);
	label_sets_fini(&profile->labels);
	vec_fini(&profile->functions);
	vec_fini(&profile->lines);
	vec_fini(&profile->locations);
	vec_fini(&profile->threads);
	vec_fini(&profile->modules);
	vec_fini(&profile->entries);
	vec_fini(&profile->values);
	vec_fini(&profile->states);
	vec_fini(&profile->state_values);
	vec_fini(&profile->moments);
	vec_fini(&profile->time.samples);
	vec_fini(&profile->time.longest);
	for (size_t i = 0; i < profile->time.tracks.count; i++)
		level_track_fini(&profile->time.tracks.items[i]);
	vec_fini(&profile->time.tracks);
	vec_fini(&profile->time.blocks);
	vec_fini(&profile->gaps);
	vec_fini(&profile->facts);
	vec_fini(&profile->gauges);
	profile_sources_fini(&profile->sources);
	id_index_fini(&profile->function_index);
	id_index_fini(&profile->location_index);
	id_index_fini(&profile->thread_index);
	id_index_fini(&profile->entry_index);
	free(profile);
}

static uint32_t find_function(const struct profile *profile, const struct profile_function *key,
			      uint64_t hash)
{
	struct id_probe probe = id_index_probe(&profile->function_index, hash);
	uint32_t id;

	while ((id = id_probe_next(&profile->function_index, &probe)) != ID_NONE)
		if (memcmp(&profile->functions.items[id], key, sizeof(*key)) == 0)
			return id;
	return ID_NONE;
}

static uint64_t hash_function(const struct profile_function *key)
{
	return XXH3_64bits_withSeed(key, sizeof(*key), hash_seed.first);
}

uint32_t profile_find_function(const struct profile *profile, const struct profile_function *key)
{
	return find_function(profile, key, hash_function(key));
}

void profile_prefetch_function(const struct profile *profile, const struct profile_function *key)
{
	id_index_prefetch(&profile->function_index, hash_function(key));
}

uint32_t profile_function_of(struct profile *profile, const struct profile_function *key)
{
	uint64_t hash = hash_function(key);
	uint32_t id = find_function(profile, key, hash);

	if (id != ID_NONE)
		return id;
	id = (uint32_t)profile->functions.count;
	if (vec_reserve(&profile->functions, profile->functions.count + 1) < 0 ||
	    id_index_add(&profile->function_index, hash, id) < 0)
		return ID_NONE;
	profile->functions.items[profile->functions.count++] = *key;
	return id;
}

uint32_t profile_function(struct profile *profile, const char *name, const char *file,
			  const char *module, enum function_origin origin)
{
	struct profile_function key = {
		.name = strings_add(&profile->strings, name),
		.file = strings_add(&profile->strings, file),
		.module = strings_add(&profile->strings, module),
		.origin = origin,
	};

	if (key.name == ID_NONE || key.file == ID_NONE || key.module == ID_NONE)
		return ID_NONE;
	return profile_function_of(profile, &key);
}

static bool same_location(const struct profile *profile, uint32_t id,
			  const struct profile_location *key, const struct profile_line *lines)
{
	const struct profile_location *known = &profile->locations.items[id];

	return known->module == key->module && known->vaddr == key->vaddr &&
	       known->line_count == key->line_count &&
	       (key->line_count == 0 || memcmp(profile->lines.items + known->first_line, lines,
					       key->line_count * sizeof(*lines)) == 0);
}

uint32_t profile_location(struct profile *profile, const char *module, uint64_t vaddr,
			  const struct profile_line *lines, uint32_t line_count)
{
	struct profile_location key = {
		.module = strings_add(&profile->strings, module),
		.vaddr = vaddr,
		.line_count = line_count,
	};

	return key.module == ID_NONE ? ID_NONE : profile_location_of(profile, key, lines);
}

/* key has all but first_line. */
uint32_t profile_location_of(struct profile *profile, struct profile_location key,
			     const struct profile_line *lines)
{
	uint64_t hash = hash_pair(
		XXH3_64bits_withSeed(lines, key.line_count * sizeof(*lines), hash_seed.first) ^
			key.module,
		key.vaddr);
	struct id_probe probe = id_index_probe(&profile->location_index, hash);
	uint32_t id;

	while ((id = id_probe_next(&profile->location_index, &probe)) != ID_NONE)
		if (same_location(profile, id, &key, lines))
			return id;
	id = (uint32_t)profile->locations.count;
	key.first_line = (uint32_t)profile->lines.count;
	if (vec_reserve(&profile->lines, profile->lines.count + key.line_count) < 0 ||
	    vec_reserve(&profile->locations, profile->locations.count + 1) < 0 ||
	    id_index_add(&profile->location_index, hash, id) < 0)
		return ID_NONE;
	profile->locations.items[profile->locations.count++] = key;
	if (key.line_count > 0)
		memcpy(profile->lines.items + profile->lines.count, lines,
		       key.line_count * sizeof(*lines));
	profile->lines.count += key.line_count;
	return id;
}

uint32_t profile_thread(struct profile *profile, uint32_t pid, uint32_t tid, const char *comm,
			const char *process_comm)
{
	struct profile_thread key = {
		.pid = pid,
		.tid = tid,
		.comm = strings_add(&profile->strings, comm),
		.process_comm = strings_add(&profile->strings, process_comm),
	};
	uint64_t hash = XXH3_64bits_withSeed(&key, sizeof(key), hash_seed.first);
	struct id_probe probe = id_index_probe(&profile->thread_index, hash);
	uint32_t id;

	if (key.comm == ID_NONE || key.process_comm == ID_NONE)
		return ID_NONE;
	while ((id = id_probe_next(&profile->thread_index, &probe)) != ID_NONE)
		if (memcmp(&profile->threads.items[id], &key, sizeof(key)) == 0)
			return id;
	id = (uint32_t)profile->threads.count;
	if (vec_reserve(&profile->threads, profile->threads.count + 1) < 0 ||
	    id_index_add(&profile->thread_index, hash, id) < 0)
		return ID_NONE;
	profile->threads.items[profile->threads.count++] = key;
	return id;
}

const struct profile_module *profile_find_module(const struct profile *profile, uint32_t path)
{
	size_t i;

	/* There are hundreds at most. */
	for (i = 0; i < profile->modules.count; i++)
		if (profile->modules.items[i].path == path)
			return &profile->modules.items[i];
	return NULL;
}

int profile_module(struct profile *profile, const char *path, const struct build_id *build_id)
{
	uint32_t id = strings_add(&profile->strings, path);
	size_t i;

	if (id == ID_NONE)
		return -ENOMEM;
	for (i = 0; i < profile->modules.count; i++) {
		struct profile_module *known = &profile->modules.items[i];

		if (known->path != id)
			continue;
		if (!build_id_equal(&known->build_id, build_id))
			known->build_id = (struct build_id){0};
		return 0;
	}
	return vec_push(&profile->modules,
			(struct profile_module){.path = id, .build_id = *build_id});
}

/* The entry, created with zero values when missing. */
static uint32_t entry_of(struct profile *profile, struct profile_entry key)
{
	uint64_t hash =
		hash_pair(hash_pair(key.stack, key.thread), (uint64_t)key.labels << 32 | key.state);
	struct id_probe probe = id_index_probe(&profile->entry_index, hash);
	uint32_t id;
	uint32_t i;

	while ((id = id_probe_next(&profile->entry_index, &probe)) != ID_NONE) {
		struct profile_entry entry = profile->entries.items[id];

		if (entry.stack == key.stack && entry.thread == key.thread &&
		    entry.state == key.state && entry.labels == key.labels)
			return id;
	}
	id = (uint32_t)profile->entries.count;
	if (vec_reserve(&profile->values, profile->values.count + profile->value_count) < 0 ||
	    vec_reserve(&profile->entries, profile->entries.count + 1) < 0 ||
	    id_index_add(&profile->entry_index, hash, id) < 0)
		return ID_NONE;
	profile->entries.items[profile->entries.count++] = key;
	for (i = 0; i < profile->value_count; i++)
		profile->values.items[profile->values.count++] = 0;
	return id;
}

static void add_values(int64_t *sums, const int64_t *values, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (__builtin_add_overflow(sums[i], values[i], &sums[i]))
			sums[i] = values[i] < 0 ? INT64_MIN : INT64_MAX;
}

int profile_add_entry(struct profile *profile, struct profile_entry key, const int64_t *values)
{
	uint32_t id = entry_of(profile, key);

	if (id == ID_NONE)
		return -ENOMEM;
	add_values(profile->values.items + (size_t)id * profile->value_count, values,
		   profile->value_count);
	return 0;
}

int profile_add(struct profile *profile, uint32_t stack, uint32_t thread, const int64_t *values)
{
	return profile_add_entry(profile, (struct profile_entry){.stack = stack, .thread = thread},
				 values);
}

bool profile_state_is_away(const char *state)
{
	return *state && strcmp(state, "running") != 0 && strcmp(state, "on CPU") != 0;
}

int profile_note_longest(struct profile *profile, uint32_t labels, int64_t value)
{
	while (profile->time.longest.count <= labels)
		if (vec_push(&profile->time.longest, 0) < 0)
			return -ENOMEM;
	if (value > profile->time.longest.items[labels])
		profile->time.longest.items[labels] = value;
	return 0;
}

void profile_clear_entries(struct profile *profile)
{
	profile->entries.count = profile->values.count = profile->time.longest.count = 0;
	profile->states.count = profile->state_values.count = 0;
	profile->moments.count = profile->time.blocks.count = 0;
	profile->time.samples.count = 0;
	profile->quality = (struct profile_quality){0};
	id_index_clear(&profile->entry_index);
}

int profile_add_state(struct profile *profile, const char *name, const int64_t *values)
{
	uint32_t count = profile->value_count;
	uint32_t id = strings_add(&profile->strings, name);
	size_t at = 0;
	uint32_t i;

	if (id == ID_NONE)
		return -ENOMEM;
	/* There are only a few. */
	while (at < profile->states.count && profile->states.items[at].name != id)
		at++;
	if (at == profile->states.count) {
		if (vec_reserve(&profile->state_values, (at + 1) * count) < 0 ||
		    vec_push(&profile->states, (struct profile_state){.name = id}) < 0)
			return -ENOMEM;
		for (i = 0; i < count; i++)
			profile->state_values.items[profile->state_values.count++] = 0;
	}
	add_values(profile->state_values.items + at * count, values, count);
	return 0;
}

int profile_add_fact(struct profile *profile, const char *key, const char *value)
{
	struct profile_fact fact = {.key = strings_add(&profile->strings, key),
				    .value = strings_add(&profile->strings, value)};

	if (fact.key == ID_NONE || fact.value == ID_NONE)
		return -ENOMEM;
	return vec_push(&profile->facts, fact);
}

uint64_t profile_recorded_ns(const struct profile *profile)
{
	return profile->recorded_ns > 0 ? profile->recorded_ns : profile->duration_ns;
}
