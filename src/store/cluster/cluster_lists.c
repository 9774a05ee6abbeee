/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "store/cluster/choice.h"
#include "store/cluster/cluster_state.h"

/* A shard that a question lacked a moment ago is named with the next list of gaps. */
#define MISSED_NS (10 * NS_PER_SEC)

/* A text, ended in a buffer of its own. */
static const char *take_text(struct cursor *cursor, struct bytes *space)
{
	size_t size;
	const char *text = clickhouse_take_string(cursor, &size);

	bytes_clear(space);
	bytes_put(space, text, size);
	bytes_put_u8(space, '\0');
	return space->failed ? "" : (const char *)space->data;
}

/* Columns of the answers that become items: name, detail, samples, value, from, to. */
static int give_items(const struct choice *choice, const struct bytes *answer, store_item_fn each,
		      void *self, struct error *err)
{
	struct cursor cursor = cursor_of(answer->data, answer->size);
	struct bytes name = {0};
	struct bytes detail = {0};
	bool wanted = true;

	while (wanted && cursor_left(&cursor) > 0 && !cursor.failed) {
		struct store_item item = {.name = take_text(&cursor, &name),
					  .detail = take_text(&cursor, &detail)};

		item.samples = cursor_u64(&cursor);
		item.value = (int64_t)cursor_u64(&cursor);
		item.from_s = cursor_u32(&cursor);
		item.to_s = cursor_u32(&cursor);
		if (!cursor.failed)
			wanted = each(self, &item);
	}
	bytes_fini(&name);
	bytes_fini(&detail);
	if (!cursor.failed)
		return 0;
	(void)error_set(err, -EIO, "an answer about %s is cut or damaged",
			choice->cluster->database);
	error_remedy(err, "see the log of ClickHouse");
	return -EIO;
}

static int ask(struct choice *choice, struct bytes *sql, store_item_fn each, void *self,
	       struct error *err)
{
	struct bytes answer = {0};
	int r;

	bytes_printf(sql, " FORMAT RowBinary");
	r = choice_ask(choice, sql, &answer, err);
	if (r == 0)
		r = give_items(choice, &answer, each, self, err);
	bytes_fini(&answer);
	return r;
}

static void put_values(const struct choice *choice, struct bytes *sql, const char *label)
{
	bytes_printf(sql, "SELECT label, %s, sum(its_samples), sum(CASE WHEN gauge THEN ",
		     strcmp(label, "type") == 0 ? "its_unit" : "''");
	choice_put_rounded(sql, "its_value / times");
	bytes_printf(sql, " ELSE its_value END) AS total, min(first), max(last) FROM "
			  "(SELECT series, sum(samples) AS its_samples, sum(value) AS its_value, "
			  "uniqExact(time) AS times, toUInt32(min(");
	choice_put_time(choice, sql);
	bytes_printf(sql, ")) AS first, toUInt32(max(");
	choice_put_time(choice, sql);
	bytes_printf(sql, ")) AS last FROM (SELECT series, time, samples, value ");
	choice_put_totals(choice, sql);
	bytes_printf(sql, ") GROUP BY series) ALL INNER JOIN (");
	choice_put_series(choice, sql, label);
	bytes_printf(sql, ") USING (series) GROUP BY label, %s ORDER BY total DESC, label",
		     strcmp(label, "type") == 0 ? "its_unit" : "''");
}

int cluster_values(struct store *base, const struct store_selector *selector, const char *label,
		   store_item_fn each, void *self, struct error *err)
{
	struct choice choice;
	struct bytes sql = {0};
	int r = choice_init(&choice, cluster_of(base), selector, err);

	if (r == 0 && !choice_is_empty(&choice)) {
		put_values(&choice, &sql, label);
		r = ask(&choice, &sql, each, self, err);
	}
	bytes_fini(&sql);
	choice_fini(&choice);
	return r;
}

int cluster_label_names(struct store *base, const struct store_selector *selector,
			store_item_fn each, void *self, struct error *err)
{
	struct cluster *cluster = cluster_of(base);
	struct choice choice;
	struct bytes sql = {0};
	int r = choice_init(&choice, cluster, selector, err);

	if (r == 0 && choice.kinds.count > 0) {
		bytes_printf(&sql,
			     "SELECT name, '', toUInt64(0), toInt64(0), toUInt32(0), toUInt32(0) "
			     "FROM (SELECT DISTINCT arrayJoin(arrayConcat(['service', 'type', "
			     "'host', 'release'], names)) AS name FROM %s.series%s WHERE %s) "
			     "ORDER BY name",
			     cluster->database, cluster->all, (const char *)choice.condition.data);
		r = ask(&choice, &sql, each, self, err);
	}
	bytes_fini(&sql);
	choice_fini(&choice);
	return r;
}

/* A name for what is missing. Returns false to end. */
static bool give_shard(const struct cluster *cluster, size_t shard,
		       const struct store_selector *selector, store_item_fn each, void *self)
{
	char text[320];
	struct store_item item = {.name = text, .detail = ""};

	if (selector) {
		item.from_s = selector->from_s;
		item.to_s = selector->to_s;
	}
	(void)snprintf(text, sizeof(text), "shard %zu of %zu (%.200s) did not answer", shard + 1,
		       cluster->shard_count, clickhouse_node_name(cluster->clickhouse, shard));
	return each(self, &item);
}

static bool was_missed(struct cluster *cluster, size_t shard)
{
	uint64_t missed_ns = atomic_load(&cluster->shards[shard].missed_ns);

	return missed_ns != 0 && clock_monotonic_ns() - missed_ns < MISSED_NS;
}

