/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/scope.h"
#include "base/text.h"
#include "model/entity.h"
#include "store/database.h"
#include "store/names.h"
#include "store/store.h"

/* Between the parts of a key. Texts have no control characters. */
#define SEPARATOR '\x1f'
#define OTHER "other"
/* service, type, unit, gauge, host, release; then names and values of labels */
#define FIXED_PARTS 6
#define PARTS_MAX (FIXED_PARTS + 2 * LABELS_MAX)
#define LABELS_COLUMN (1 + FIXED_PARTS)

const char series_table_sql[] =
	"CREATE TABLE IF NOT EXISTS series (id UINTEGER, service VARCHAR, type VARCHAR, "
	"unit VARCHAR, gauge BOOLEAN, host VARCHAR, release VARCHAR, "
	"labels MAP(VARCHAR, VARCHAR));";

int series_table_init(struct series_table *table, uint32_t max)
{
	*table = (struct series_table){.max = max, .saved = 1};
	return strings_init(&table->keys) < 0 || strings_init(&table->services) < 0 ? -ENOMEM : 0;
}

void series_table_fini(struct series_table *table)
{
	strings_fini(&table->keys);
	strings_fini(&table->services);
	vec_fini(&table->counts);
	bytes_fini(&table->key);
	*table = (struct series_table){0};
}

static int compare_labels(const void *a, const void *b)
{
	const struct store_label *first = a;
	const struct store_label *second = b;
	int order = strcmp(first->name, second->name);

	return order ? order : strcmp(first->value, second->value);
}

static void put_part(struct bytes *key, const char *text)
{
	text_put_plain(key, text);
	bytes_put_u8(key, SEPARATOR);
}

/* The text that stands for a series. Of two labels with the same name the first counts. */
static void make_key(struct bytes *key, const struct store_series *series)
{
	struct store_label labels[LABELS_MAX];
	size_t count = series->label_count < LABELS_MAX ? series->label_count : LABELS_MAX;
	size_t i;

	bytes_clear(key);
	put_part(key, series->service);
	put_part(key, series->type);
	put_part(key, series->unit);
	put_part(key, series->is_gauge ? "g" : "");
	put_part(key, series->host);
	put_part(key, series->release);
	if (count > 0) {
		memcpy(labels, series->labels, count * sizeof(*labels));
		qsort(labels, count, sizeof(*labels), compare_labels);
	}
	for (i = 0; i < count; i++) {
		if (i > 0 && strcmp(labels[i].name, labels[i - 1].name) == 0)
			continue;
		put_part(key, labels[i].name);
		put_part(key, labels[i].value);
	}
	bytes_put_u8(key, 0);
}

/* Counts a series for its service, which is the first part of the key. Returns the new number. */
static int count_series(struct series_table *table, const char *key, uint32_t add, uint32_t *ret)
{
	uint32_t service = strings_add_n(&table->services, key, strcspn(key, "\x1f"));

	if (service == ID_NONE)
		return -ENOMEM;
	while (table->counts.count <= service)
		if (vec_push(&table->counts, 0) < 0)
			return -ENOMEM;
	table->counts.items[service] += add;
	*ret = table->counts.items[service];
	return 0;
}

static int add_key(struct series_table *table, const char *key, uint32_t *ret)
{
	uint32_t count;

	*ret = strings_add(&table->keys, key);
	return *ret == ID_NONE ? -ENOMEM : count_series(table, key, 1, &count);
}

int series_table_add_key(struct series_table *table, const char *key)
{
	uint32_t id;

	return strings_find(&table->keys, key) != ID_NONE ? 0 : add_key(table, key, &id);
}

/*
 * Adds the key of a series if it is known, or if its service has fewer than limit. Returns 0, 1 if
 * there are too many, or -ENOMEM.
 */
static int try_key(struct series_table *table, const struct store_series *series, uint64_t limit,
		   uint32_t *ret)
{
	const char *key;
	uint32_t count;

	make_key(&table->key, series);
	if (table->key.failed)
		return -ENOMEM;
	key = (const char *)table->key.data;
	*ret = strings_find(&table->keys, key);
	if (*ret != ID_NONE)
		return 0;
	if (count_series(table, key, 0, &count) < 0)
		return -ENOMEM;
	return count >= limit ? 1 : add_key(table, key, ret);
}

uint32_t series_table_find(struct series_table *table, const struct store_series *series)
{
	make_key(&table->key, series);
	return table->key.failed ? ID_NONE
				 : strings_find(&table->keys, (const char *)table->key.data);
}

int series_table_add(struct series_table *table, const struct store_series *series, uint32_t *ret,
		     struct error *err)
{
	static const struct store_label other = {OTHER, OTHER};
	struct store_series merged = *series;
	int r = try_key(table, series, table->max, ret);

	if (r == 1) {
		table->overflowed++;
		merged.labels = &other;
		merged.label_count = 1;
		r = try_key(table, &merged, 2ull * table->max, ret);
	}
	if (r == 1) {
		merged.host = merged.release = OTHER;
		r = try_key(table, &merged, 3ull * table->max, ret);
	}
	if (r == 1) {
		r = error_set(err, -E2BIG, "service %.100s has too many types of profiles",
			      series->service);
		error_remedy(err, "send fewer types of profiles");
	} else if (r < 0) {
		r = error_set(err, r, "out of memory");
	}
	return r;
}

