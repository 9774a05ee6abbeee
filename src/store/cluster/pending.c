/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/cluster/pending.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/error.h"
#include "base/scope.h"
#include "model/profile.h"
#include "store/cluster/cluster_state.h"
#include "store/cluster/stack_ids.h"
#include "store/names.h"

#define HOUR_S 3600u
/* The memory of what was sent is emptied above this. */
#define KNOWN_MAX (4u << 20)

/* A batch while it is prepared. */
struct preparing {
	struct cluster *cluster;
	struct pending *pending;
	struct stack_ids ids;
	uint64_t *series; /* ids by those of the batch */
	uint64_t *kinds;
	uint32_t hours[PENDING_HOURS_MAX];
	size_t hour_count;
	struct bytes text;
	struct error *err;
};

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

static int refuse(struct error *err, const char *what)
{
	(void)error_set(err, -EINVAL, "the batch is invalid: %s", what);
	error_remedy(err, "update the program that sent it");
	return -EINVAL;
}

static int find_hour(struct preparing *preparing, uint32_t hour)
{
	struct pending *pending = preparing->pending;
	uint32_t day = hour / (DAY_S / HOUR_S);
	size_t i;

	for (i = 0; i < preparing->hour_count; i++)
		if (preparing->hours[i] == hour)
			return 0;
	if (preparing->hour_count == PENDING_HOURS_MAX)
		return refuse(preparing->err, "its times span more than 48 hours");
	preparing->hours[preparing->hour_count++] = hour;
	for (i = 0; i < pending->day_count; i++)
		if (pending->days[i] == day)
			return 0;
	pending->days[pending->day_count++] = day;
	return 0;
}

/* Checks the rows, and marks the stacks, hours and days that they have. */
static int check_rows(struct preparing *preparing, uint8_t *wanted)
{
	const struct store_batch *batch = preparing->pending->batch;
	uint32_t hour = UINT32_MAX;
	size_t i;
	int r = 0;

	for (i = 0; i < batch->row_count && r == 0; i++) {
		const struct store_row *row = &batch->rows[i];

		if (row->series >= batch->series_count)
			return refuse(preparing->err, "a row has no series");
		if (row->stack >= batch->profile->stacks.nodes.count)
			return refuse(preparing->err, "a row has no stack");
		wanted[row->stack] = 1;
		if (row->time_s / HOUR_S == hour)
			continue;
		hour = row->time_s / HOUR_S;
		r = find_hour(preparing, hour);
	}
	return r;
}

/*
 * Whether the shard was sent this already; if not, it is noted for when it has. What is known under
 * one part of time may be new in another.
 */
static bool is_known(struct preparing *preparing, uint64_t id, uint32_t part)
{
	struct pending *pending = preparing->pending;
	struct cluster *cluster = preparing->cluster;
	uint64_t key[2] = {id, (uint64_t)pending->shard << 32 | part};
	uint64_t hash = XXH3_64bits(key, sizeof(key));
	bool known;

	(void)pthread_mutex_lock(&cluster->known_lock); /* never fails: not held by us */
	known = id_map_find(&cluster->known, hash) != ID_NONE;
	(void)pthread_mutex_unlock(&cluster->known_lock);
	/* Without memory it is sent again, which does no harm. */
	if (!known)
		(void)vec_push(&pending->known, hash);
	return known;
}

void pending_note_known(const struct pending *pending, struct cluster *cluster)
{
	size_t i;

	(void)pthread_mutex_lock(&cluster->known_lock); /* never fails: not held by us */
	if (cluster->known.ids.count > KNOWN_MAX)
		id_map_clear(&cluster->known);
	for (i = 0; i < pending->known.count; i++)
		(void)id_map_add(&cluster->known, pending->known.items[i]); /* as above */
	(void)pthread_mutex_unlock(&cluster->known_lock);
}

static void put_labels(struct bytes *row, const struct series_parts *parts)
{
	size_t i;

	bytes_put_varint(row, parts->label_count);
	for (i = 0; i < parts->label_count; i++)
		clickhouse_put_string(row, parts->labels[i].name);
	bytes_put_varint(row, parts->label_count);
	for (i = 0; i < parts->label_count; i++)
		clickhouse_put_string(row, parts->labels[i].value);
}

/* The key that a series is stored with: it may have fewer labels. The caller frees *ret. */
static int find_key(struct preparing *preparing, const struct store_series *series, char **ret)
{
	struct cluster *cluster = preparing->cluster;
	uint32_t number;
	int r;

	(void)pthread_mutex_lock(&cluster->series_lock); /* never fails: not held by us */
	r = series_table_add(&cluster->series, series, &number, preparing->err);
	if (r == 0) {
		*ret = strdup(strings_get(&cluster->series.keys, number));
		r = *ret ? 0 : no_memory(preparing->err);
	}
	(void)pthread_mutex_unlock(&cluster->series_lock);
	return r;
}

