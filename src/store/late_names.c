/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/scope.h"
#include "store/names_tables.h"
#include "store/store_state.h"

int embedded_unnamed(struct store *base, const char *build_id, uint32_t from_id,
		     store_address_fn each, void *self, struct error *err)
{
	struct embedded *store = embedded_of(base);
	uint32_t wanted;
	size_t i;

	(void)err; /* nothing can fail, but every question has it */
	(void)pthread_rwlock_rdlock(&store->names_lock); /* never fails: not held by us */
	wanted = store->names.profile ? strings_find(&store->names.profile->strings, build_id)
				      : ID_NONE; /* it could not be opened again: no names at all */
	for (i = from_id; i < store->names.locations.count; i++) {
		const struct names_location *location = &store->names.locations.items[i];
		struct store_address address = {(uint32_t)i, store->generation, location->vaddr};

		if (location->is_unnamed && location->build_id == wanted && !each(self, &address))
			break;
	}
	(void)pthread_rwlock_unlock(&store->names_lock);
	return 0;
}

/* What is unnamed in a module, by the string id of its build id. */
struct unnamed {
	uint32_t module;
	uint32_t addresses;
	uint32_t last_id;
};

static void count_unnamed(const struct names *names, struct unnamed *ret)
{
	size_t i;

	for (i = 0; i < names->locations.count; i++) {
		const struct names_location *location = &names->locations.items[i];
		struct unnamed *unnamed = &ret[location->build_id];

		if (!location->is_unnamed)
			continue;
		unnamed->module = location->module;
		unnamed->addresses++;
		unnamed->last_id = (uint32_t)i;
	}
}

int embedded_unnamed_modules(struct store *base, store_unnamed_fn each, void *self,
			     struct error *err)
{
	struct embedded *store = embedded_of(base);
	SCOPED(mem) struct unnamed *unnamed = NULL;
	const struct profile *profile;
	size_t count = 0;
	size_t i;

	(void)pthread_rwlock_rdlock(&store->names_lock); /* never fails: not held by us */
	profile = store->names.profile;
	if (profile) /* or it could not be opened again */
		count = profile->strings.entries.count;
	unnamed = calloc(count + 1, sizeof(*unnamed));
	if (unnamed)
		count_unnamed(&store->names, unnamed);
	for (i = 0; unnamed && i < count; i++) {
		struct store_unnamed_module module = {
			.build_id = profile_text(profile, (uint32_t)i),
			.path = profile_text(profile, unnamed[i].module),
			.addresses = unnamed[i].addresses,
			.last_id = unnamed[i].last_id,
			.generation = store->generation,
		};

		if (module.addresses > 0 && !each(self, &module))
			break;
	}
	(void)pthread_rwlock_unlock(&store->names_lock);
	return unnamed ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static int save_renamed(struct embedded *store, const names_ids *renamed, struct error *err)
{
	int r = database_run(&store->database, store->writer, "BEGIN", err);

	if (r < 0)
		return r;
	r = names_save(&store->names, &store->database, store->writer, err);
	if (r == 0)
		r = names_save_renamed(&store->names, renamed, &store->database, store->writer,
				       err);
	if (r == 0)
		r = database_run(&store->database, store->writer, "COMMIT", err);
	if (r < 0)
		/* A commit that failed has ended the transaction already. */
		(void)database_run(&store->database, store->writer, "ROLLBACK", NULL);
	else
		names_saved(&store->names);
	return r;
}

/* Names that are not on disk can be set again. */
static void take_back(struct names *names, const names_ids *renamed)
{
	size_t i;

	for (i = 0; i < renamed->count; i++)
		names->locations.items[renamed->items[i]].is_unnamed = true;
}

/* With write_lock. */
static int check_generation(const struct embedded *store, const struct store_naming *namings,
			    size_t count, struct error *err)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (namings[i].generation != store->generation)
			return error_advise(
				err,
				error_set(err, -ESTALE,
					  "the store was opened again while names were looked up"),
				"look them up again");
	return 0;
}

int embedded_set_names(struct store *base, const struct store_naming *namings, size_t count,
		       struct error *err)
{
	struct embedded *store = embedded_of(base);
	names_ids renamed = {0};
	int r;

	(void)pthread_mutex_lock(&store->write_lock); /* never fails: not held by us */
	r = embedded_recover(store, err);
	if (r == 0)
		r = check_generation(store, namings, count, err);
	if (r == 0) {
		(void)pthread_rwlock_wrlock(&store->names_lock); /* likewise */
		if (names_rename(&store->names, namings, count, &renamed) < 0)
			r = error_set(err, -ENOMEM, "out of memory");
		(void)pthread_rwlock_unlock(&store->names_lock);
	}
	if (r == 0 && renamed.count > 0)
		r = save_renamed(store, &renamed, err);
	if (r < 0) {
		(void)pthread_rwlock_wrlock(&store->names_lock); /* likewise */
		take_back(&store->names, &renamed);
		(void)pthread_rwlock_unlock(&store->names_lock);
	}
	vec_fini(&renamed);
	(void)pthread_mutex_unlock(&store->write_lock);
	return r;
}
