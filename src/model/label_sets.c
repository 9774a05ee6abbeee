/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/label_sets.h"

#include <string.h>

#include <xxhash.h>

#include "base/hash_seed.h"
#include "model/entity.h"
#include "model/strings.h"

int label_sets_init(struct label_sets *sets)
{
	*sets = (struct label_sets){0};
	return vec_push(&sets->sets, (struct label_set){0});
}

void label_sets_fini(struct label_sets *sets)
{
	vec_fini(&sets->pairs);
	vec_fini(&sets->sets);
	id_index_fini(&sets->index);
}

/* Inserts one label among n sorted ones, or replaces the one with its key. Returns the new n. */
static size_t insert(const struct strings *strings, struct label_pair *pairs, size_t n,
		     struct label_pair pair)
{
	const char *key = strings_get(strings, pair.key);
	size_t at = n;

	while (at > 0 && strcmp(strings_get(strings, pairs[at - 1].key), key) >= 0)
		at--;
	if (at < n && pairs[at].key == pair.key) {
		pairs[at] = pair;
		return n;
	}
	memmove(pairs + at + 1, pairs + at, (n - at) * sizeof(*pairs));
	pairs[at] = pair;
	return n + 1;
}

static uint32_t append(struct label_sets *sets, const struct label_pair *pairs, size_t n,
		       uint64_t hash)
{
	struct label_set set = {.first = (uint32_t)sets->pairs.count, .count = (uint32_t)n};
	uint32_t id = (uint32_t)sets->sets.count;

	if (vec_reserve(&sets->pairs, set.first + n) < 0 ||
	    vec_reserve(&sets->sets, (size_t)id + 1) < 0 ||
	    id_index_add(&sets->index, hash, id) < 0)
		return ID_NONE;
	memcpy(sets->pairs.items + set.first, pairs, n * sizeof(*pairs));
	sets->pairs.count += n;
	sets->sets.items[sets->sets.count++] = set;
	return id;
}

uint32_t label_sets_add(struct label_sets *sets, struct strings *strings,
			const struct label *labels, size_t n)
{
	struct label_pair pairs[LABELS_MAX];
	struct id_probe probe;
	size_t count = 0;
	uint64_t hash;
	uint32_t id;
	size_t i;

	if (n == 0)
		return 0;
	if (n > LABELS_MAX)
		return ID_NONE;
	for (i = 0; i < n; i++) {
		struct label_pair pair;

		pair.key = strings_add(strings, labels[i].key);
		pair.value = strings_add(strings, labels[i].value);
		if (pair.key == ID_NONE || pair.value == ID_NONE)
			return ID_NONE;
		count = insert(strings, pairs, count, pair);
	}
	hash = XXH3_64bits_withSeed(pairs, count * sizeof(*pairs), hash_seed.first);
	probe = id_index_probe(&sets->index, hash);
	while ((id = id_probe_next(&sets->index, &probe)) != ID_NONE) {
		struct label_set known = sets->sets.items[id];

		if (known.count == count &&
		    memcmp(sets->pairs.items + known.first, pairs, count * sizeof(*pairs)) == 0)
			return id;
	}
	return append(sets, pairs, count, hash);
}

size_t label_sets_get(const struct label_sets *sets, const struct strings *strings, uint32_t id,
		      struct label *ret)
{
	struct label_set set = {0};
	uint32_t i;

	if (id < sets->sets.count)
		set = sets->sets.items[id];
	for (i = 0; i < set.count && i < LABELS_MAX; i++) {
		struct label_pair pair = sets->pairs.items[set.first + i];

		ret[i].key = strings_get(strings, pair.key);
		ret[i].value = strings_get(strings, pair.value);
	}
	return i;
}
