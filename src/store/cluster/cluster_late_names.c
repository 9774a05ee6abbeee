/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Addresses without a name have small numbers here, as in the embedded store, but only for this
 * process: what is in ClickHouse has its hash. A name that comes late is a second version of the
 * location. The names that several servers find for an address are those of the same symbols.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "model/entity.h"
#include "model/profile.h"
#include "store/cluster/cluster_state.h"
#include "store/names.h"

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

/* Adds a text that is not ended. */
static uint32_t take_text(struct cluster *cluster, struct cursor *cursor)
{
	size_t size;
	const char *text = clickhouse_take_string(cursor, &size);

	return strings_add_n(&cluster->unnamed_texts, text, size);
}

/* With unnamed_lock. */
static int read_address(struct cluster *cluster, struct cursor *cursor)
{
	uint64_t id = cursor_u64(cursor);
	struct unnamed_address address = {.build_id = take_text(cluster, cursor),
					  .module = take_text(cluster, cursor)};
	uint32_t number;

	address.vaddr = cursor_u64(cursor);
	if (cursor->failed)
		return 0;
	if (address.build_id == ID_NONE || address.module == ID_NONE)
		return -ENOMEM;
	number = id_map_find(&cluster->unnamed_ids, id);
	if (number != ID_NONE) {
		cluster->unnamed.items[number].is_named = false;
		return 0;
	}
	if (vec_reserve(&cluster->unnamed, cluster->unnamed.count + 1) < 0 ||
	    id_map_add(&cluster->unnamed_ids, id) == ID_NONE)
		return -ENOMEM;
	cluster->unnamed.items[cluster->unnamed.count++] = address;
	return 0;
}

/* Learns which addresses have no name now: other servers add and name some as well. */
static int refresh(struct cluster *cluster, struct error *err)
{
	struct bytes sql = {0};
	struct bytes answer = {0};
	uint64_t missing = 0;
	struct cursor cursor;
	size_t i;
	int r;

	bytes_printf(&sql,
		     "SELECT id, any(build_id), any(module), any(vaddr) FROM %s.locations%s "
		     "WHERE build_id <> '' GROUP BY id HAVING max(version) = 0 ORDER BY id "
		     "FORMAT RowBinary",
		     cluster->database, cluster->all);
	r = cluster_ask(cluster, &sql, NULL, &answer, &missing, err);
	bytes_fini(&sql);
	cursor = cursor_of(answer.data, answer.size);
	(void)pthread_mutex_lock(&cluster->unnamed_lock); /* never fails: not held by us */
	/* What a shard that is down has stays as it is. */
	for (i = 0; i < cluster->unnamed.count && r == 0 && missing == 0; i++)
		cluster->unnamed.items[i].is_named = true;
	while (r == 0 && cursor_left(&cursor) > 0 && !cursor.failed)
		if (read_address(cluster, &cursor) < 0)
			r = no_memory(err);
	(void)pthread_mutex_unlock(&cluster->unnamed_lock);
	bytes_fini(&answer);
	return r;
}

int cluster_unnamed(struct store *base, const char *build_id, uint32_t from_id,
		    store_address_fn each, void *self, struct error *err)
{
	struct cluster *cluster = cluster_of(base);
	uint32_t wanted;
	size_t i;
	int r = refresh(cluster, err);

	if (r < 0)
		return r;
	(void)pthread_mutex_lock(&cluster->unnamed_lock); /* never fails: not held by us */
	wanted = strings_find(&cluster->unnamed_texts, build_id);
	for (i = from_id; i < cluster->unnamed.count; i++) {
		const struct unnamed_address *known = &cluster->unnamed.items[i];
		struct store_address address = {(uint32_t)i, 0, known->vaddr};

		if (!known->is_named && known->build_id == wanted && !each(self, &address))
			break;
	}
	(void)pthread_mutex_unlock(&cluster->unnamed_lock);
	return 0;
}

/* What is unnamed in a module, by the string id of its build id. */
struct module_count {
	uint32_t module;
	uint32_t last_id;
	uint64_t addresses;
};

int cluster_unnamed_modules(struct store *base, store_unnamed_fn each, void *self,
			    struct error *err)
{
	struct cluster *cluster = cluster_of(base);
	SCOPED(mem) struct module_count *counts = NULL;
	size_t count;
	size_t i;
	int r = refresh(cluster, err);

	if (r < 0)
		return r;
	(void)pthread_mutex_lock(&cluster->unnamed_lock); /* never fails: not held by us */
	count = cluster->unnamed_texts.entries.count;
	counts = calloc(count + 1, sizeof(*counts));
	for (i = 0; counts && i < cluster->unnamed.count; i++) {
		const struct unnamed_address *known = &cluster->unnamed.items[i];

		if (known->is_named)
			continue;
		counts[known->build_id].module = known->module;
		counts[known->build_id].last_id = (uint32_t)i;
		counts[known->build_id].addresses++;
	}
	for (i = 0; counts && i < count; i++) {
		struct store_unnamed_module module = {
			.build_id = strings_get(&cluster->unnamed_texts, (uint32_t)i),
			.path = strings_get(&cluster->unnamed_texts, counts[i].module),
			.addresses = counts[i].addresses,
			.last_id = counts[i].last_id,
		};

		if (module.addresses > 0 && !each(self, &module))
			break;
	}
	(void)pthread_mutex_unlock(&cluster->unnamed_lock);
	return counts ? 0 : no_memory(err);
}

