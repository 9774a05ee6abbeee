/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/strings.h"

#include <string.h>

#include <xxhash.h>

#include "base/hash_seed.h"

int strings_init(struct strings *strings)
{
	*strings = (struct strings){0};
	return strings_add_n(strings, "", 0) == ID_NONE ? -ENOMEM : 0;
}

void strings_fini(struct strings *strings)
{
	arena_fini(&strings->arena);
	id_index_fini(&strings->index);
	vec_fini(&strings->entries);
}

static uint32_t hash_text(const char *text, size_t n)
{
	return id_index_fold(XXH3_64bits_withSeed(text, n, hash_seed.first));
}

static uint32_t find_hashed(const struct strings *strings, const char *text, size_t n,
			    uint32_t hash)
{
	struct id_probe probe = id_index_probe(&strings->index, hash);
	uint32_t id;

	while ((id = id_probe_next(&strings->index, &probe)) != ID_NONE) {
		const struct string_entry *entry = &strings->entries.items[id];

		if (entry->size == n && memcmp(entry->text, text, n) == 0)
			return id;
	}
	return ID_NONE;
}

uint32_t strings_find(const struct strings *strings, const char *text)
{
	size_t n = strlen(text);

	return find_hashed(strings, text, n, hash_text(text, n));
}

uint32_t strings_find_entry(const struct strings *strings, const struct string_entry *entry)
{
	return find_hashed(strings, entry->text, entry->size, entry->hash);
}

/* Adds a text of exactly n bytes. */
static uint32_t add_text(struct strings *strings, const char *text, size_t n)
{
	uint32_t hash = hash_text(text, n);
	uint32_t id = find_hashed(strings, text, n, hash);
	char *copy;

	if (id != ID_NONE)
		return id;
	if (n > UINT32_MAX || strings->entries.count >= ID_NONE)
		return ID_NONE;
	id = (uint32_t)strings->entries.count;
	copy = arena_strndup(&strings->arena, text, n);
	if (!copy ||
	    vec_push(&strings->entries, (struct string_entry){copy, (uint32_t)n, hash}) < 0)
		return ID_NONE;
	if (id_index_add(&strings->index, hash, id) < 0) {
		strings->entries.count--;
		return ID_NONE;
	}
	return id;
}

uint32_t strings_add(struct strings *strings, const char *text)
{
	return add_text(strings, text, strlen(text));
}

uint32_t strings_add_n(struct strings *strings, const char *text, size_t n)
{
	/* An empty text may have a NULL pointer. */
	return n == 0 ? add_text(strings, "", 0) : add_text(strings, text, strnlen(text, n));
}
