/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_DWARF_NAMES_H
#define WICK_DWARF_NAMES_H

/*
 * names: the names of functions and types. Each name is built once for an entry and stored once for
 * each text. Names are passed as numbers; 0 means none yet.
 *
 * A function's linker name is preferred. Without one, the name is built from the entries around it:
 * "ns::shape<int>::area".
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/id_index.h"
#include "dwarf/unit.h"

struct name {
	const char *text; /* NULL: it has none */
	bool mangled;
};

struct named_entry {
	const struct unit *unit;
	uint64_t offset;
	uint32_t name;
};

/* Linkers store a text once, so its address identifies it. */
struct named_text {
	const struct image *image;
	uint64_t offset;
	uint32_t name;
};

struct names {
	struct arena *arena; /* borrowed */
	struct name *items;  /* by number - 1 */
	size_t count, capacity;
	struct named_entry *entries;
	size_t entry_count, entry_capacity;
	struct id_index entry_index; /* by unit and offset */
	struct id_index text_index;
	struct named_text *texts;
	size_t text_count, text_capacity;
	struct die die;               /* the one being read */
	struct id_index offset_index; /* of linker names, by their address */
};

void names_init(struct names *names, struct arena *arena);
void names_fini(struct names *names);

/* The number of an entry's name; 0 if out of memory. */
uint32_t names_of(struct names *names, struct die_ref ref);

/* Stores a text of the caller's once, for as long as the arena; NULL if out of memory. */
const char *names_keep(struct names *names, const char *text, size_t size);

/* "int ns::add<long>(long, long)": a function's signature from its entry, with types. */
void names_put_signature(struct bytes *out, struct die_ref ref);

/* The name of the type in the entry's attribute, "void" without one. */
void names_put_type(struct bytes *out, const struct die *die, enum die_slot slot, size_t depth);

/* The name of the entry, qualified with the scopes around it. */
void names_put_qualified(struct bytes *out, struct die_ref ref, size_t depth);

#define NAMES_MAX_BYTES 65536
#define NAMES_MAX_DEPTH 24
#define NAMES_MAX_HOPS 16

#endif
