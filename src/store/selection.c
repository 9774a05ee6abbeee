/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/selection.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/store_state.h"

void selection_put_label(struct bytes *sql, const char *name)
{
	static const char *const columns[] = {"service", "type", "unit", "host", "release"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		if (strcmp(name, columns[i]) == 0) {
			bytes_printf(sql, "%s", name);
			return;
		}
	bytes_printf(sql, "coalesce(map_extract_value(labels, ");
	sql_put_text(sql, name);
	bytes_printf(sql, "), '')");
}

static void put_match(struct bytes *sql, const struct store_match *match)
{
	bool is_regex = match->kind == MATCH_REGEX || match->kind == MATCH_NOT_REGEX;
	bool is_negative = match->kind == MATCH_NOT_EQUAL || match->kind == MATCH_NOT_REGEX;

	bytes_printf(sql, " AND %s%s", is_negative ? "NOT " : "",
		     is_regex ? "regexp_full_match(" : "(");
	selection_put_label(sql, match->name);
	bytes_printf(sql, "%s", is_regex ? ", " : " = ");
	sql_put_text(sql, match->value);
	bytes_put_u8(sql, ')');
}

/*
 * All series of the type, service by service, and whether each is chosen; and whether there are
 * other types.
 */
static void put_choice(struct bytes *sql, const struct store_selector *selector)
{
	const char *type = selector->type ? selector->type : "cpu";
	size_t i;

	bytes_printf(sql, "SELECT id, service, type, unit, gauge, true");
	for (i = 0; i < selector->match_count; i++)
		put_match(sql, &selector->matches[i]);
	bytes_printf(sql, ", (SELECT count(DISTINCT type) > 1 FROM series) FROM series");
	if (*type) {
		bytes_printf(sql, " WHERE type = ");
		sql_put_text(sql, type);
	}
	bytes_printf(sql, " ORDER BY service, type");
}

static void add_to_list(struct bytes *list, const char *text)
{
	if (list->size > 0)
		bytes_put_u8(list, ',');
	sql_put_text(list, text);
}

/* The service and type of the rows that are read now. */
struct group {
	struct bytes service;
	struct bytes type;
	bool is_chosen;
	size_t left_out; /* where those of this group begin */
};

static void end_group(struct selection *selection, struct group *group)
{
	const char *service = (const char *)group->service.data;
	const char *type = (const char *)group->type.data;

	if (group->is_chosen) {
		/* Neighbours are sorted by service; a type may be listed again, which is fine. */
		add_to_list(&selection->services, service);
		add_to_list(&selection->types, type);
		if (!selection->type[0])
			(void)snprintf(selection->type, sizeof(selection->type), "%s", type);
	} else {
		selection->left_out.count = group->left_out;
	}
	group->is_chosen = false;
	group->left_out = selection->left_out.count;
}

static bool is_same(const struct bytes *text, const struct answer *answer, unsigned int column,
		    size_t row)
{
	const char *other;
	size_t n = answer_text(answer, column, row, &other);

	return text->size == n + 1 && memcmp(text->data, other, n) == 0;
}

static void set_text(struct bytes *text, const struct answer *answer, unsigned int column,
		     size_t row)
{
	const char *other;
	size_t n = answer_text(answer, column, row, &other);

	bytes_clear(text);
	bytes_put(text, other, n);
	bytes_put_u8(text, 0);
}

static int choose(struct selection *selection, struct group *group, const struct answer *answer,
		  size_t row)
{
	const char *unit;
	size_t n;

	if (!is_same(&group->service, answer, 1, row) || !is_same(&group->type, answer, 2, row)) {
		end_group(selection, group);
		set_text(&group->service, answer, 1, row);
		set_text(&group->type, answer, 2, row);
	}
	if (!((const bool *)answer_column(answer, 5))[row])
		return vec_push(&selection->left_out,
				((const uint32_t *)answer_column(answer, 0))[row]);
	group->is_chosen = true;
	selection->has_gauges |= ((const bool *)answer_column(answer, 4))[row];
	selection->has_types |= ((const bool *)answer_column(answer, 6))[row];
	if (selection->series.count == 0) {
		n = answer_text(answer, 3, row, &unit);
		(void)snprintf(selection->unit, sizeof(selection->unit), "%.*s", (int)n, unit);
	}
	return vec_push(&selection->series, ((const uint32_t *)answer_column(answer, 0))[row]);
}

static int read_choice(struct selection *selection, struct error *err)
{
	struct group group = {0};
	struct answer answer;
	struct bytes sql = {0};
	int r;

	put_choice(&sql, selection->selector);
	r = database_query(&selection->store->database, selection->connection, &sql, &answer, err);
	bytes_fini(&sql);
	if (r < 0)
		return r;
	while (r == 0 && answer_next(&answer)) {
		size_t i;

		for (i = 0; i < answer.count && r == 0; i++)
			r = choose(selection, &group, &answer, i);
	}
	answer_end(&answer);
	end_group(selection, &group);
	/* Of several types, a service may have one that is chosen only for another service. */
	selection->is_part = selection->left_out.count > 0 ||
			     (selection->selector->type && !*selection->selector->type);
	if (r < 0 || group.service.failed || group.type.failed)
		r = error_set(err, -ENOMEM, "out of memory");
	bytes_fini(&group.service);
	bytes_fini(&group.type);
	return r;
}

int selection_begin(struct selection *selection, struct embedded *store,
		    const struct store_selector *selector, struct error *err)
{
	int r;

	*selection = (struct selection){.store = store, .selector = selector};
	(void)pthread_rwlock_rdlock(&store->database_lock); /* never fails: not held by us */
	(void)pthread_rwlock_rdlock(&store->files_lock);    /* likewise */
	r = database_connect(&store->database, &selection->connection, err);
	if (r == 0)
		r = read_choice(selection, err);
	if (r < 0)
		selection_end(selection);
	return r;
}

void selection_end(struct selection *selection)
{
	database_disconnect(&selection->store->database, &selection->connection);
	(void)pthread_rwlock_unlock(&selection->store->files_lock);
	(void)pthread_rwlock_unlock(&selection->store->database_lock);
	vec_fini(&selection->series);
	vec_fini(&selection->left_out);
	bytes_fini(&selection->services);
	bytes_fini(&selection->types);
}

void selection_put_series(const struct selection *selection, struct bytes *sql)
{
	size_t i;

	if (selection->series.count == 1) {
		bytes_printf(sql, "series = %" PRIu32, selection->series.items[0]);
		return;
	}
	bytes_printf(sql, "series IN (");
	for (i = 0; i < selection->series.count; i++)
		bytes_printf(sql, "%s%" PRIu32, i > 0 ? "," : "", selection->series.items[i]);
	bytes_put_u8(sql, ')');
}

bool selection_has_hour(const struct selection *selection, uint32_t hour_s)
{
	return selection->selector->from_s <= hour_s &&
	       (uint64_t)hour_s + HOUR_S <= selection->selector->to_s;
}

static bool touches_hour(const struct selection *selection, uint32_t hour_s)
{
	return selection->selector->from_s < (uint64_t)hour_s + HOUR_S &&
	       hour_s < selection->selector->to_s;
}

static void put_times(const struct selection *selection, struct bytes *sql)
{
	bytes_printf(sql, " AND time >= %" PRIu32 " AND time < %" PRIu32,
		     selection->selector->from_s, selection->selector->to_s);
}

static void put_hot(struct selection *selection, struct bytes *sql, const char *columns,
		    const char *condition)
{
	const struct row_files *files = &selection->store->files;
	char name[HOT_NAME_MAX];
	size_t i;

	for (i = 0; i < files->hot.count; i++) {
		const struct hot_table *table = &files->hot.items[i];

		if (!touches_hour(selection, table->hour_s))
			continue;
		hot_table_name(table, name, sizeof(name));
		bytes_printf(sql, " UNION ALL SELECT %s FROM %s WHERE ", columns, name);
		selection_put_series(selection, sql);
		if (!selection_has_hour(selection, table->hour_s))
			put_times(selection, sql);
		if (condition)
			bytes_printf(sql, " AND %s", condition);
	}
}

/*
 * Appends the condition for series in files, where those of other services are excluded already. A
 * range is faster than a list; the series of a release often are one, because they begin together.
 */
static void put_file_series(const struct selection *selection, struct bytes *sql)
{
	uint32_t first = UINT32_MAX;
	uint32_t last = 0;
	bool is_range = selection->left_out.count > 0;
	size_t i;

	for (i = 0; i < selection->series.count; i++) {
		first = selection->series.items[i] < first ? selection->series.items[i] : first;
		last = selection->series.items[i] > last ? selection->series.items[i] : last;
	}
	for (i = 0; i < selection->left_out.count; i++)
		is_range &=
			selection->left_out.items[i] < first || selection->left_out.items[i] > last;
	if (is_range && (!selection->selector->type || *selection->selector->type))
		bytes_printf(sql, "series >= %" PRIu32 " AND series <= %" PRIu32, first, last);
	else
		selection_put_series(selection, sql);
}

/*
 * The conditions by which most of a file is skipped unread come first. One that all rows meet costs
 * a seventh of a question about a day.
 */
static void put_file_conditions(const struct selection *selection, struct bytes *sql,
				const char *condition)
{
	bytes_printf(sql, " WHERE service IN (");
	bytes_put(sql, selection->services.data, selection->services.size);
	bytes_printf(sql, ")");
	if (selection->has_types) {
		bytes_printf(sql, " AND type IN (");
		bytes_put(sql, selection->types.data, selection->types.size);
		bytes_printf(sql, ")");
	}
	if (selection->is_part) {
		bytes_printf(sql, " AND ");
		put_file_series(selection, sql);
	}
	if (condition)
		bytes_printf(sql, " AND %s", condition);
}

/* The files of which all hours are asked for, or those of which only a part is. */
static void put_files(struct selection *selection, struct bytes *sql, const char *columns,
		      const char *condition, bool is_whole)
{
	const struct row_files *files = &selection->store->files;
	size_t count = 0;
	size_t i;

	for (i = 0; i < files->files.count; i++) {
		struct row_file *file = files->files.items[i];

		if (!touches_hour(selection, file->hour_s) ||
		    selection_has_hour(selection, file->hour_s) != is_whole)
			continue;
		if (!row_file_check(files, file)) {
			selection->damaged++;
			continue;
		}
		if (count++ == 0)
			bytes_printf(sql, " UNION ALL SELECT %s FROM " ROW_FILES_READ, columns);
		else
			bytes_put_u8(sql, ',');
		row_files_put_path(files, sql, file->path);
	}
	if (count == 0)
		return;
	bytes_printf(sql, ROW_FILES_READ_END);
	put_file_conditions(selection, sql, condition);
	if (!is_whole)
		put_times(selection, sql);
}

void selection_put_rows(struct selection *selection, struct bytes *sql, const char *columns,
			const char *condition, enum selection_rows which)
{
	/* What begins the list has the right types and no rows. */
	bytes_printf(sql,
		     "SELECT %s FROM (SELECT 0::UINTEGER AS series, 0::UINTEGER AS time, "
		     "0::UINTEGER AS stack, 0::UINTEGER AS samples, 0::BIGINT AS value LIMIT 0)",
		     columns);
	if (selection->series.count == 0)
		return;
	selection->damaged = 0;
	put_hot(selection, sql, columns, condition);
	put_files(selection, sql, columns, condition, false);
	if (which == ROWS_ALL)
		put_files(selection, sql, columns, condition, true);
}
