/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/names/unnamed_modules.h"

#include <stdio.h>
#include <stdlib.h>

#include <xxhash.h>

#include "server/names/symbol_folder.h"
#include "store/store.h"

void unnamed_modules_fini(struct unnamed_modules *modules)
{
	vec_fini(&modules->items);
	id_index_fini(&modules->index);
}

static uint64_t hash_of(const struct build_id *id)
{
	return hash_pair(XXH3_64bits(id->bytes, id->size), id->size);
}

struct unnamed_module *unnamed_modules_find(struct unnamed_modules *modules,
					    const struct build_id *id)
{
	struct id_probe probe = id_index_probe(&modules->index, hash_of(id));
	uint32_t i;

	while ((i = id_probe_next(&modules->index, &probe)) != ID_NONE)
		if (build_id_equal(&modules->items.items[i].build_id, id))
			return &modules->items.items[i];
	return NULL;
}

void unnamed_modules_begin(struct unnamed_modules *modules)
{
	for (size_t i = 0; i < modules->items.count; i++)
		modules->items.items[i].addresses = 0;
}

/* Ids that are given again are of other addresses: none of those was looked up. */
static void forget_ids(struct unnamed_modules *modules, unsigned int generation)
{
	if (modules->generation == generation)
		return;
	modules->generation = generation;
	for (size_t i = 0; i < modules->items.count; i++)
		modules->items.items[i].next_id = 0;
}

static int by_last_id(const void *a, const void *b)
{
	const struct unnamed_module *x = a;
	const struct unnamed_module *y = b;

	return x->last_id > y->last_id ? -1 : x->last_id < y->last_id;
}

/* Forgets those with the oldest addresses: what senders invent must not be in the way for good. */
static void trim(struct unnamed_modules *modules)
{
	size_t max = modules->max > 0 ? modules->max : NAMING_MODULES_MAX;

	if (modules->items.count <= max)
		return;
	qsort(modules->items.items, modules->items.count, sizeof(*modules->items.items),
	      by_last_id);
	modules->items.count = max;
	id_index_clear(&modules->index);
	for (size_t i = 0; i < max; i++)
		/* There was room for more. */
		(void)id_index_add(&modules->index, hash_of(&modules->items.items[i].build_id),
				   (uint32_t)i);
}

/* NULL: out of memory. */
static struct unnamed_module *add(struct unnamed_modules *modules, const struct build_id *id,
				  const char *path)
{
	struct unnamed_module fresh = {.state = NAMING_WAITS, .build_id = *id};

	/* Sorting for each one would take long. */
	if (modules->items.count >= 2 * (modules->max > 0 ? modules->max : NAMING_MODULES_MAX))
		trim(modules);
	build_id_format(id, fresh.hex);
	(void)snprintf(fresh.path, sizeof(fresh.path), "%s", path);
	if (vec_reserve(&modules->items, modules->items.count + 1) < 0 ||
	    id_index_add(&modules->index, hash_of(id), (uint32_t)modules->items.count) < 0)
		return NULL;
	modules->items.items[modules->items.count++] = fresh;
	return &modules->items.items[modules->items.count - 1];
}

void unnamed_modules_note(struct unnamed_modules *modules,
			  const struct store_unnamed_module *unnamed)
{
	struct unnamed_module *known;
	struct build_id id;

	forget_ids(modules, unnamed->generation);
	/* Kernel modules have no file that anybody could send. */
	if (unnamed->path[0] == '[' || !symbol_folder_parse_id(unnamed->build_id, &id))
		return;
	known = unnamed_modules_find(modules, &id);
	if (!known)
		known = add(modules, &id, unnamed->path);
	if (!known)
		return;
	known->addresses = unnamed->addresses;
	known->last_id = unnamed->last_id;
}

void unnamed_modules_end(struct unnamed_modules *modules)
{
	for (size_t i = 0; i < modules->items.count; i++)
		if (modules->items.items[i].addresses == 0)
			modules->items.items[i].last_id = 0; /* it goes first */
	trim(modules);
}

bool unnamed_module_begin_search(struct unnamed_module *known, uint64_t now_s)
{
	if (known->addresses == 0 || known->last_id < known->next_id || known->search_s > now_s)
		return false;
	known->next_id = known->last_id + 1;
	return true;
}

void unnamed_module_end_search(struct unnamed_module *known, const struct unnamed_module *before,
			       bool has_symbols, bool failed, uint64_t now_s)
{
	unsigned int doublings = known->searched < UNNAMED_SEARCH_DOUBLINGS_MAX
					 ? known->searched
					 : UNNAMED_SEARCH_DOUBLINGS_MAX;

	known->state = has_symbols ? NAMING_FOUND : NAMING_LACKS;
	if (known->renewals != before->renewals)
		return; /* all is to be done with the symbols that came meanwhile */
	known->searched = 0;
	known->search_s = 0;
	if (has_symbols && !failed)
		return;
	/* Nothing was looked up, or not all. */
	known->next_id = before->next_id;
	known->searched = doublings + 1;
	known->search_s = now_s + ((uint64_t)UNNAMED_SEARCH_AGAIN_S << doublings);
}

void unnamed_module_renew(struct unnamed_module *known)
{
	known->next_id = 0;
	known->search_s = 0;
	known->searched = 0;
	known->renewals++;
}