int cluster_gaps(struct store *base, const struct store_selector *selector, store_item_fn each,
		 void *self, struct error *err)
{
	struct cluster *cluster = cluster_of(base);
	struct choice choice;
	struct bytes sql = {0};
	bool wanted = true;
	size_t i;
	int r = choice_init(&choice, cluster, selector, err);

	for (i = 0; i < cluster->shard_count && r == 0 && wanted; i++)
		if ((choice.missing >> i & 1) || was_missed(cluster, i))
			wanted = give_shard(cluster, i, selector, each, self);
	if (r == 0 && wanted && (selector->match_count == 0 || choice.kinds.count > 0)) {
		bytes_printf(&sql,
			     "SELECT reason, host, toUInt64(0), toInt64(0), from_s, to_s "
			     "FROM %s.gaps%s WHERE from_s < %" PRIu32 " AND to_s > %" PRIu32,
			     cluster->database, cluster->all, selector->to_s, selector->from_s);
		if (selector->match_count > 0)
			bytes_printf(&sql, " AND host IN (SELECT host FROM %s.series WHERE %s)",
				     cluster->database, (const char *)choice.condition.data);
		bytes_printf(&sql, " GROUP BY reason, host, from_s, to_s "
				   "ORDER BY from_s, host, reason");
		r = ask(&choice, &sql, each, self, err);
	}
	bytes_fini(&sql);
	choice_fini(&choice);
	return r;
}

int cluster_damaged(struct store *base, store_item_fn each, void *self, struct error *err)
{
	struct cluster *cluster = cluster_of(base);
	size_t i;

	(void)err; /* nothing can fail, but every question has it */
	for (i = 0; i < cluster->shard_count; i++)
		if (!clickhouse_answers(cluster->clickhouse, i) &&
		    !give_shard(cluster, i, NULL, each, self))
			break;
	return 0;
}

/* Rows whose stack has a function somewhere. A shard has the names of its rows. */
static void put_function(const struct choice *choice, struct bytes *sql, const char *function)
{
	const char *database = choice->cluster->database;

	bytes_printf(sql,
		     "stack IN (SELECT id FROM %s.stacks ARRAY JOIN frames AS frame WHERE "
		     "week >= %" PRIu32 " AND week <= %" PRIu32 " AND frame IN "
		     "(SELECT location FROM %s.functions WHERE name = ",
		     database, choice->from_s / WEEK_S, choice->to_s / WEEK_S, database);
	clickhouse_put_text(sql, function);
	bytes_printf(sql, "))");
}

/* The number of times at which each series had levels, by step. */
static void put_times(const struct choice *choice, struct bytes *sql, uint32_t step_s)
{
	bytes_printf(sql, "SELECT ");
	choice_put_step(choice, sql, step_s);
	bytes_printf(sql, ", series, uniqExact(time) AS times ");
	choice_put_totals(choice, sql);
	bytes_printf(sql, " GROUP BY step, series");
}

/* Sums by step and series, divided by the times where they are levels, then by label. */
static int put_labelled(struct choice *choice, struct bytes *sql, const struct choice_sums *sums,
			const char *label, struct error *err)
{
	int r;

	bytes_printf(sql, "SELECT label, '', ");
	if (choice->has_gauges) {
		bytes_printf(sql, "toUInt64(");
		choice_put_rounded(sql, "sum(s / n)");
		bytes_printf(sql, "), ");
		choice_put_rounded(sql, "sum(v / n)");
	} else {
		bytes_printf(sql, "sum(s), sum(v)");
	}
	bytes_printf(sql, ", step, toUInt32(step + %" PRIu32 ") FROM (", sums->step_s);
	if (choice->has_gauges)
		bytes_printf(sql, "SELECT step, label, s, v, CASE WHEN gauge THEN times ELSE 1 END "
				  "AS n FROM (");
	bytes_printf(sql, "SELECT step, series, label, gauge, s, v FROM (");
	r = choice_put_sums(choice, sql, sums, err);
	bytes_printf(sql, ") ALL INNER JOIN (");
	choice_put_series(choice, sql, label);
	bytes_printf(sql, ") USING (series)");
	if (choice->has_gauges) {
		bytes_printf(sql, ") ALL INNER JOIN (");
		put_times(choice, sql, sums->step_s);
		bytes_printf(sql, ") USING (step, series)");
	}
	bytes_printf(sql, ") GROUP BY step, label ORDER BY step, label");
	return r;
}

int cluster_over_time(struct store *base, const struct store_selector *selector,
		      const struct store_over_time *what, store_item_fn each, void *self,
		      struct error *err)
{
	struct choice choice;
	struct bytes sql = {0};
	struct bytes condition = {0};
	struct choice_sums sums = {.step_s = what->step_s > 0 ? what->step_s : 60};
	int r = choice_init(&choice, cluster_of(base), selector, err);

	if (r < 0 || choice_is_empty(&choice)) {
		choice_fini(&choice);
		return r;
	}
	if (what->function) {
		put_function(&choice, &condition, what->function);
		bytes_put_u8(&condition, '\0');
		sql.failed |= condition.failed;
		sums.condition = condition.failed ? NULL : (const char *)condition.data;
		sums.by_stack = true;
	}
	if (choice.has_gauges || what->group_by) {
		sums.columns = "step, series";
		r = put_labelled(&choice, &sql, &sums, what->group_by, err);
	} else {
		sums.columns = "step";
		bytes_printf(&sql, "SELECT '', '', s, v, step, toUInt32(step + %" PRIu32 ") FROM (",
			     sums.step_s);
		r = choice_put_sums(&choice, &sql, &sums, err);
		bytes_printf(&sql, ") ORDER BY step");
	}
	if (r == 0)
		r = ask(&choice, &sql, each, self, err);
	bytes_fini(&sql);
	bytes_fini(&condition);
	choice_fini(&choice);
	return r;
}
