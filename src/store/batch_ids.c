/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/batch_ids.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/error.h"
#include "base/scope.h"
#include "store/database.h"

#define PRUNE_EVERY_S 600u

const char batch_ids_sql[] =
	"CREATE TABLE IF NOT EXISTS batches (high UBIGINT, low UBIGINT, stored_s UINTEGER);"
	"ALTER TABLE batches ADD COLUMN IF NOT EXISTS sender UBIGINT DEFAULT 0;";

/* The hashes are on disk: they must be the same in all processes. */
struct batch_id batch_id_of(const char *text, const char *sender, uint64_t now_s)
{
	XXH128_hash_t hash = XXH3_128bits(text, strlen(text));

	return (struct batch_id){
		.high = hash.high64,
		.low = hash.low64,
		.sender = sender ? XXH3_64bits(sender, strlen(sender)) | 1 : 0,
		.stored_s = (uint32_t)now_s,
	};
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

	bytes_printf(&sql, "SELECT high, low, stored_s, sender FROM batches ORDER BY rowid");
	r = database_query(database, connection, &sql, &answer, err);
	bytes_fini(&sql);
	if (r < 0)
		return r;
	while (r == 0 && answer_next(&answer)) {
		const uint64_t *high = answer_column(&answer, 0);
		const uint64_t *low = answer_column(&answer, 1);
		const uint32_t *stored_s = answer_column(&answer, 2);
		const uint64_t *sender = answer_column(&answer, 3);
		size_t i;

		for (i = 0; i < answer.count && r == 0; i++)
			r = batch_ids_add(
				ids, &(struct batch_id){high[i], low[i], sender[i], stored_s[i]});
	}
	answer_end(&answer);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

int batch_ids_save(const struct batch_id *ids, size_t count, struct database *database,
		   struct duckdb_connection *connection, struct error *err)
{
	struct appender to;
	size_t i;
	int r = appender_open(&to, database, connection, "batches", "UUuU", err);

	if (r < 0)
		return r;
	for (i = 0; i < count; i++) {
		size_t row = appender_row(&to);

		appender_put_u64(&to, 0, row, ids[i].high);
		appender_put_u64(&to, 1, row, ids[i].low);
		appender_put_u32(&to, 2, row, ids[i].stored_s);
		appender_put_u64(&to, 3, row, ids[i].sender);
	}
	return appender_close(&to);
}

/* How many of a sender were seen, from the newest on. */
struct sender_counts {
	VEC(struct {
		uint64_t sender;
		uint32_t count;
	})
	items;
	struct id_index index;
};

/* Counts one more. Returns how many there were before, UINT32_MAX if out of memory. */
static uint32_t count_sender(struct sender_counts *counts, uint64_t sender)
{
	uint64_t hash = hash_pair(sender, 0);
	struct id_probe probe = id_index_probe(&counts->index, hash);
	uint32_t i;

	while ((i = id_probe_next(&counts->index, &probe)) != ID_NONE)
		if (counts->items.items[i].sender == sender)
			return counts->items.items[i].count++;
	if (vec_reserve(&counts->items, counts->items.count + 1) < 0 ||
	    id_index_add(&counts->index, hash, (uint32_t)counts->items.count) < 0)
		return UINT32_MAX;
	counts->items.items[counts->items.count].sender = sender;
	counts->items.items[counts->items.count++].count = 1;
	return 0;
}

static bool is_old(const struct batch_id *id, uint64_t now_s)
{
	uint64_t age_s = id->sender ? BATCH_ID_AGE_S : BATCH_ID_STRANGE_AGE_S;

	return now_s > age_s && id->stored_s < now_s - age_s;
}

/* Marks what is forgotten. Returns how many, or -ENOMEM. */
static int64_t mark(const struct batch_ids *ids, uint64_t now_s, bool *ret_gone)
{
	struct sender_counts counts = {.items = {0}};
	int64_t gone = 0;
	size_t i;

	for (i = ids->items.count; i-- > 0 && gone >= 0;) {
		const struct batch_id *id = &ids->items.items[i];
		uint32_t newer = id->sender ? count_sender(&counts, id->sender) : 0;

		ret_gone[i] = is_old(id, now_s) || newer >= BATCH_IDS_OF_SENDER;
		gone = newer == UINT32_MAX ? -ENOMEM : gone + ret_gone[i];
	}
	vec_fini(&counts.items);
	id_index_fini(&counts.index);
	return gone;
}

/* The same in SQL: rows are in the order in which they came. */
static int prune_table(uint64_t now_s, struct database *database,
		       struct duckdb_connection *connection, struct error *err)
{
	struct bytes sql = {0};
	int r;

	bytes_printf(&sql,
		     "DELETE FROM batches WHERE stored_s < CASE WHEN sender = 0 THEN %" PRIu64
		     " ELSE %" PRIu64 " END OR rowid IN (SELECT id FROM (SELECT rowid AS id, "
		     "row_number() OVER (PARTITION BY sender ORDER BY rowid DESC) AS place "
		     "FROM batches WHERE sender <> 0) WHERE place > %u)",
		     now_s > BATCH_ID_STRANGE_AGE_S ? now_s - BATCH_ID_STRANGE_AGE_S : 0,
		     now_s > BATCH_ID_AGE_S ? now_s - BATCH_ID_AGE_S : 0, BATCH_IDS_OF_SENDER);
	r = database_run_bytes(database, connection, &sql, err);
	bytes_fini(&sql);
	return r;
}

static void drop(struct batch_ids *ids, const bool *gone)
{
	size_t kept = 0;
	size_t i;

	for (i = 0; i < ids->items.count; i++)
		if (!gone[i])
			ids->items.items[kept++] = ids->items.items[i];
	ids->items.count = kept;
	id_index_clear(&ids->index);
	for (i = 0; i < kept; i++) {
		const struct batch_id *id = &ids->items.items[i];

		/* There was room for more. */
		(void)id_index_add(&ids->index, hash_pair(id->high, id->low), (uint32_t)i);
	}
}

int batch_ids_prune(struct batch_ids *ids, uint64_t now_s, struct database *database,
		    struct duckdb_connection *connection, struct error *err)
{
	SCOPED(mem) bool *gone = NULL;
	int64_t count;
	int r;

	/* A clock that was set back begins again. */
	if (now_s >= ids->pruned_s && now_s - ids->pruned_s < PRUNE_EVERY_S)
		return 0;
	ids->pruned_s = now_s;
	gone = calloc(ids->items.count + 1, sizeof(*gone));
	count = gone ? mark(ids, now_s, gone) : -ENOMEM;
	if (count < 0)
		return error_set(err, -ENOMEM, "out of memory");
	if (count == 0)
		return 0;
	/* First on disk: what is forgotten in memory must not come back. */
	r = prune_table(now_s, database, connection, err);
	if (r == 0)
		drop(ids, gone);
	return r;
}