static int settle_series(struct preparing *preparing, size_t number)
{
	struct bytes *row = &preparing->pending->names[NAMES_SERIES];
	const struct store_series *series = &preparing->pending->batch->series[number];
	SCOPED(mem) char *key = NULL;
	struct series_parts parts;
	struct bytes start = {0};
	uint64_t id;
	int r = find_key(preparing, series, &key);

	if (r < 0)
		return r;
	id = cluster_series_id(key);
	bytes_put_u64(&start, id);
	clickhouse_put_string(&start, key);
	r = series_split_key(key, &parts) < 0 || start.failed ? no_memory(preparing->err) : 0;
	if (r == 0) {
		preparing->series[number] = id;
		preparing->kinds[number] = cluster_kind_id(parts.service, parts.type);
		if (!is_known(preparing, id, 0)) {
			bytes_put(row, start.data, start.size);
			bytes_put_u64(row, preparing->kinds[number]);
			clickhouse_put_string(row, parts.service);
			clickhouse_put_string(row, parts.type);
			clickhouse_put_string(row, parts.unit);
			bytes_put_u8(row, parts.is_gauge);
			clickhouse_put_string(row, parts.host);
			clickhouse_put_string(row, parts.release);
			put_labels(row, &parts);
		}
	}
	bytes_fini(&start);
	return r;
}

static int put_location(struct preparing *preparing, uint32_t number)
{
	struct pending *pending = preparing->pending;
	const struct profile *profile = pending->batch->profile;
	const struct profile_location *location = &profile->locations.items[number];
	uint64_t id = preparing->ids.locations[number];
	struct bytes *row = &pending->names[NAMES_LOCATIONS];
	struct bytes *call = &pending->names[NAMES_FUNCTIONS];
	bool is_named;
	uint32_t i;

	if (is_known(preparing, id, 1))
		return 0;
	if (stack_ids_location(&preparing->ids, number, &is_named) < 0)
		return -ENOMEM;
	bytes_put_u64(row, id);
	bytes_put_u64(row, is_named); /* the version */
	bytes_put(row, preparing->ids.row.data, preparing->ids.row.size);
	for (i = 0; i < location->line_count; i++) {
		const struct profile_line *line = &profile->lines.items[location->first_line + i];
		const char *name =
			profile_text(profile, profile->functions.items[line->function].name);

		clickhouse_put_string(call, names_clean(&preparing->text, name));
		bytes_put_u64(call, id);
	}
	return 0;
}

/* The frames of a stack, root first. */
static void put_frames(struct preparing *preparing, uint32_t stack)
{
	const struct stack_tree *stacks = &preparing->pending->batch->profile->stacks;
	struct bytes *row = &preparing->pending->names[NAMES_STACKS];
	uint32_t depth = stack_tree_depth(stacks, stack);
	uint8_t *place;

	bytes_put_varint(row, depth);
	place = bytes_reserve(row, 8 * (size_t)depth);
	if (!place)
		return;
	row->size += 8 * (size_t)depth;
	for (place += 8 * (size_t)depth; stack != 0; stack = stacks->nodes.items[stack].parent) {
		uint64_t id = preparing->ids.locations[stacks->nodes.items[stack].frame];

		place -= sizeof(id);
		memcpy(place, &id, sizeof(id)); /* both CPUs are little-endian, as is RowBinary */
	}
}

/* A stack is written in each week in which rows have it: names are removed by weeks. */
static void put_stack(struct preparing *preparing, uint32_t stack, uint32_t week)
{
	struct bytes *row = &preparing->pending->names[NAMES_STACKS];

	if (stack == 0 || is_known(preparing, preparing->ids.stacks[stack], 2 + week))
		return;
	bytes_put_u32(row, week);
	bytes_put_u64(row, preparing->ids.stacks[stack]);
	put_frames(preparing, stack);
}

static void put_row(struct preparing *preparing, uint64_t kind, uint64_t series,
		    const struct store_row *row)
{
	struct pending *pending = preparing->pending;
	struct bytes *rows = &pending->rows;

	bytes_put_u64(rows, pending->high);
	bytes_put_u64(rows, pending->low);
	bytes_put_u64(rows, kind);
	bytes_put_u64(rows, series);
	bytes_put_u32(rows, row->time_s);
	bytes_put_u64(rows, preparing->ids.stacks[row->stack]);
	bytes_put_u64(rows, row->samples < UINT32_MAX ? row->samples : UINT32_MAX);
	bytes_put_u64(rows, (uint64_t)row->value);
}