/* Splits a key. Returns the number of parts. */
static size_t split_parts(char *key, const char **parts)
{
	size_t count = 0;

	while (*key && count < PARTS_MAX) {
		char *end = strchr(key, SEPARATOR);

		if (!end)
			break;
		*end = '\0';
		parts[count++] = key;
		key = end + 1;
	}
	return count;
}

int series_split_key(char *key, struct series_parts *ret)
{
	const char *parts[PARTS_MAX];
	size_t count = split_parts(key, parts);
	size_t i;

	if (count < FIXED_PARTS)
		return -EINVAL;
	*ret = (struct series_parts){.service = parts[0],
				     .type = parts[1],
				     .unit = parts[2],
				     .is_gauge = *parts[3] != '\0',
				     .host = parts[4],
				     .release = parts[5]};
	for (i = FIXED_PARTS; i + 1 < count; i += 2)
		ret->labels[ret->label_count++] = (struct store_label){parts[i], parts[i + 1]};
	return 0;
}

static int put_row(struct appender *to, struct bytes *text, uint32_t id, const char *key)
{
	SCOPED(mem) char *copy = strdup(key);
	struct series_parts parts;
	size_t row = appender_row(to);
	size_t i;
	int r;

	if (!copy)
		return -ENOMEM;
	r = series_split_key(copy, &parts);
	if (r < 0)
		return r;
	appender_put_u32(to, 0, row, id);
	appender_put_text(to, 1, row, names_clean(text, parts.service));
	appender_put_text(to, 2, row, names_clean(text, parts.type));
	appender_put_text(to, 3, row, names_clean(text, parts.unit));
	appender_put_bool(to, 4, row, parts.is_gauge);
	appender_put_text(to, 5, row, names_clean(text, parts.host));
	appender_put_text(to, 6, row, names_clean(text, parts.release));
	appender_begin_map(to, LABELS_COLUMN, row);
	for (i = 0; i < parts.label_count; i++)
		appender_put_pair(to, LABELS_COLUMN, row,
				  names_clean(&text[0], parts.labels[i].name),
				  names_clean(&text[1], parts.labels[i].value));
	return 0;
}

int series_table_save(struct series_table *table, struct database *database,
		      struct duckdb_connection *connection, struct error *err)
{
	struct bytes texts[2] = {{0}}; /* scratch for a label */
	struct appender to;
	size_t i;
	int r = 0;

	if (table->saved == table->keys.entries.count)
		return 0;
	/* Not with SQL: planning an insert with maps takes milliseconds. */
	r = appender_open(&to, database, connection, "series", "utttbttm", err);
	if (r < 0)
		return r;
	for (i = table->saved; i < table->keys.entries.count && r == 0; i++)
		r = put_row(&to, texts, (uint32_t)i, strings_get(&table->keys, (uint32_t)i));
	if (r < 0)
		to.result = error_errno(err, r, "cannot save the labels of series %zu", i);
	r = appender_close(&to);
	bytes_fini(&texts[0]);
	bytes_fini(&texts[1]);
	return r;
}

void series_table_saved(struct series_table *table)
{
	table->saved = table->keys.entries.count;
}

/* Each row is an id and its key. */
static int read_keys(struct series_table *table, const struct answer *answer)
{
	const uint32_t *id = answer_column(answer, 0);
	size_t i;

	for (i = 0; i < answer->count; i++) {
		const char *text;
		size_t n = answer_text(answer, 1, i, &text);
		uint32_t got;

		bytes_clear(&table->key);
		bytes_put(&table->key, text, n);
		bytes_put_u8(&table->key, 0);
		if (table->key.failed || add_key(table, (const char *)table->key.data, &got) < 0)
			return -ENOMEM;
		if (got != id[i])
			return -EBADMSG;
	}
	return 0;
}

int series_table_load(struct series_table *table, struct database *database,
		      struct duckdb_connection *connection, struct error *err)
{
	struct bytes sql = {0};
	struct answer answer;
	int r;

	/* Rows are joined with it, so none may be there twice (names_tables.c says how it can). */
	r = database_run(database, connection,
			 "DELETE FROM series WHERE rowid NOT IN "
			 "(SELECT min(rowid) FROM series GROUP BY id)",
			 err);
	if (r < 0)
		return r;
	bytes_printf(&sql,
		     "SELECT id, concat_ws(chr(31), service, type, unit, "
		     "CASE WHEN gauge THEN 'g' ELSE '' END, host, release, '') || "
		     "coalesce(list_aggregate(list_transform(map_entries(labels), "
		     "lambda e: e.key || chr(31) || e.value || chr(31)), 'string_agg', ''), '') "
		     "FROM series ORDER BY id");
	r = database_query(database, connection, &sql, &answer, err);
	bytes_fini(&sql);
	if (r < 0)
		return r;
	while (r == 0 && answer_next(&answer))
		r = read_keys(table, &answer);
	answer_end(&answer);
	if (r < 0) {
		(void)error_set(err, r, "the table %s of the store is not complete", "series");
		error_remedy(err, "restore store.duckdb from a backup, or start with a new folder");
		return r;
	}
	series_table_saved(table);
	return 0;
}
