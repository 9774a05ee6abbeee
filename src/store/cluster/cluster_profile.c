/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "model/entity.h"
#include "model/profile.h"
#include "store/answer_profile.h"
#include "store/cluster/choice.h"
#include "store/cluster/cluster_state.h"

/* An answer while it is put together: sums by stack, then what the stacks are made of. */
struct answering {
	struct choice choice;
	struct profile *profile;
	struct bytes answer;
	struct id_map stacks;
	VEC(int64_t) values; /* two for each of stacks */
	struct id_map locations;
	VEC(uint32_t) location_ids; /* in the profile, by number in locations */
	VEC(uint64_t) versions;     /* likewise */
	struct bytes frames;        /* for each stack its id, number of frames, and frames */
	VEC(struct profile_line) lines;
	struct bytes text;
	struct error *err;
};

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

static int refuse_answer(const struct answering *answering)
{
	(void)error_set(answering->err, -EIO, "an answer about %s is cut or damaged",
			answering->choice.cluster->database);
	error_remedy(answering->err, "see the log of ClickHouse");
	return -EIO;
}

/*
 * The means of levels: of each series, the sum divided by the number of times at which it had
 * levels at all. These are the times that totals has.
 */
static int put_means(struct answering *answering, struct bytes *sql)
{
	struct choice *choice = &answering->choice;
	int r;

	bytes_printf(sql, "SELECT stack, toUInt64(");
	choice_put_rounded(sql, "sum(s / n)");
	bytes_printf(sql, "), ");
	choice_put_rounded(sql, "sum(v / n)");
	bytes_printf(sql, " FROM (");
	r = choice_put_sums(choice, sql,
			    &(struct choice_sums){.columns = "stack, series", .by_stack = true},
			    answering->err);
	bytes_printf(sql, ") ALL INNER JOIN (SELECT series, CASE WHEN gauge THEN times ELSE 1 END "
			  "AS n FROM (SELECT series, uniqExact(time) AS times ");
	choice_put_totals(choice, sql);
	bytes_printf(sql, " GROUP BY series) ALL INNER JOIN (");
	choice_put_series(choice, sql, NULL);
	bytes_printf(sql, ") USING (series)) USING (series) GROUP BY stack FORMAT RowBinary");
	return r;
}

static int ask_sums(struct answering *answering)
{
	struct choice *choice = &answering->choice;
	struct bytes sql = {0};
	int r;

	if (choice->has_gauges) {
		r = put_means(answering, &sql);
	} else {
		bytes_printf(&sql, "SELECT stack, s, v FROM (");
		r = choice_put_sums(choice, &sql,
				    &(struct choice_sums){.columns = "stack", .by_stack = true},
				    answering->err);
		bytes_printf(&sql, ") FORMAT RowBinary");
	}
	if (r == 0)
		r = choice_ask(choice, &sql, &answering->answer, answering->err);
	bytes_fini(&sql);
	return r;
}

static int read_sums(struct answering *answering)
{
	struct cursor cursor = cursor_of(answering->answer.data, answering->answer.size);

	while (cursor_left(&cursor) > 0 && !cursor.failed) {
		uint64_t stack = cursor_u64(&cursor);
		uint64_t samples = cursor_u64(&cursor);
		int64_t value = (int64_t)cursor_u64(&cursor);

		if (samples > INT64_MAX)
			samples = INT64_MAX;
		if (id_map_add(&answering->stacks, stack) == ID_NONE ||
		    vec_push(&answering->values, (int64_t)samples) < 0 ||
		    vec_push(&answering->values, value) < 0)
			return no_memory(answering->err);
	}
	/* A stack that came twice would shift the values. */
	if (cursor.failed || answering->values.count != 2 * answering->stacks.ids.count)
		return refuse_answer(answering);
	return 0;
}