/* Rows of locations and functions. */
struct renaming {
	struct cluster *cluster;
	struct bytes locations;
	struct bytes functions;
	struct bytes text;
	VEC(uint32_t) numbers;
};

static void put_texts(struct renaming *renaming, const struct store_naming *naming, bool files)
{
	size_t i;

	bytes_put_varint(&renaming->locations, naming->name_count);
	for (i = 0; i < naming->name_count; i++)
		clickhouse_put_string(
			&renaming->locations,
			names_clean(&renaming->text,
				    files ? naming->names[i].file : naming->names[i].function));
}

/* The columns of a location, as pending.c writes them. With unnamed_lock. */
static void put_location(struct renaming *renaming, const struct store_naming *naming,
			 uint64_t version)
{
	const struct cluster *cluster = renaming->cluster;
	const struct unnamed_address *known = &cluster->unnamed.items[naming->id];
	const char *module = strings_get(&cluster->unnamed_texts, known->module);
	struct bytes *row = &renaming->locations;
	uint64_t id = cluster->unnamed_ids.ids.items[naming->id];
	size_t i;

	bytes_put_u64(row, id);
	bytes_put_u64(row, version);
	clickhouse_put_string(row, module);
	clickhouse_put_string(row, strings_get(&cluster->unnamed_texts, known->build_id));
	bytes_put_u64(row, known->vaddr);
	put_texts(renaming, naming, false);
	put_texts(renaming, naming, true);
	bytes_put_varint(row, naming->name_count);
	for (i = 0; i < naming->name_count; i++)
		clickhouse_put_string(row, module);
	bytes_put_varint(row, naming->name_count);
	for (i = 0; i < naming->name_count; i++)
		bytes_put_u8(row, (uint8_t)names_origin(module));
	bytes_put_varint(row, naming->name_count);
	for (i = 0; i < naming->name_count; i++)
		bytes_put_u32(row, naming->names[i].line);
	bytes_put_varint(row, naming->name_count);
	for (i = 0; i < naming->name_count; i++)
		clickhouse_put_string(row, "");
	for (i = 0; i < naming->name_count; i++) {
		clickhouse_put_string(&renaming->functions,
				      names_clean(&renaming->text, naming->names[i].function));
		bytes_put_u64(&renaming->functions, id);
	}
}

static int prepare(struct renaming *renaming, const struct store_naming *namings, size_t count)
{
	struct cluster *cluster = renaming->cluster;
	uint64_t version = clock_realtime_ns();
	size_t i;
	int r = 0;

	(void)pthread_mutex_lock(&cluster->unnamed_lock); /* never fails: not held by us */
	for (i = 0; i < count && r == 0; i++) {
		if (namings[i].id >= cluster->unnamed.count ||
		    cluster->unnamed.items[namings[i].id].is_named || namings[i].name_count == 0 ||
		    namings[i].name_count > PLACES_MAX)
			continue;
		put_location(renaming, &namings[i], version);
		r = vec_push(&renaming->numbers, namings[i].id);
	}
	(void)pthread_mutex_unlock(&cluster->unnamed_lock);
	return r < 0 || renaming->locations.failed || renaming->functions.failed ? -ENOMEM : 0;
}

/* All shards get them: nobody here knows which have the address. */
static int write_all(struct renaming *renaming, const char *table, const struct bytes *rows,
		     struct error *err)
{
	struct cluster *cluster = renaming->cluster;
	struct bytes sql = {0};
	struct clickhouse_statement statement = {.sql = &sql, .data = rows};
	int r = 0;

	bytes_printf(&sql, "INSERT INTO %s.%s FORMAT RowBinary", cluster->database, table);
	for (; statement.node < cluster->shard_count && r == 0; statement.node++)
		r = cluster_run_at(cluster, &statement, NULL, err);
	bytes_fini(&sql);
	return r;
}

int cluster_set_names(struct store *base, const struct store_naming *namings, size_t count,
		      struct error *err)
{
	struct renaming renaming = {.cluster = cluster_of(base)};
	size_t i;
	int r = prepare(&renaming, namings, count) < 0 ? no_memory(err) : 0;

	/* First what leads to the location: it is no address any more when it has a name. */
	if (r == 0 && renaming.numbers.count > 0)
		r = write_all(&renaming, "functions", &renaming.functions, err);
	if (r == 0 && renaming.numbers.count > 0)
		r = write_all(&renaming, "locations", &renaming.locations, err);
	(void)pthread_mutex_lock(&renaming.cluster->unnamed_lock); /* never fails: not held by us */
	for (i = 0; i < renaming.numbers.count && r == 0; i++)
		renaming.cluster->unnamed.items[renaming.numbers.items[i]].is_named = true;
	(void)pthread_mutex_unlock(&renaming.cluster->unnamed_lock);
	bytes_fini(&renaming.locations);
	bytes_fini(&renaming.functions);
	bytes_fini(&renaming.text);
	vec_fini(&renaming.numbers);
	return r;
}
