/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_STRINGS_H
#define WICK_MODEL_STRINGS_H

/* strings: each text once, identified by a 32-bit id. Id 0 is the empty string. */

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/id_index.h"
#include "base/vec.h"

struct string_entry {
	const char *text;
	uint32_t size;
	uint32_t hash; /* folded, as id_index has it; the same in all strings of a process */
};

struct strings {
	struct arena arena;
	struct id_index index;
	VEC(struct string_entry) entries;
};

int strings_init(struct strings *strings); /* 0 or -ENOMEM */
void strings_fini(struct strings *strings);

/* Returns the id of text, ID_NONE if out of memory. NUL bytes end the text. */
uint32_t strings_add(struct strings *strings, const char *text);
uint32_t strings_add_n(struct strings *strings, const char *text, size_t n);

/* Returns the id of text, ID_NONE if it was never added. */
uint32_t strings_find(const struct strings *strings, const char *text);
/* The same for a text of other strings, which is hashed already. */
uint32_t strings_find_entry(const struct strings *strings, const struct string_entry *entry);

/* The text of an id, valid until strings_fini(). */
static inline const char *strings_get(const struct strings *strings, uint32_t id)
{
	return id < strings->entries.count ? strings->entries.items[id].text : "";
}

#endif
