/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "store/aggregate.h"
#include "store/selection.h"
#include "store/store_state.h"

/* A text of an answer, ended with NUL in a buffer of its own. */
static const char *text_of(const struct answer *answer, unsigned int column, size_t row,
			   struct bytes *space)
{
	const char *text;
	size_t n = answer_text(answer, column, row, &text);

	bytes_clear(space);
	bytes_put(space, text, n);
	bytes_put_u8(space, 0);
	return space->failed ? "" : (const char *)space->data;
}

/* Columns of the answers that become items: name, detail, samples, value, from, to. */
static void give_items(struct answer *answer, store_item_fn each, void *self)
{
	struct bytes name = {0};
	struct bytes detail = {0};
	bool wanted = true;

	while (wanted && answer_next(answer)) {
		const uint64_t *samples = answer_column(answer, 2);
		const int64_t *value = answer_column(answer, 3);
		const uint32_t *from_s = answer_column(answer, 4);
		const uint32_t *to_s = answer_column(answer, 5);
		size_t i;

		for (i = 0; i < answer->count && wanted; i++) {
			struct store_item item = {
				.name = text_of(answer, 0, i, &name),
				.detail = text_of(answer, 1, i, &detail),
				.samples = samples[i],
				.value = value[i],
				.from_s = from_s[i],
				.to_s = to_s[i],
			};

			wanted = each(self, &item);
		}
	}
	bytes_fini(&name);
	bytes_fini(&detail);
}

static int ask(struct selection *selection, struct bytes *sql, store_item_fn each, void *self,
	       struct error *err)
{
	struct answer answer;
	int r = database_query(&selection->store->database, selection->connection, sql, &answer,
			       err);

	if (r < 0)
		return r;
	give_items(&answer, each, self);
	answer_end(&answer);
	return 0;
}

/* What each series has: closed hours from their summaries, the rest from rows. */
static void put_series_sums(struct selection *selection, struct bytes *sql)
{
	const struct store_selector *selector = selection->selector;

	bytes_printf(sql, "SELECT series, sum(samples) AS samples, CASE WHEN sum(marks) > 0 THEN "
			  "round(sum(value) / sum(marks)) ELSE sum(value) END AS value, "
			  "min(from_s) AS from_s, max(to_s) AS to_s FROM ("
			  "SELECT series, samples, value, marks, from_s, to_s FROM hours WHERE ");
	if (selection->series.count > 0)
		selection_put_series(selection, sql);
	else
		bytes_printf(sql, "false");
	bytes_printf(sql, " AND hour_s >= %" PRIu32 " AND hour_s::BIGINT + %u <= %" PRIu32,
		     selector->from_s, HOUR_S, selector->to_s);
	bytes_printf(sql, " UNION ALL " HOUR_SUMS_SQL " FROM (" HOUR_TIMES_SQL " FROM (");
	selection_put_rows(selection, sql, "series, time, stack, samples, value", NULL,
			   ROWS_NOT_SUMMED);
	bytes_printf(sql, ") GROUP BY series, time) GROUP BY series) GROUP BY series");
}

int embedded_values(struct store *base, const struct store_selector *selector, const char *label,
		    store_item_fn each, void *self, struct error *err)
{
	struct embedded *store = embedded_of(base);
	struct selection selection;
	struct bytes sql = {0};
	int r = selection_begin(&selection, store, selector, err);

	if (r < 0)
		return r;
	bytes_printf(&sql, "SELECT name, detail, " SQL_SAMPLES_SUM " AS samples, " SQL_VALUE_SUM
			   " AS value, min(from_s), max(to_s) FROM (");
	put_series_sums(&selection, &sql);
	bytes_printf(&sql, ") JOIN (SELECT id AS series, ");
	selection_put_label(&sql, label);
	bytes_printf(&sql,
		     " AS name, %s AS detail FROM series) USING (series) "
		     "GROUP BY name, detail ORDER BY value DESC, name",
		     strcmp(label, "type") == 0 ? "unit" : "''");
	r = ask(&selection, &sql, each, self, err);
	bytes_fini(&sql);
	selection_end(&selection);
	return r;
}

int embedded_label_names(struct store *base, const struct store_selector *selector,
			 store_item_fn each, void *self, struct error *err)
{
	struct embedded *store = embedded_of(base);
	struct selection selection;
	struct bytes sql = {0};
	int r = selection_begin(&selection, store, selector, err);

	if (r < 0)
		return r;
	bytes_printf(&sql,
		     "SELECT DISTINCT name, '' AS detail, 0::UBIGINT, 0::BIGINT, 0::UINTEGER, "
		     "0::UINTEGER FROM (SELECT unnest(['service', 'type', 'host', 'release'] || "
		     "map_keys(labels)) AS name FROM (SELECT id AS series, labels FROM series) "
		     "WHERE ");
	if (selection.series.count > 0)
		selection_put_series(&selection, &sql);
	else
		bytes_printf(&sql, "false");
	bytes_printf(&sql, ") ORDER BY name");
	r = ask(&selection, &sql, each, self, err);
	bytes_fini(&sql);
	selection_end(&selection);
	return r;
}

