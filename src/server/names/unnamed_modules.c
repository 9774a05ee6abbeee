/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/names/unnamed_modules.h"

#include <stdio.h>

#include "server/names/symbol_folder.h"
#include "store/store.h"

void unnamed_modules_fini(struct unnamed_modules *modules)
{
	vec_fini(&modules->items);
}

struct unnamed_module *unnamed_modules_find(struct unnamed_modules *modules,
					    const struct build_id *id)
{
	for (size_t i = 0; i < modules->items.count; i++)
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

/* NULL: there is no room. */
static struct unnamed_module *add(struct unnamed_modules *modules, const struct build_id *id,
				  const char *path)
{
	struct unnamed_module fresh = {.state = NAMING_WAITS, .build_id = *id};

	if (modules->items.count >= NAMING_MODULES_MAX)
		return NULL;
	build_id_format(id, fresh.hex);
	(void)snprintf(fresh.path, sizeof(fresh.path), "%s", path);
	if (vec_push(&modules->items, fresh) < 0)
		return NULL;
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
