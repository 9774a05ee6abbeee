/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/hash_seed.h"
#include "base/scope.h"
#include "base/vec.h"
#include "dwarf/constants.h"
#include "dwarf/scopes.h"

void names_init(struct names *names, struct arena *arena)
{
	*names = (struct names){.arena = arena};
}

void names_fini(struct names *names)
{
	free(names->items);
	free(names->entries);
	free(names->texts);
	id_index_fini(&names->offset_index);
	id_index_fini(&names->entry_index);
	id_index_fini(&names->text_index);
	*names = (struct names){0};
}

/* The number of a text, stored once. 0 without memory. */
static uint32_t intern(struct names *names, const char *text, size_t size, bool mangled)
{
	uint64_t hash = XXH3_64bits_withSeed(text, size, hash_seed.first) + mangled;
	struct id_probe probe = id_index_probe(&names->text_index, hash);
	struct name name = {.mangled = mangled};
	struct {
		struct name *items;
		size_t count, capacity;
	} items = {names->items, names->count, names->capacity};
	uint32_t id;

	while ((id = id_probe_next(&names->text_index, &probe)) != ID_NONE)
		if (items.items[id].mangled == mangled &&
		    strncmp(items.items[id].text, text, size) == 0 &&
		    items.items[id].text[size] == '\0')
			return id + 1;
	name.text = arena_strndup(names->arena, text, size);
	if (!name.text || vec_push(&items, name) < 0)
		return 0;
	names->items = items.items;
	names->capacity = items.capacity;
	if (id_index_add(&names->text_index, hash, (uint32_t)names->count) < 0)
		return 0;
	names->count = items.count;
	return (uint32_t)names->count;
}

const char *names_keep(struct names *names, const char *text, size_t size)
{
	uint32_t number = intern(names, text, size, false);

	return number > 0 ? names->items[number - 1].text : NULL;
}

static const char *placeholder(uint32_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
		return "(anonymous namespace)";
	case DW_TAG_class_type:
		return "(anonymous class)";
	case DW_TAG_structure_type:
		return "(anonymous struct)";
	case DW_TAG_union_type:
		return "(anonymous union)";
	case DW_TAG_enumeration_type:
		return "(anonymous enum)";
	default:
		return "(anonymous)";
	}
}

/* An entry that is declared elsewhere or repeats another: a reference to the other one. */
static struct die_ref next_of(const struct die *die)
{
	struct die_ref next = die_reference(die, SLOT_SPECIFICATION);

	if (!next.unit)
		next = die_reference(die, SLOT_ABSTRACT_ORIGIN);
	if (!next.unit)
		next = die_reference(die, SLOT_SIGNATURE);
	return next;
}

static bool is_scope(uint32_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subprogram:
		return true;
	default:
		return false;
	}
}

/* Closures have no name except for what is called in them. */
static bool is_closure(const struct die *scope, const char *name)
{
	return (scope->abbrev->tag == DW_TAG_class_type ||
		scope->abbrev->tag == DW_TAG_structure_type) &&
	       !die_has(scope, SLOT_NAME) && strcmp(name, "operator()") == 0;
}

/* The scopes around name, each followed by "::". */
static void put_scopes(struct bytes *out, struct die_ref ref, const char *name, size_t depth)
{
	uint64_t chain[SCOPES_MAX];
	size_t count = scopes_around(ref.unit, ref.offset, chain);
	SCOPED(mem) struct die *die = malloc(sizeof(*die));

	/* The innermost scope includes those around it. */
	for (size_t i = count; i > 1 && die; i--) {
		if (!die_read(ref.unit, chain[i - 1], die) || !is_scope(die->abbrev->tag))
			continue;
		ref.offset = chain[i - 1];
		if (is_closure(die, name)) {
			put_scopes(out, ref, "", depth + 1);
			bytes_printf(out, "{lambda}::");
			return;
		}
		names_put_qualified(out, ref, depth + 1);
		bytes_printf(out, die->abbrev->tag == DW_TAG_subprogram ? "()::" : "::");
		return;
	}
}

/* Template arguments, unless the name contains them already. */
static void put_arguments(struct bytes *out, struct die_ref ref, size_t depth)
{
	SCOPED(mem) struct die *die = malloc(sizeof(*die));
	size_t count = 0;
	uint64_t at, value;

	if (!die || !die_read(ref.unit, ref.offset, die) || !die->abbrev->has_children)
		return;
	/* They come first and have no children; anything else ends the search. */
	for (at = die->next; die_read(ref.unit, at, die) && !die->abbrev->has_children;
	     at = die->next) {
		uint32_t tag = die->abbrev->tag;

		if (tag != DW_TAG_template_type_parameter && tag != DW_TAG_template_value_parameter)
			continue;
		bytes_printf(out, "%s", count++ > 0 ? ", " : "<");
		if (tag == DW_TAG_template_type_parameter)
			names_put_type(out, die, SLOT_TYPE, depth + 1);
		else if (die_number(die, SLOT_CONST_VALUE, &value))
			bytes_printf(out, "%lld", (long long)value);
		else
			bytes_put(out, "?", 1);
		if (out->size > NAMES_MAX_BYTES)
			break;
	}
	if (count > 0)
		bytes_put(out, ">", 1);
}

