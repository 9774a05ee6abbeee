/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/cluster/choice.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/cluster/cluster_state.h"

#define HOUR_S 3600u
#define STEP_S 300u
/* A longer list would be more than ClickHouse parses. */
#define KINDS_LISTED_MAX 2000u

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

void choice_put_label(struct bytes *sql, const char *name)
{
	static const char *const columns[] = {"service", "type", "unit", "host", "release"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		if (strcmp(name, columns[i]) == 0) {
			bytes_printf(sql, "%s", name);
			return;
		}
	bytes_printf(sql, "texts[indexOf(names, ");
	clickhouse_put_text(sql, name);
	bytes_printf(sql, ")]");
}

void choice_put_rounded(struct bytes *sql, const char *expression)
{
	bytes_printf(sql, "toInt64(CASE WHEN %s < 0 THEN ceil(%s - 0.5) ELSE floor(%s + 0.5) END)",
		     expression, expression, expression);
}

static void put_match(struct bytes *sql, const struct store_match *match)
{
	bool is_regex = match->kind == MATCH_REGEX || match->kind == MATCH_NOT_REGEX;
	bool is_negative = match->kind == MATCH_NOT_EQUAL || match->kind == MATCH_NOT_REGEX;
	struct bytes whole = {0};

	bytes_printf(sql, " AND %s%s", is_negative ? "NOT " : "", is_regex ? "match(" : "(");
	choice_put_label(sql, match->name);
	bytes_printf(sql, "%s", is_regex ? ", " : " = ");
	if (is_regex)
		bytes_printf(&whole, "\\A(?:%s)\\z", match->value);
	else
		bytes_printf(&whole, "%s", match->value);
	bytes_put_u8(&whole, '\0');
	sql->failed |= whole.failed;
	if (!whole.failed)
		clickhouse_put_text(sql, (const char *)whole.data);
	bytes_put_u8(sql, ')');
	bytes_fini(&whole);
}

static void put_type(const struct choice *choice, struct bytes *sql)
{
	const char *type = choice->selector->type ? choice->selector->type : "cpu";

	bytes_printf(sql, "1");
	if (!*type)
		return;
	bytes_printf(sql, " AND type = ");
	clickhouse_put_text(sql, type);
}

static void put_condition(struct choice *choice)
{
	const struct store_selector *selector = choice->selector;
	size_t i;

	put_type(choice, &choice->condition);
	for (i = 0; i < selector->match_count; i++)
		put_match(&choice->condition, &selector->matches[i]);
	bytes_put_u8(&choice->condition, '\0');
}

static const char *condition_of(const struct choice *choice)
{
	return choice->condition.failed ? "0" : (const char *)choice->condition.data;
}

/* Each service and type with how many series there are, and how many are chosen. */
static void put_kinds(const struct choice *choice, struct bytes *sql)
{
	const struct cluster *cluster = choice->cluster;
	const char *database = cluster->database;

	bytes_printf(sql,
		     "SELECT service, type, kind, any(unit), toUInt8(max(gauge)), count(), "
		     "toUInt64(sum(chosen)), (SELECT max(full_from) FROM %s.limits), "
		     "(SELECT max(merged_from) FROM %s.limits) FROM (SELECT DISTINCT id, service, "
		     "type, kind, unit, gauge, (%s) AS chosen FROM %s.series%s WHERE ",
		     database, database, condition_of(choice), database, cluster->all);
	put_type(choice, sql);
	bytes_printf(sql, ") GROUP BY service, type, kind ORDER BY service, type FORMAT RowBinary");
}

static void copy_text(const char *text, size_t n, char *ret, size_t size)
{
	n = n < size ? n : size - 1;
	memcpy(ret, text, n);
	ret[n] = '\0';
}

static int read_kind(struct choice *choice, struct cursor *cursor)
{
	size_t type_size;
	size_t unit_size;
	size_t size;
	const char *service = clickhouse_take_string(cursor, &size);
	const char *type = clickhouse_take_string(cursor, &type_size);
	uint64_t kind = cursor_u64(cursor);
	const char *unit = clickhouse_take_string(cursor, &unit_size);
	bool is_gauge = cursor_u8(cursor);
	uint64_t count = cursor_u64(cursor);
	uint64_t chosen = cursor_u64(cursor);
	uint32_t full_from = cursor_u32(cursor);
	uint32_t merged_from = cursor_u32(cursor);

	(void)service; /* it is there for the order */
	if (cursor->failed || chosen == 0)
		return 0;
	if (choice->kinds.count == 0) {
		copy_text(type, type_size, choice->type, sizeof(choice->type));
		copy_text(unit, unit_size, choice->unit, sizeof(choice->unit));
	}
	choice->full_from = full_from;
	if (choice->from_s < merged_from)
		choice->from_s = merged_from;
	choice->has_gauges |= is_gauge;
	choice->is_part |= chosen < count;
	return vec_push(&choice->kinds, kind);
}

int choice_ask(struct choice *choice, const struct bytes *sql, struct bytes *ret, struct error *err)
{
	return cluster_ask(choice->cluster, sql, NULL, ret, &choice->missing, err);
}

int choice_init(struct choice *choice, struct cluster *cluster,
		const struct store_selector *selector, struct error *err)
{
	struct bytes sql = {0};
	struct bytes answer = {0};
	struct cursor cursor;
	int r;

	*choice = (struct choice){.cluster = cluster,
				  .selector = selector,
				  .from_s = selector->from_s,
				  .to_s = selector->to_s};
	put_condition(choice);
	put_kinds(choice, &sql);
	r = choice_ask(choice, &sql, &answer, err);
	cursor = cursor_of(answer.data, answer.size);
	while (r == 0 && cursor_left(&cursor) > 0 && !cursor.failed)
		r = read_kind(choice, &cursor) < 0 ? no_memory(err) : 0;
	if (r == 0 && choice->condition.failed)
		r = no_memory(err);
	bytes_fini(&sql);
	bytes_fini(&answer);
	return r;
}

void choice_fini(struct choice *choice)
{
	bytes_fini(&choice->condition);
	vec_fini(&choice->kinds);
	vec_fini(&choice->parts);
}

bool choice_is_empty(const struct choice *choice)
{
	return choice->kinds.count == 0 || choice->from_s >= choice->to_s;
}

/* The condition for rows: those of the chosen series. A shard has the series of its rows. */
static void put_rows_condition(const struct choice *choice, struct bytes *sql)
{
	const char *database = choice->cluster->database;
	size_t i;

	if (choice->kinds.count <= KINDS_LISTED_MAX) {
		bytes_printf(sql, "kind IN (");
		for (i = 0; i < choice->kinds.count; i++)
			bytes_printf(sql, "%s%" PRIu64, i > 0 ? "," : "", choice->kinds.items[i]);
		bytes_put_u8(sql, ')');
	} else {
		bytes_printf(sql, "kind IN (SELECT kind FROM %s.series WHERE %s)", database,
			     condition_of(choice));
	}
	if (choice->is_part)
		bytes_printf(sql, " AND series IN (SELECT id FROM %s.series WHERE %s)", database,
			     condition_of(choice));
}

static int add_part(struct choice *choice, enum row_table_kind table, uint64_t from_s,
		    uint64_t to_s)
{
	struct choice_part part = {table, (uint32_t)from_s, (uint32_t)to_s};

	return from_s < to_s ? vec_push(&choice->parts, part) : 0;
}

/* Rows of 5 minutes in the middle, single ones at both ends if they are still there. */
static int divide_fine(struct choice *choice, uint64_t from_s, uint64_t to_s, uint32_t step_s)
{
	uint64_t first = (from_s + STEP_S - 1) / STEP_S * STEP_S;
	uint64_t last = to_s / STEP_S * STEP_S;
	uint64_t full = choice->full_from;
	int r;

	if (from_s >= to_s)
		return 0;
	if (to_s <= full)
		return add_part(choice, ROWS_5M, from_s, to_s);
	if (from_s < full) {
		r = add_part(choice, ROWS_5M, from_s, full);
		return r < 0 ? r : divide_fine(choice, full, to_s, step_s);
	}
	if (step_s % STEP_S != 0 || first >= last)
		return add_part(choice, ROWS_FULL, from_s, to_s);
	r = add_part(choice, ROWS_FULL, from_s, first);
	if (r == 0)
		r = add_part(choice, ROWS_5M, first, last);
	return r < 0 ? r : add_part(choice, ROWS_FULL, last, to_s);
}

/* Totals keep their times; where rows have lost theirs, they are chosen as those are. */
static uint64_t totals_bound(const struct choice *choice, uint32_t time_s)
{
	uint64_t next = ((uint64_t)time_s + STEP_S - 1) / STEP_S * STEP_S;

	return time_s < choice->full_from ? next : time_s;
}

/* Whole hours from their sums, if all series are wanted and no time within the hour. */
static int divide(struct choice *choice, const struct choice_sums *sums)
{
	uint64_t first = ((uint64_t)choice->from_s + HOUR_S - 1) / HOUR_S * HOUR_S;
	uint64_t last = choice->to_s / HOUR_S * HOUR_S;
	bool by_series = strstr(sums->columns, "series") || choice->is_part;
	int r;

	choice->parts.count = 0;
	if (!sums->by_stack)
		return add_part(choice, ROWS_TOTALS, totals_bound(choice, choice->from_s),
				totals_bound(choice, choice->to_s));
	if (by_series || sums->step_s % HOUR_S != 0 || first >= last)
		return divide_fine(choice, choice->from_s, choice->to_s, sums->step_s);
	r = divide_fine(choice, choice->from_s, first, sums->step_s);
	if (r == 0)
		r = add_part(choice, ROWS_1H, first, last);
	return r < 0 ? r : divide_fine(choice, last, choice->to_s, sums->step_s);
}

void choice_put_time(const struct choice *choice, struct bytes *sql)
{
	if (choice->from_s < choice->full_from)
		bytes_printf(sql,
			     "(CASE WHEN time < %" PRIu32 " THEN time - time %% %u ELSE time END)",
			     choice->full_from, STEP_S);
	else
		bytes_printf(sql, "time");
}

void choice_put_step(const struct choice *choice, struct bytes *sql, uint32_t step_s)
{
	bytes_printf(sql, "toUInt32(");
	choice_put_time(choice, sql);
	bytes_printf(sql, " - ");
	choice_put_time(choice, sql);
	bytes_printf(sql, " %% %" PRIu32 ") AS step", step_s);
}

static void put_columns(const struct choice *choice, struct bytes *sql,
			const struct choice_sums *sums)
{
	const char *step = strstr(sums->columns, "step");

	if (!step) {
		bytes_printf(sql, "%s", sums->columns);
		return;
	}
	bytes_put(sql, sums->columns, (size_t)(step - sums->columns));
	choice_put_step(choice, sql, sums->step_s);
	bytes_printf(sql, "%s", step + strlen("step"));
}

static void put_part(const struct choice *choice, struct bytes *sql, const struct choice_sums *sums,
		     const struct choice_part *part)
{
	const struct cluster *cluster = choice->cluster;

	bytes_printf(sql, "SELECT ");
	put_columns(choice, sql, sums);
	bytes_printf(sql,
		     ", sum(samples) AS ps, sum(value) AS pv FROM %s.%s%s WHERE time >= %" PRIu32
		     " AND time < %" PRIu32 " AND ",
		     cluster->database, row_tables[part->table].name, cluster->all, part->from_s,
		     part->to_s);
	put_rows_condition(choice, sql);
	if (sums->condition)
		bytes_printf(sql, " AND %s", sums->condition);
	bytes_printf(sql, " GROUP BY %s", sums->columns);
}

int choice_put_sums(struct choice *choice, struct bytes *sql, const struct choice_sums *sums,
		    struct error *err)
{
	size_t i;

	if (divide(choice, sums) < 0)
		return no_memory(err);
	bytes_printf(sql, "SELECT %s, sum(ps) AS s, sum(pv) AS v FROM (", sums->columns);
	for (i = 0; i < choice->parts.count; i++) {
		if (i > 0)
			bytes_printf(sql, " UNION ALL ");
		put_part(choice, sql, sums, &choice->parts.items[i]);
	}
	bytes_printf(sql, ") GROUP BY %s", sums->columns);
	return 0;
}

void choice_put_totals(const struct choice *choice, struct bytes *sql)
{
	const struct cluster *cluster = choice->cluster;

	bytes_printf(sql, "FROM %s.%s%s WHERE time >= %" PRIu64 " AND time < %" PRIu64 " AND ",
		     cluster->database, row_tables[ROWS_TOTALS].name, cluster->all,
		     totals_bound(choice, choice->from_s), totals_bound(choice, choice->to_s));
	put_rows_condition(choice, sql);
}

void choice_put_series(const struct choice *choice, struct bytes *sql, const char *label)
{
	const struct cluster *cluster = choice->cluster;

	bytes_printf(sql, "SELECT DISTINCT id AS series, ");
	if (label)
		choice_put_label(sql, label);
	else
		bytes_printf(sql, "''");
	bytes_printf(sql, " AS label, gauge, unit AS its_unit FROM %s.series%s WHERE %s",
		     cluster->database, cluster->all, condition_of(choice));
}
