/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/aggregate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "store/selection.h"
#include "store/store_state.h"

/* As above, for sums of quotients. The limit is the largest double below that of the integer. */
#define SQL_SAMPLES_MEAN "least(round(sum(samples / n)), 9223372036854774784)::UBIGINT AS samples"
#define SQL_VALUE_MEAN                                                                             \
	"greatest(least(round(sum(value / n)), 9223372036854774784), -9223372036854774784)"        \
	"::BIGINT AS value"

/* The time of a row in steps, as a column. */
static void step_column(const struct aggregate_question *question, char *ret, size_t size)
{
	if (question->step_s > 0)
		(void)snprintf(ret, size, "(time - time %% %" PRIu32 ")::UINTEGER AS step",
			       question->step_s);
	else
		(void)snprintf(ret, size, "0::UINTEGER AS step");
}

/* Steps of whole hours, of which closed ones have summaries: the rows of a day are many. */
static bool is_by_hours(const struct aggregate_question *question)
{
	return question->step_s > 0 && question->step_s % HOUR_S == 0 && !question->by_stack &&
	       !question->condition;
}

static void put_hours(struct selection *selection, struct bytes *sql,
		      const struct aggregate_question *question, bool by_series)
{
	const struct store_selector *selector = selection->selector;

	if (selection->series.count == 0)
		return;
	bytes_printf(sql,
		     " UNION ALL SELECT (hour_s - hour_s %% %" PRIu32
		     ")::UINTEGER AS step, %ssamples, value FROM hours WHERE ",
		     question->step_s, by_series ? "series, " : "");
	selection_put_series(selection, sql);
	bytes_printf(sql, " AND hour_s >= %" PRIu32 " AND hour_s::BIGINT + %u <= %" PRIu32,
		     selector->from_s, HOUR_S, selector->to_s);
}

/*
 * The rows summed by what is asked for, and by series if that is needed further on. What is not
 * asked for is a constant of the result and not a key: a key costs time even if it has one value.
 */
static void put_sums(struct selection *selection, struct bytes *sql,
		     const struct aggregate_question *question, bool by_series)
{
	char step[64];
	char columns[160];

	step_column(question, step, sizeof(step));
	(void)snprintf(columns, sizeof(columns), "%s%s%s%ssamples, value",
		       question->by_stack ? "stack, " : "", question->step_s > 0 ? step : "",
		       question->step_s > 0 ? ", " : "", by_series ? "series, " : "");
	bytes_printf(sql,
		     "SELECT %s, %s, %s, " SQL_SAMPLES_SUM " AS samples, " SQL_VALUE_SUM
		     " AS value FROM (",
		     question->by_stack ? "stack" : "0::UINTEGER AS stack",
		     question->step_s > 0 ? "step" : "0::UINTEGER AS step",
		     by_series ? "series" : "'' AS label");
	if (is_by_hours(question)) {
		selection_put_rows(selection, sql, columns, NULL, ROWS_NOT_SUMMED);
		put_hours(selection, sql, question, by_series);
	} else {
		selection_put_rows(selection, sql, columns, question->condition, ROWS_ALL);
	}
	bytes_printf(sql, ") GROUP BY %s%s%s", question->by_stack ? "stack" : "",
		     question->step_s > 0 ? question->by_stack ? ", step" : "step" : "",
		     by_series ? ", series" : "");
}

static void put_labels(struct bytes *sql, const struct aggregate_question *question)
{
	bytes_printf(sql, "(SELECT id AS series, ");
	if (question->group_by)
		selection_put_label(sql, question->group_by);
	else
		bytes_printf(sql, "''");
	bytes_printf(sql, " AS label FROM series)");
}

/* At how many times each series had levels. */
static void put_marks(struct selection *selection, struct bytes *sql,
		      const struct aggregate_question *question)
{
	char step[64];
	char columns[160];
	char condition[32];

	step_column(question, step, sizeof(step));
	(void)snprintf(columns, sizeof(columns), "%s, series, time, samples", step);
	(void)snprintf(condition, sizeof(condition), "stack = %" PRIu32, STACK_MARK);
	bytes_printf(sql, "(SELECT step, series, sum(times) AS n FROM (SELECT step, series, time, "
			  "max(samples) AS times FROM (");
	selection_put_rows(selection, sql, columns, condition, ROWS_ALL);
	bytes_printf(sql, ") GROUP BY step, series, time) GROUP BY step, series)");
}

static void put_means(struct selection *selection, struct bytes *sql,
		      const struct aggregate_question *question)
{
	struct aggregate_question without = *question;
	struct bytes condition = {0};

	bytes_printf(&condition, "stack <> %" PRIu32, STACK_MARK);
	if (question->condition)
		bytes_printf(&condition, " AND %s", question->condition);
	bytes_put_u8(&condition, 0);
	sql->failed |= condition.failed;
	without.condition = condition.failed ? NULL : (const char *)condition.data;
	bytes_printf(sql, "SELECT stack, step, label, " SQL_SAMPLES_MEAN ", " SQL_VALUE_MEAN
			  " FROM (SELECT stack, step, series, samples, value, "
			  "coalesce(m.n, 1) AS n FROM (");
	put_sums(selection, sql, &without, true);
	bytes_fini(&condition);
	bytes_printf(sql, ") LEFT JOIN ");
	put_marks(selection, sql, question);
	bytes_printf(sql, " m USING (step, series)) JOIN ");
	put_labels(sql, question);
	bytes_printf(sql, " USING (series) GROUP BY stack, step, label");
}

static void put_question(struct selection *selection, struct bytes *sql,
			 const struct aggregate_question *question)
{
	if (selection->has_gauges) {
		put_means(selection, sql, question);
	} else if (question->group_by) {
		bytes_printf(sql, "SELECT stack, step, label, " SQL_SAMPLES_SUM
				  " AS samples, " SQL_VALUE_SUM " AS value FROM (");
		put_sums(selection, sql, question, true);
		bytes_printf(sql, ") JOIN ");
		put_labels(sql, question);
		bytes_printf(sql, " USING (series) GROUP BY stack, step, label");
	} else {
		put_sums(selection, sql, question, false);
	}
	if (question->step_s > 0 || question->group_by)
		bytes_printf(sql, " ORDER BY step, label");
}

int aggregate(struct selection *selection, const struct aggregate_question *question,
	      struct answer *ret, struct error *err)
{
	struct embedded *store = selection->store;
	struct bytes sql = {0};
	unsigned int tries;
	int r = -EIO;

	/* A file may have been damaged since it was checked. */
	for (tries = 0; r == -EIO && tries < 2; tries++) {
		if (tries > 0)
			row_files_recheck(&store->files);
		put_question(selection, &sql, question);
		r = database_query(&store->database, selection->connection, &sql, ret, err);
	}
	bytes_fini(&sql);
	return r;
}