void names_put_qualified(struct bytes *out, struct die_ref ref, size_t depth)
{
	SCOPED(mem) struct die *die = malloc(sizeof(*die));
	const char *name = NULL;
	struct die_ref named = ref, next = ref;
	uint32_t tag = 0;

	if (depth > NAMES_MAX_DEPTH || out->size > NAMES_MAX_BYTES || !die) {
		bytes_put(out, "…", strlen("…"));
		return;
	}
	for (size_t i = 0; i < NAMES_MAX_HOPS && next.unit; i++) {
		const char *text;

		if (!die_read(next.unit, next.offset, die))
			break;
		ref = next;
		tag = die->abbrev->tag;
		text = die_text(die, SLOT_NAME);
		if (!name && text) {
			name = text;
			named = ref;
		}
		next = next_of(die);
	}
	put_scopes(out, ref, name ? name : "", depth);
	if (!name || !name[0])
		name = placeholder(tag);
	bytes_put(out, name, strlen(name));
	if (!strchr(name, '<') && name[0] != '(')
		put_arguments(out, named, depth);
}

/* Reads the first entry along the chain that has a linker name. False without one. */
static bool find_linkage(struct die_ref ref, struct die *die)
{
	for (size_t i = 0; i < NAMES_MAX_HOPS && ref.unit; i++) {
		if (!die_read(ref.unit, ref.offset, die))
			return false;
		if (die_has(die, SLOT_LINKAGE_NAME))
			return true;
		ref = next_of(die);
	}
	return false;
}

static uint32_t find_text(const struct names *names, const struct named_text *text)
{
	uint64_t hash = hash_pair((uintptr_t)text->image, text->offset);
	struct id_probe probe = id_index_probe(&names->offset_index, hash);
	uint32_t id;

	while ((id = id_probe_next(&names->offset_index, &probe)) != ID_NONE)
		if (names->texts[id].offset == text->offset &&
		    names->texts[id].image == text->image)
			return names->texts[id].name;
	return 0;
}

static void keep_text(struct names *names, const struct named_text *text)
{
	struct {
		struct named_text *items;
		size_t count, capacity;
	} texts = {names->texts, names->text_count, names->text_capacity};
	uint64_t hash = hash_pair((uintptr_t)text->image, text->offset);

	/* What is not stored is just built again. */
	if (vec_push(&texts, *text) < 0)
		return;
	names->texts = texts.items;
	names->text_capacity = texts.capacity;
	if (id_index_add(&names->offset_index, hash, (uint32_t)names->text_count) == 0)
		names->text_count = texts.count;
}

/* The number of the entry's linker name; 0 if it cannot be read. */
static uint32_t linkage_name(struct names *names, const struct die *die)
{
	const struct value *value = &die->values[SLOT_LINKAGE_NAME];
	struct named_text text = {die->unit->image, value->number, 0};
	bool shared = value->form == DW_FORM_strp;
	const char *linkage;
	size_t size;

	if (shared)
		text.name = find_text(names, &text);
	if (text.name)
		return text.name;
	linkage = value_text(die->unit, value);
	if (!linkage || !linkage[0])
		return 0;
	size = strnlen(linkage, NAMES_MAX_BYTES);
	text.name = intern(names, linkage, size, true);
	if (shared && text.name)
		keep_text(names, &text);
	return text.name;
}

/* Whether any entry along the chain has a name. */
static bool has_name(struct die_ref ref, struct die *die)
{
	for (size_t i = 0; i < NAMES_MAX_HOPS && ref.unit; i++) {
		const char *text;

		if (!die_read(ref.unit, ref.offset, die))
			return false;
		text = die_text(die, SLOT_NAME);
		if (text && text[0])
			return true;
		ref = next_of(die);
	}
	return false;
}

static uint32_t make_name(struct names *names, struct die_ref ref)
{
	struct die *die = &names->die;
	struct bytes text = {0};
	uint32_t number = 0;

	if (find_linkage(ref, die))
		number = linkage_name(names, die);
	if (number)
		return number;
	if (!has_name(ref, die))
		return intern(names, "", 0, false);
	names_put_qualified(&text, ref, 0);
	if (!text.failed && text.data)
		number = intern(names, (const char *)text.data, text.size, false);
	bytes_fini(&text);
	return number;
}

uint32_t names_of(struct names *names, struct die_ref ref)
{
	uint64_t hash = hash_pair((uintptr_t)ref.unit, ref.offset);
	struct id_probe probe = id_index_probe(&names->entry_index, hash);
	struct named_entry entry = {ref.unit, ref.offset, 0};
	struct {
		struct named_entry *items;
		size_t count, capacity;
	} entries = {names->entries, names->entry_count, names->entry_capacity};
	uint32_t id;

	while ((id = id_probe_next(&names->entry_index, &probe)) != ID_NONE)
		if (entries.items[id].unit == ref.unit && entries.items[id].offset == ref.offset)
			return entries.items[id].name;
	entry.name = ref.unit ? make_name(names, ref) : intern(names, "", 0, false);
	if (entry.name == 0 || vec_push(&entries, entry) < 0)
		return 0;
	names->entries = entries.items;
	names->entry_capacity = entries.capacity;
	if (id_index_add(&names->entry_index, hash, (uint32_t)names->entry_count) == 0)
		names->entry_count = entries.count;
	return entry.name;
}
