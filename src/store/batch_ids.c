/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/batch_ids.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <xxhash.h>

#include "base/error.h"
#include "store/database.h"

const char batch_ids_sql[] =
	"CREATE TABLE IF NOT EXISTS batches (high UBIGINT, low UBIGINT, stored_s UINTEGER);";

/* The hash is on disk: it must be the same in all processes. */
struct batch_id batch_id_of(const char *text, uint64_t now_s)
{
	XXH128_hash_t hash = XXH3_128bits(text, strlen(text));

	return (struct batch_id){hash.high64, hash.low64, (uint32_t)now_s};
}

bool batch_ids_has(const struct batch_ids *ids, const struct batch_id *id)
{
	struct id_probe probe = id_index_probe(&ids->index, hash_pair(id->high, id->low));
	uint32_t i;

	while ((i = id_probe_next(&ids->index, &probe)) != ID_NONE)
		if (ids->items.items[i].high == id->high && ids->items.items[i].low == id->low)
			return true;
	return false;
}

int batch_ids_add(struct batch_ids *ids, const struct batch_id *id)
{
	if (vec_push(&ids->items, *id) < 0)
		return -ENOMEM;
	return id_index_add(&ids->index, hash_pair(id->high, id->low),
			    (uint32_t)ids->items.count - 1);
}

void batch_ids_fini(struct batch_ids *ids)
{
	vec_fini(&ids->items);
	id_index_fini(&ids->index);
}

int batch_ids_load(struct batch_ids *ids, struct database *database,
		   struct duckdb_connection *connection, struct error *err)
{
	struct bytes sql = {0};
	struct answer answer;
	int r;

	bytes_printf(&sql, "SELECT high, low, stored_s FROM batches");
	r = database_query(database, connection, &sql, &answer, err);
	bytes_fini(&sql);
	if (r < 0)
		return r;
	while (r == 0 && answer_next(&answer)) {
		const uint64_t *high = answer_column(&answer, 0);
		const uint64_t *low = answer_column(&answer, 1);
		const uint32_t *stored_s = answer_column(&answer, 2);
		size_t i;

		for (i = 0; i < answer.count && r == 0; i++)
			r = batch_ids_add(ids, &(struct batch_id){high[i], low[i], stored_s[i]});
	}
	answer_end(&answer);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

int batch_ids_save(const struct batch_id *ids, size_t count, struct database *database,
		   struct duckdb_connection *connection, struct error *err)
{
	struct appender to;
	size_t i;
	int r = appender_open(&to, database, connection, "batches", "UUu", err);

	if (r < 0)
		return r;
	for (i = 0; i < count; i++) {
		size_t row = appender_row(&to);

		appender_put_u64(&to, 0, row, ids[i].high);
		appender_put_u64(&to, 1, row, ids[i].low);
		appender_put_u32(&to, 2, row, ids[i].stored_s);
	}
	return appender_close(&to);
}

int batch_ids_prune(struct batch_ids *ids, uint64_t now_s, struct database *database,
		    struct duckdb_connection *connection, struct error *err)
{
	uint64_t oldest_s = now_s > BATCH_ID_AGE_S ? now_s - BATCH_ID_AGE_S : 0;
	struct bytes sql = {0};
	size_t kept = 0;
	size_t i;
	int r;

	for (i = 0; i < ids->items.count; i++)
		if (ids->items.items[i].stored_s >= oldest_s)
			ids->items.items[kept++] = ids->items.items[i];
	if (kept == ids->items.count)
		return 0;
	ids->items.count = kept;
	id_index_clear(&ids->index);
	for (i = 0; i < kept; i++) {
		const struct batch_id *id = &ids->items.items[i];

		/* There was room for more. */
		(void)id_index_add(&ids->index, hash_pair(id->high, id->low), (uint32_t)i);
	}
	bytes_printf(&sql, "DELETE FROM batches WHERE stored_s < %" PRIu64, oldest_s);
	r = database_run_bytes(database, connection, &sql, err);
	bytes_fini(&sql);
	return r;
}
