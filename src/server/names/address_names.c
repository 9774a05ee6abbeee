/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/names/address_names.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "model/entity.h"
#include "store/store.h"
#include "symbol/debug_file.h"
#include "symbol/symboliser.h"

#define USUAL_FOLDER "/usr/lib/debug"
/* Names are stored this many at a time: others may write to the store in between. */
#define BATCH 4096u
#define MODULE_ID 0u

struct finder {
	const struct address_names_question *question;
	struct module module;
	struct symboliser *symboliser;
	VEC(struct store_address) addresses;
	VEC(struct store_naming) namings; /* names are set last: see names */
	VEC(struct store_name) names;     /* of all namings, one after another */
	bool failed;
};

static void scope_release_symboliser(struct symboliser **symboliser)
{
	symboliser_free(*symboliser);
}

static bool take_address(void *self, const struct store_address *address)
{
	struct finder *finder = self;

	finder->failed = vec_push(&finder->addresses, *address) < 0;
	return !finder->failed;
}

/* The outermost function comes first in the store, and last from the symboliser. */
static int add_naming(struct finder *finder, const struct store_address *address,
		      const struct symbol_frame *frames, size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (vec_push(&finder->names,
			     (struct store_name){.function = frames[i].function,
						 .file = frames[i].file ? frames[i].file : "",
						 .line = frames[i].line}) < 0)
			return -ENOMEM;
	return vec_push(&finder->namings, (struct store_naming){.id = address->id,
								.generation = address->generation,
								.name_count = count});
}

static int store_names(struct finder *finder, struct address_names_result *ret, struct error *err)
{
	size_t at = 0;
	int r;

	for (size_t i = 0; i < finder->namings.count; i++) {
		finder->namings.items[i].names = finder->names.items + at;
		at += finder->namings.items[i].name_count;
	}
	if (finder->namings.count == 0)
		return 0;
	r = store_set_names(finder->question->store, finder->namings.items, finder->namings.count,
			    err);
	if (r == 0)
		ret->named += finder->namings.count;
	finder->namings.count = 0;
	finder->names.count = 0;
	return r;
}

static int look_up(struct finder *finder, const struct store_address *address)
{
	const struct symbol_frame *frames;
	size_t count;

	if (symboliser_resolve(finder->symboliser, &finder->module, MODULE_ID, address->vaddr,
			       &frames, &count) >= SYMBOL_NONE)
		return 0;
	return add_naming(finder, address, frames, count < PLACES_MAX ? count : PLACES_MAX);
}

static int look_up_all(struct finder *finder, struct address_names_result *ret, struct error *err)
{
	int r = 0;

	for (size_t i = 0; i < finder->addresses.count && r == 0; i++) {
		if (look_up(finder, &finder->addresses.items[i]) < 0)
			return error_set(err, -ENOMEM, "out of memory");
		ret->has_symbols = !symboliser_module_is_lost(finder->symboliser, MODULE_ID);
		if (!ret->has_symbols)
			return 0;
		ret->looked_up++;
		if (finder->namings.count >= BATCH)
			r = store_names(finder, ret, err);
	}
	return r < 0 ? r : store_names(finder, ret, err);
}

static int open_symbols(struct finder *finder, struct error *err)
{
	static const struct symbol_search by_id = {.by_id = true};
	const struct address_names_question *question = finder->question;
	size_t n = question->folder_count;
	SCOPED(mem) const char **folders = calloc(n + 2, sizeof(*folders));
	struct symboliser_config config = {
		.demangle = true,
		.merge_clones = true,
		.detail = SYMBOLS_INLINES,
		.symbol_path_count = n + 2,
		.live = &by_id,
	};

	if (!folders)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		folders[i] = question->folders[i];
	folders[n] = USUAL_FOLDER;
	folders[n + 1] = question->last_folder;
	config.symbol_paths = folders;
	return symboliser_new(&config, &finder->symboliser, err);
}

static int find_all(struct finder *finder, struct address_names_result *ret, struct error *err)
{
	SCOPED(symboliser) struct symboliser *symboliser = NULL;
	char hex[2 * BUILD_ID_MAX + 1];
	int r = 0;

	build_id_format(finder->question->build_id, hex);
	r = store_unnamed(finder->question->store, hex, finder->question->from_id, take_address,
			  finder, err);
	if (r == 0 && finder->failed)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r < 0 || finder->addresses.count == 0)
		return r;
	r = open_symbols(finder, err);
	symboliser = finder->symboliser;
	return r < 0 ? r : look_up_all(finder, ret, err);
}

int address_names_find(const struct address_names_question *question,
		       struct address_names_result *ret, struct error *err)
{
	struct finder finder = {
		.question = question,
		/* No path: files are found by the build id. */
		.module = {.kind = MODULE_FILE, .path = "", .build_id = *question->build_id},
	};
	int r;

	*ret = (struct address_names_result){0};
	r = find_all(&finder, ret, err);
	vec_fini(&finder.addresses);
	vec_fini(&finder.namings);
	vec_fini(&finder.names);
	return r;
}