/* That all rows of a day are there: they are inserted together with it (cluster_append.c). */
static void put_mark(struct pending *pending, uint32_t day)
{
	struct bytes *rows = &pending->rows;

	bytes_put_u64(rows, pending->high);
	bytes_put_u64(rows, pending->low);
	bytes_put_u64(rows, 0);
	bytes_put_u64(rows, pending->low);
	bytes_put_u32(rows, day * DAY_S);
	bytes_put_u64(rows, pending->high);
	bytes_put_u64(rows, 1); /* a row of zeros would be removed */
	bytes_put_u64(rows, 0);
}

static int put_rows(struct preparing *preparing)
{
	struct pending *pending = preparing->pending;
	const struct store_batch *batch = pending->batch;
	const struct stack_tree *stacks = &batch->profile->stacks;
	size_t i;
	int r = 0;

	for (i = 1; i < stacks->nodes.count && r == 0; i++)
		if (preparing->ids.needed[i])
			r = put_location(preparing, stacks->nodes.items[i].frame);
	for (i = 0; i < batch->row_count && r == 0; i++) {
		const struct store_row *row = &batch->rows[i];

		put_stack(preparing, row->stack, row->time_s / WEEK_S);
		put_row(preparing, preparing->kinds[row->series], preparing->series[row->series],
			row);
	}
	for (i = 0; i < pending->day_count; i++)
		put_mark(pending, pending->days[i]);
	return r;
}

static void put_gaps(struct preparing *preparing)
{
	const struct store_batch *batch = preparing->pending->batch;
	struct bytes *row = &preparing->pending->names[NAMES_GAPS];
	size_t i;

	for (i = 0; i < batch->gap_count; i++) {
		clickhouse_put_string(row, names_clean(&preparing->text, batch->gaps[i].host));
		bytes_put_u32(row, batch->gaps[i].from_s);
		bytes_put_u32(row, batch->gaps[i].to_s);
		clickhouse_put_string(row, names_clean(&preparing->text, batch->gaps[i].reason));
	}
}

static int prepare(struct preparing *preparing)
{
	const struct store_batch *batch = preparing->pending->batch;
	size_t nodes = batch->profile ? batch->profile->stacks.nodes.count : 0;
	SCOPED(mem) uint8_t *wanted = calloc(nodes + 1, 1);
	size_t i;
	int r;

	if (!wanted)
		return no_memory(preparing->err);
	r = check_rows(preparing, wanted);
	for (i = 0; i < batch->series_count && r == 0; i++)
		r = settle_series(preparing, i);
	if (r < 0)
		return r;
	if (batch->row_count > 0) {
		r = stack_ids_init(&preparing->ids, batch->profile, wanted);
		if (r == 0)
			r = put_rows(preparing);
	}
	put_gaps(preparing);
	return r < 0 ? no_memory(preparing->err) : 0;
}

static void set_id(struct pending *pending, const struct cluster *cluster)
{
	const struct store_batch *batch = pending->batch;
	XXH128_hash_t hash = XXH3_128bits(batch->id, strlen(batch->id));
	uint64_t place;

	pending->high = hash.high64;
	pending->low = hash.low64;
	if (batch->sender)
		pending->sender = XXH3_64bits(batch->sender, strlen(batch->sender));
	place = batch->sender ? pending->sender : hash.low64;
	pending->shard = place % cluster->shard_count;
	pending->lane = place / cluster->shard_count % LANES;
}

int pending_init(struct pending *pending, struct cluster *cluster, const struct store_batch *batch,
		 struct error *err)
{
	struct preparing preparing = {.cluster = cluster, .pending = pending, .err = err};
	size_t i;
	int r = -ENOMEM;

	*pending = (struct pending){.batch = batch, .err = err};
	if (batch->row_count > 0 && !batch->profile)
		return refuse(err, "its rows have no profile");
	set_id(pending, cluster);
	preparing.series = calloc(batch->series_count + 1, sizeof(*preparing.series));
	preparing.kinds = calloc(batch->series_count + 1, sizeof(*preparing.kinds));
	if (preparing.series && preparing.kinds)
		r = prepare(&preparing);
	for (i = 0; i < NAME_TABLES && r == 0; i++)
		if (pending->names[i].failed)
			r = no_memory(err);
	if (r == 0 && (pending->rows.failed || preparing.text.failed))
		r = no_memory(err);
	stack_ids_fini(&preparing.ids);
	bytes_fini(&preparing.text);
	free(preparing.series);
	free(preparing.kinds);
	return r;
}

void pending_fini(struct pending *pending)
{
	size_t i;

	for (i = 0; i < NAME_TABLES; i++)
		bytes_fini(&pending->names[i]);
	vec_fini(&pending->known);
	bytes_fini(&pending->rows);
}