int embedded_gaps(struct store *base, const struct store_selector *selector, store_item_fn each,
		  void *self, struct error *err)
{
	struct embedded *store = embedded_of(base);
	struct selection selection;
	struct bytes sql = {0};
	int r = selection_begin(&selection, store, selector, err);

	if (r < 0)
		return r;
	bytes_printf(&sql,
		     "SELECT reason, host, 0::UBIGINT, 0::BIGINT, from_s, to_s FROM gaps "
		     "WHERE from_s < %" PRIu32 " AND to_s > %" PRIu32,
		     selector->to_s, selector->from_s);
	if (selector->match_count > 0 && selection.series.count == 0) {
		bytes_printf(&sql, " AND false");
	} else if (selector->match_count > 0) {
		bytes_printf(&sql, " AND host IN (SELECT host FROM (SELECT id AS series, host "
				   "FROM series) WHERE ");
		selection_put_series(&selection, &sql);
		bytes_printf(&sql, ")");
	}
	bytes_printf(&sql, " ORDER BY from_s, host");
	r = ask(&selection, &sql, each, self, err);
	bytes_fini(&sql);
	selection_end(&selection);
	return r;
}

static void give_times(struct answer *answer, uint32_t step_s, store_item_fn each, void *self)
{
	struct bytes name = {0};
	bool wanted = true;

	while (wanted && answer_next(answer)) {
		const uint32_t *time_s = answer_column(answer, SUM_TIME);
		const uint64_t *samples = answer_column(answer, SUM_SAMPLES);
		const int64_t *value = answer_column(answer, SUM_VALUE);
		size_t i;

		for (i = 0; i < answer->count && wanted; i++) {
			struct store_item item = {
				.name = text_of(answer, SUM_LABEL, i, &name),
				.detail = "",
				.samples = samples[i],
				.value = value[i],
				.from_s = time_s[i],
				.to_s = time_s[i] + step_s,
			};

			wanted = each(self, &item);
		}
	}
	bytes_fini(&name);
}

static int ask_times(struct selection *selection, struct bytes *condition,
		     struct aggregate_question *question, store_item_fn each, void *self,
		     struct error *err)
{
	struct answer answer;
	int r;

	bytes_put_u8(condition, 0);
	if (condition->failed)
		return error_set(err, -ENOMEM, "out of memory");
	if (condition->size > 1)
		question->condition = (const char *)condition->data;
	r = aggregate(selection, question, &answer, err);
	if (r < 0)
		return r;
	give_times(&answer, question->step_s, each, self);
	answer_end(&answer);
	return 0;
}

int embedded_over_time(struct store *base, const struct store_selector *selector,
		       const struct store_over_time *what, store_item_fn each, void *self,
		       struct error *err)
{
	struct embedded *store = embedded_of(base);
	struct aggregate_question question = {.step_s = what->step_s > 0 ? what->step_s : 60,
					      .group_by = what->group_by};
	struct selection selection;
	struct bytes condition = {0};
	int r = selection_begin(&selection, store, selector, err);

	if (r < 0)
		return r;
	if (what->function) {
		bytes_printf(&condition, "stack IN (SELECT stack FROM calls WHERE function IN "
					 "(SELECT id FROM functions WHERE name = ");
		sql_put_text(&condition, what->function);
		bytes_printf(&condition, "))");
	}
	r = ask_times(&selection, &condition, &question, each, self, err);
	bytes_fini(&condition);
	selection_end(&selection);
	return r;
}

int embedded_damaged(struct store *base, store_item_fn each, void *self, struct error *err)
{
	struct embedded *store = embedded_of(base);
	size_t i;

	(void)err; /* nothing can fail, but every question has it */
	(void)pthread_rwlock_rdlock(&store->files_lock); /* never fails: not held by us */
	for (i = 0; i < store->files.files.count; i++) {
		struct row_file *file = store->files.files.items[i];
		struct store_item item = {
			.name = file->path,
			.detail = "its bytes are not those that were written",
			.from_s = file->hour_s,
			.to_s = file->hour_s + HOUR_S,
		};

		if (!row_file_check(&store->files, file) && !each(self, &item))
			break;
	}
	(void)pthread_rwlock_unlock(&store->files_lock);
	return 0;
}