/* Asks for rows by their ids, which is "… WHERE condition id IN (…)". */
static int ask_by_id(struct answering *answering, const char *columns, const char *table,
		     const char *condition, const struct id_map *ids)
{
	struct choice *choice = &answering->choice;
	struct bytes wanted = {0};
	struct bytes sql = {0};
	struct clickhouse_table rows = {"wanted", "id UInt64", &wanted};
	int r;

	bytes_put(&wanted, ids->ids.items, ids->ids.count * sizeof(*ids->ids.items));
	bytes_printf(&sql,
		     "SELECT %s FROM %s.%s%s WHERE %sid IN (SELECT id FROM wanted) "
		     "FORMAT RowBinary",
		     columns, choice->cluster->database, table, choice->cluster->all, condition);
	r = wanted.failed ? no_memory(answering->err)
			  : cluster_ask(choice->cluster, &sql, &rows, &answering->answer,
					&choice->missing, answering->err);
	bytes_fini(&sql);
	bytes_fini(&wanted);
	return r;
}

/* Reads the frames of stacks, and collects the locations that they have. */
static int read_frames(struct answering *answering)
{
	struct cursor cursor = cursor_of(answering->answer.data, answering->answer.size);

	while (cursor_left(&cursor) > 0 && !cursor.failed) {
		uint64_t stack = cursor_u64(&cursor);
		uint64_t count = cursor_varint(&cursor);

		bytes_put_u64(&answering->frames, stack);
		bytes_put_u64(&answering->frames, count);
		for (; count > 0 && !cursor.failed; count--) {
			uint64_t location = cursor_u64(&cursor);

			bytes_put_u64(&answering->frames, location);
			if (!cursor.failed &&
			    id_map_add(&answering->locations, location) == ID_NONE)
				return no_memory(answering->err);
		}
	}
	if (answering->frames.failed)
		return no_memory(answering->err);
	return cursor.failed ? refuse_answer(answering) : 0;
}

/* A text, ended. Valid until the next call. */
static const char *take_text(struct answering *answering, struct cursor *cursor)
{
	size_t size;
	const char *text = clickhouse_take_string(cursor, &size);

	bytes_clear(&answering->text);
	bytes_put(&answering->text, text, size);
	bytes_put_u8(&answering->text, '\0');
	return answering->text.failed ? "" : (const char *)answering->text.data;
}

/* The elements of an array of texts, each as a string id. */
static int take_texts(struct answering *answering, struct cursor *cursor, uint32_t ret[PLACES_MAX],
		      uint64_t *ret_count)
{
	uint64_t i;

	*ret_count = cursor_varint_max(cursor, PLACES_MAX);
	for (i = 0; i < *ret_count && !cursor->failed; i++) {
		ret[i] = strings_add(&answering->profile->strings, take_text(answering, cursor));
		if (ret[i] == ID_NONE)
			return -ENOMEM;
	}
	return 0;
}

/* Columns of a location after its id, version and module. */
struct location_row {
	uint32_t names[PLACES_MAX];
	uint32_t files[PLACES_MAX];
	uint32_t modules[PLACES_MAX];
	uint8_t origins[PLACES_MAX];
	uint32_t lines[PLACES_MAX];
	uint32_t line_files[PLACES_MAX];
	uint64_t count;
};

static int take_lines(struct answering *answering, struct cursor *cursor, struct location_row *row)
{
	uint64_t counts[6];
	uint64_t i;
	int r = take_texts(answering, cursor, row->names, &counts[0]);

	if (r == 0)
		r = take_texts(answering, cursor, row->files, &counts[1]);
	if (r == 0)
		r = take_texts(answering, cursor, row->modules, &counts[2]);
	if (r < 0)
		return r;
	counts[3] = cursor_varint_max(cursor, PLACES_MAX);
	for (i = 0; i < counts[3] && !cursor->failed; i++)
		row->origins[i] = cursor_u8(cursor);
	counts[4] = cursor_varint_max(cursor, PLACES_MAX);
	for (i = 0; i < counts[4] && !cursor->failed; i++)
		row->lines[i] = cursor_u32(cursor);
	r = take_texts(answering, cursor, row->line_files, &counts[5]);
	for (i = 1; i < 6; i++)
		cursor->failed |= counts[i] != counts[0];
	row->count = cursor->failed ? 0 : counts[0];
	return r;
}

static int put_lines(struct answering *answering, const struct location_row *row)
{
	struct profile *profile = answering->profile;
	uint64_t i;

	answering->lines.count = 0;
	for (i = 0; i < row->count; i++) {
		struct profile_function key = {
			.name = row->names[i],
			.file = row->files[i],
			.module = row->modules[i],
			.origin = row->origins[i] <= ORIGIN_INTERPRETED ? row->origins[i]
									: ORIGIN_UNKNOWN,
		};
		struct profile_line line = {.line = row->lines[i], .file = row->line_files[i]};

		line.function = profile_function_of(profile, &key);
		if (line.function == ID_NONE || vec_push(&answering->lines, line) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Whoever gets the profile may look for symbols of what has no name. */
static int note_module(struct answering *answering, uint32_t module, const char *build_id,
		       uint64_t version)
{
	struct build_id id;

	if (version > 0 || !build_id_parse(build_id, &id))
		return 0;
	return profile_module(answering->profile, profile_text(answering->profile, module), &id);
}

static int read_location(struct answering *answering, struct cursor *cursor)
{
	struct profile *profile = answering->profile;
	uint32_t number = id_map_find(&answering->locations, cursor_u64(cursor));
	uint64_t version = cursor_u64(cursor);
	uint32_t module = strings_add(&profile->strings, take_text(answering, cursor));
	struct location_row row;
	uint64_t vaddr;
	int r = module == ID_NONE ? -ENOMEM : 0;

	if (r == 0)
		r = note_module(answering, module, take_text(answering, cursor), version);
	vaddr = cursor_u64(cursor);
	if (r == 0)
		r = take_lines(answering, cursor, &row);
	if (r < 0 || cursor->failed || number == ID_NONE)
		return r;
	/* Of several versions the latest counts: that with names. */
	if (answering->location_ids.items[number] != ID_NONE &&
	    answering->versions.items[number] >= version)
		return 0;
	r = put_lines(answering, &row);
	if (r < 0)
		return r;
	answering->versions.items[number] = version;
	answering->location_ids.items[number] =
		profile_location(profile, profile_text(profile, module), vaddr,
				 answering->lines.items, (uint32_t)row.count);
	return answering->location_ids.items[number] == ID_NONE ? -ENOMEM : 0;
}

static int read_locations(struct answering *answering)
{
	struct cursor cursor = cursor_of(answering->answer.data, answering->answer.size);
	int r = 0;

	if (vec_fill_ones(&answering->location_ids, answering->locations.ids.count) < 0 ||
	    vec_fill_ones(&answering->versions, answering->locations.ids.count) < 0)
		return no_memory(answering->err);
	while (r == 0 && cursor_left(&cursor) > 0 && !cursor.failed)
		r = read_location(answering, &cursor);
	if (r < 0)
		return no_memory(answering->err);
	return cursor.failed ? refuse_answer(answering) : 0;
}

static int add_values(struct answering *answering, uint32_t number, uint32_t stack)
{
	struct profile *profile = answering->profile;
	int64_t *values = &answering->values.items[2 * (size_t)number];

	profile->quality.samples += (uint64_t)values[0];
	profile->quality.in_file += (uint64_t)values[0];
	return profile_add(profile, stack, 0, values);
}

/* Makes the stack whose frames follow. A location that is not there ends it. */
static uint32_t take_stack(struct answering *answering, struct cursor *cursor)
{
	uint64_t count = cursor_u64(cursor);
	uint32_t stack = 0;
	bool is_whole = true;

	for (; count > 0 && stack != ID_NONE; count--) {
		uint32_t number = id_map_find(&answering->locations, cursor_u64(cursor));
		uint32_t location =
			number == ID_NONE ? ID_NONE : answering->location_ids.items[number];

		is_whole &= location != ID_NONE;
		if (is_whole)
			stack = stack_tree_child(&answering->profile->stacks, stack, location);
	}
	return stack;
}

static int build(struct answering *answering)
{
	struct cursor cursor = cursor_of(answering->frames.data, answering->frames.size);
	SCOPED(mem) bool *is_done = calloc(answering->stacks.ids.count + 1, sizeof(*is_done));
	size_t i;
	int r = is_done ? 0 : -ENOMEM;

	while (r == 0 && cursor_left(&cursor) > 0) {
		uint32_t number = id_map_find(&answering->stacks, cursor_u64(&cursor));
		uint32_t stack = take_stack(answering, &cursor);

		if (stack == ID_NONE)
			r = -ENOMEM;
		/* It may be there twice, from two shards or weeks. */
		if (r < 0 || number == ID_NONE || is_done[number])
			continue;
		is_done[number] = true;
		r = add_values(answering, number, stack);
	}
	/* Without frames, or its names were lost. */
	for (i = 0; i < answering->stacks.ids.count && r == 0; i++)
		if (!is_done[i])
			r = add_values(answering, (uint32_t)i, 0);
	return r < 0 ? no_memory(answering->err) : 0;
}

static int ask_names(struct answering *answering)
{
	const struct choice *choice = &answering->choice;
	char weeks[64];
	int r;

	(void)snprintf(weeks, sizeof(weeks), "week >= %" PRIu32 " AND week <= %" PRIu32 " AND ",
		       choice->from_s / WEEK_S, choice->to_s / WEEK_S);
	r = ask_by_id(answering, "id, frames", "stacks", weeks, &answering->stacks);
	if (r == 0)
		r = read_frames(answering);
	if (r == 0)
		r = ask_by_id(answering,
			      "id, version, module, build_id, vaddr, functions, files, modules, "
			      "origins, lines, line_files",
			      "locations", "", &answering->locations);
	return r < 0 ? r : read_locations(answering);
}

static void note_missing(struct answering *answering)
{
	struct profile_quality *quality = &answering->profile->quality;

	quality->damaged_chunks = (uint64_t)__builtin_popcountll(answering->choice.missing);
	quality->incomplete = quality->damaged_chunks > 0;
}

static int fill(struct answering *answering)
{
	int r;

	if (choice_is_empty(&answering->choice))
		return 0;
	r = ask_sums(answering);
	if (r == 0)
		r = read_sums(answering);
	if (r == 0 && answering->stacks.ids.count > 0)
		r = ask_names(answering);
	return r < 0 ? r : build(answering);
}

int cluster_profile(struct store *base, const struct store_selector *selector, struct profile **ret,
		    struct error *err)
{
	struct answering answering = {.err = err};
	struct choice *choice = &answering.choice;
	int r = choice_init(choice, cluster_of(base), selector, err);

	if (r == 0 &&
	    answer_profile_new(selector, choice->type, choice->unit, &answering.profile) < 0)
		r = no_memory(err);
	if (r == 0)
		r = fill(&answering);
	if (r == 0) {
		note_missing(&answering);
		*ret = scope_take(&answering.profile);
	}
	profile_free(answering.profile);
	choice_fini(choice);
	bytes_fini(&answering.answer);
	bytes_fini(&answering.frames);
	bytes_fini(&answering.text);
	id_map_fini(&answering.stacks);
	id_map_fini(&answering.locations);
	vec_fini(&answering.values);
	vec_fini(&answering.location_ids);
	vec_fini(&answering.versions);
	vec_fini(&answering.lines);
	return r;
}
