/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/timeline/timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/scope.h"
#include "base/text.h"
#include "base/vec.h"
#include "export/export.h"
#include "model/profile.h"
#include "view/timeline/timeline_gauges.h"
#include "view/timeline/timeline_levels.h"

/* Steps of all rows together: 16 bytes each. */
#define MAX_CELLS (32u << 20)

struct cell {
	uint64_t samples;
	uint64_t total;
};

#define MAX_STATES 16u /* limit; further states count as the last one */

struct row {
	uint32_t thread;        /* its first thread: rows of the same threads share it */
	uint32_t state;         /* of timeline.states */
	uint64_t busy;          /* with the next: over all rows of the same threads, for sorting */
	uint64_t whole;         /* busy is the part that was not off CPU */
	uint64_t away;          /* off-CPU part of this row */
	VEC(struct cell) cells; /* up to the last nonempty one */
	struct cell sum;
};

struct timeline {
	struct timeline_options options;
	uint64_t step_ns; /* 0: no sample yet */
	uint64_t cell_count;
	struct cell sum;
	VEC(struct row) rows;
	const char *states[MAX_STATES]; /* borrowed from the samples; "": unknown */
	uint32_t state_count;
	VEC(uint32_t) row_of_thread; /* by thread of the profile and state; ID_NONE: none yet */
	struct timeline_gauges gauges;
};

struct timeline *timeline_new(const struct timeline_options *options)
{
	struct timeline *timeline = calloc(1, sizeof(*timeline));

	if (timeline)
		timeline->options = *options;
	return timeline;
}

void timeline_free(struct timeline *timeline)
{
	size_t i;

	if (!timeline)
		return;
	for (i = 0; i < timeline->rows.count; i++)
		vec_fini(&timeline->rows.items[i].cells);
	vec_fini(&timeline->rows);
	vec_fini(&timeline->row_of_thread);
	timeline_gauges_fini(&timeline->gauges);
	free(timeline);
}

/* The length of a step; independent of samples, because there may be none. */
static uint64_t step_of(const struct timeline *timeline, const struct profile *profile)
{
	uint32_t columns = timeline->options.columns > 0 ? timeline->options.columns : 1;
	uint64_t step_ns = timeline->options.step_ns;

	if (step_ns == 0)
		step_ns = profile->duration_ns / columns + (profile->duration_ns % columns > 0);
	return step_ns > 0 ? step_ns : 1;
}

static bool same_row(const struct timeline *timeline, const struct profile *profile, uint32_t a,
		     uint32_t b)
{
	const struct profile_thread *x = &profile->threads.items[a];
	const struct profile_thread *y = &profile->threads.items[b];

	switch (timeline->options.by) {
	case TIMELINE_BY_NOTHING:
		return true;
	case TIMELINE_BY_PROCESS:
		return x->pid == y->pid && x->process_comm == y->process_comm;
	case TIMELINE_BY_THREAD:
		break;
	}
	return a == b;
}

static uint32_t state_of(struct timeline *timeline, const char *name)
{
	uint32_t i = 0;

	while (i < timeline->state_count && strcmp(timeline->states[i], name) != 0)
		i++;
	if (i == timeline->state_count && i < MAX_STATES)
		timeline->states[timeline->state_count++] = name;
	return i < MAX_STATES ? i : MAX_STATES - 1;
}

/* The row of a thread in a state, created if missing; ID_NONE: out of memory. */
static uint32_t row_of(struct timeline *timeline, const struct profile *profile, uint32_t thread,
		       uint32_t state)
{
	size_t at = (size_t)thread * MAX_STATES + state;
	uint32_t first = thread; /* of those that share rows */
	uint32_t i = 0;

	while (timeline->row_of_thread.count <= at)
		if (vec_push(&timeline->row_of_thread, ID_NONE) < 0)
			return ID_NONE;
	if (timeline->row_of_thread.items[at] != ID_NONE)
		return timeline->row_of_thread.items[at];
	if (timeline->options.by == TIMELINE_BY_THREAD)
		i = (uint32_t)timeline->rows.count;
	for (; i < timeline->rows.count; i++) {
		const struct row *row = &timeline->rows.items[i];

		if (!same_row(timeline, profile, row->thread, thread))
			continue;
		first = row->thread;
		if (row->state == state)
			break;
	}
	if (i == timeline->rows.count &&
	    vec_push(&timeline->rows, (struct row){.thread = first, .state = state}) < 0)
		return ID_NONE;
	timeline->row_of_thread.items[at] = i;
	return i;
}

static int too_many(const struct timeline *timeline, struct error *err)
{
	(void)error_set(err, -E2BIG, "too many steps of %s for a timeline",
			quantity_of((int64_t)timeline->step_ns, "nanoseconds").text);
	error_remedy(err, "use longer steps with --step, or a shorter range with --from and --to");
	return -E2BIG;
}

static void add(struct cell *cell, uint64_t times, uint64_t weight)
{
	/* Sums saturate: only a forged file gets near the limit. */
	if (__builtin_add_overflow(cell->samples, times, &cell->samples))
		cell->samples = UINT64_MAX;
	if (__builtin_add_overflow(cell->total, weight, &cell->total) || cell->total > INT64_MAX)
		cell->total = INT64_MAX;
}

/* The step of a time; TIMELINE_MAX_STEPS or more is too many. */
static uint64_t step_at(struct timeline *timeline, const struct profile *profile, uint64_t since_ns)
{
	uint64_t from_ns = timeline->options.from_ns;

	timeline->step_ns = step_of(timeline, profile);
	return since_ns > from_ns ? (since_ns - from_ns) / timeline->step_ns : 0;
}

/* The step in which a sample ends: a sample that covers time ends just before its timestamp. */
static uint64_t last_step(struct timeline *timeline, const struct profile *profile,
			  const struct export_sample *sample)
{
	return step_at(timeline, profile,
		       sample->lasted_ns > 0 ? sample->from_ns + sample->lasted_ns - 1
					     : sample->since_ns);
}

/* Adds a sample to the steps that it covers. It is counted in the last step, which exists. */
static void spread(const struct timeline *timeline, struct row *row,
		   const struct export_sample *sample, uint64_t first, uint64_t last)
{
	uint64_t left = sample->weight;
	uint64_t at_ns = sample->from_ns;
	uint64_t times = sample->times > 0 ? sample->times : 1;

	for (; first < last; first++) {
		uint64_t end_ns = timeline->options.from_ns + (first + 1) * timeline->step_ns;
		uint64_t part = end_ns - at_ns < left ? end_ns - at_ns : left;

		add(&row->cells.items[first], 0, part);
		left -= part;
		at_ns = end_ns;
	}
	add(&row->cells.items[last], times, left);
	add(&row->sum, times, sample->weight);
	if (profile_state_is_away(timeline->states[row->state]))
		row->away = row->sum.total - row->away < sample->weight
				    ? row->sum.total
				    : row->away + sample->weight;
}

/* Adds to the row of a thread. */
static int add_to_row(struct timeline *timeline, const struct profile *profile,
		      const struct export_sample *sample, uint64_t at, struct error *err)
{
	uint32_t state = state_of(timeline, sample->state ? sample->state : "");
	uint32_t id = row_of(timeline, profile, sample->thread, state);
	uint64_t first = step_at(timeline, profile,
				 sample->lasted_ns > 0 ? sample->from_ns : sample->since_ns);
	struct row *row;

	if (id == ID_NONE)
		return error_set(err, -ENOMEM, "out of memory");
	row = &timeline->rows.items[id];
	while (row->cells.count <= at) {
		if (++timeline->cell_count > MAX_CELLS)
			return too_many(timeline, err);
		if (vec_push(&row->cells, (struct cell){0}) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	}
	spread(timeline, row, sample, first, at);
	add(&timeline->sum, sample->times > 0 ? sample->times : 1, sample->weight);
	return 0;
}

int timeline_add(struct timeline *timeline, const struct profile *profile,
		 const struct export_sample *sample, struct error *err)
{
	uint64_t at = last_step(timeline, profile, sample);

	if (at >= TIMELINE_MAX_STEPS)
		return too_many(timeline, err);
	switch (sample->kind) {
	case SCHEMA_GAUGE:
		return timeline_gauges_add(&timeline->gauges, profile, sample, at) < 0
			       ? error_set(err, -ENOMEM, "out of memory")
			       : 0;
	case SCHEMA_SAMPLED:
		return add_to_row(timeline, profile, sample, at, err);
	case SCHEMA_TOLD: /* of another event than the one shown */
	case SCHEMA_KINDS:
		break;
	}
	return 0;
}

static int by_total(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;

	if (x->busy != y->busy)
		return x->busy > y->busy ? -1 : 1;
	if (x->whole != y->whole)
		return x->whole > y->whole ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->away > 0 || y->away > 0)
		return (x->away > 0) - (y->away > 0);
	return x->state < y->state ? -1 : x->state > y->state;
}

/* Groups rows of the same threads, busiest first. 0 or -ENOMEM. */
static int sort_rows(struct timeline *timeline, const struct profile *profile)
{
	SCOPED(mem) struct row *sums = calloc(profile->threads.count + 1, sizeof(*sums));
	struct row *rows = timeline->rows.items;
	size_t i;

	if (!sums)
		return -ENOMEM;
	for (i = 0; i < timeline->rows.count; i++) {
		sums[rows[i].thread].whole += rows[i].sum.total;
		sums[rows[i].thread].busy += rows[i].sum.total - rows[i].away;
	}
	for (i = 0; i < timeline->rows.count; i++) {
		rows[i].whole = sums[rows[i].thread].whole;
		rows[i].busy = sums[rows[i].thread].busy;
	}
	if (timeline->rows.count > 0)
		qsort(rows, timeline->rows.count, sizeof(struct row), by_total);
	return 0;
}

/* What to write, and how much of it. */
struct sheet {
	struct timeline *timeline;
	const struct profile *profile;
	struct value_type type;
	size_t shown;   /* rows */
	uint64_t steps; /* of the longest row, or of the whole time */
	struct bytes *out;
};

static void put_name(const struct sheet *sheet, const struct row *row, struct bytes *out)
{
	const struct profile *profile = sheet->profile;
	const struct profile_thread *thread = &profile->threads.items[row->thread];

	if (sheet->timeline->options.by == TIMELINE_BY_THREAD)
		bytes_printf(out, "%s/%" PRIu32, profile_text(profile, thread->comm), thread->tid);
	else if (sheet->timeline->options.by == TIMELINE_BY_PROCESS)
		bytes_printf(out, "%s/%" PRIu32, profile_text(profile, thread->process_comm),
			     thread->pid);
	else
		bytes_printf(out, "all");
	bytes_put_u8(out, '\0');
}

static uint64_t highest_step(const struct sheet *sheet)
{
	uint64_t highest = 0;
	size_t i;
	size_t at;

	for (i = 0; i < sheet->shown; i++)
		for (at = 0; at < sheet->timeline->rows.items[i].cells.count; at++)
			if (sheet->timeline->rows.items[i].cells.items[at].total > highest)
				highest = sheet->timeline->rows.items[i].cells.items[at].total;
	return highest;
}

static void put_text_row(const struct sheet *sheet, const struct row *row, uint64_t highest)
{
	const char *state = sheet->timeline->states[row->state];
	struct bytes *out = sheet->out;
	struct bytes name = {0};
	uint64_t at;

	bytes_printf(
		out, "%7s  %9s  ",
		quantity_share((int64_t)row->sum.total, (int64_t)sheet->timeline->sum.total).text,
		quantity_count(row->sum.samples).text);
	if (sheet->timeline->options.color)
		bytes_printf(out, "\033[33m");
	for (at = 0; at < sheet->steps; at++)
		bytes_printf(out, "%s",
			     quantity_bar(at < row->cells.count ? row->cells.items[at].total : 0,
					  highest));
	if (sheet->timeline->options.color)
		bytes_printf(out, "\033[0m");
	bytes_printf(out, "  ");
	put_name(sheet, row, &name);
	text_put_terminal(out, name.failed ? "" : (char *)name.data);
	bytes_printf(out, *state ? " " : "");
	text_put_terminal(out, state);
	bytes_put_u8(out, '\n');
	bytes_fini(&name);
}

/* Describes the columns: start, end, and the highest value. */
static void put_scale(const struct sheet *sheet, uint64_t highest)
{
	const struct timeline *timeline = sheet->timeline;
	uint64_t end_ns = timeline->options.from_ns + sheet->steps * timeline->step_ns;
	struct quantity from = quantity_of((int64_t)timeline->options.from_ns, "nanoseconds");
	struct quantity end = quantity_of((int64_t)end_ns, "nanoseconds");
	int gap = (int)sheet->steps - (int)(strlen(from.text) + strlen(end.text));
	struct bytes *out = sheet->out;

	bytes_printf(out, ", the highest is %s of ",
		     quantity_of((int64_t)highest, sheet->type.unit).text);
	text_put_terminal(out, sheet->type.name);
	bytes_printf(out, "\n\n%7s  %9s  %s", "share", "samples", from.text);
	bytes_printf(out, "%*s%s\n", gap > 1 ? gap : 1, "", end.text);
}

/* Imported files often have only sums. */
static bool has_no_times(const struct sheet *sheet)
{
	return sheet->profile->duration_ns == 0 && sheet->timeline->rows.count > 0 &&
	       sheet->steps <= 1;
}

/* Says why there is nothing to show, if so. */
static void put_nothing(const struct sheet *sheet)
{
	if (sheet->timeline->rows.count > 0 || sheet->timeline->gauges.tracks.count > 0)
		return;
	bytes_put_u8(sheet->out, '\n');
	if (sheet->profile->why_empty)
		text_put_terminal(sheet->out, sheet->profile->why_empty);
	else
		bytes_printf(sheet->out, "no samples: the program was idle, ended too soon, or "
					 "everything was filtered out");
	bytes_put_u8(sheet->out, '\n');
}

static struct timeline_steps steps_of(const struct sheet *sheet)
{
	return (struct timeline_steps){.step_ns = sheet->timeline->step_ns,
				       .count = sheet->steps,
				       .from_ns = sheet->timeline->options.from_ns};
}

static void put_text(const struct sheet *sheet)
{
	const struct timeline *timeline = sheet->timeline;
	const struct profile *profile = sheet->profile;
	uint64_t highest = highest_step(sheet);
	struct bytes *out = sheet->out;
	size_t i;

	text_put_terminal(out, *profile->title ? profile->title : "(no title)");
	bytes_printf(out, "\n%s sample%s", quantity_count(timeline->sum.samples).text,
		     timeline->sum.samples == 1 ? "" : "s");
	if (profile->quality.lost > 0)
		bytes_printf(out, ", %s lost", quantity_count(profile->quality.lost).text);
	if (profile->recorded_ns > 0)
		bytes_printf(out, ", %s recorded with gaps in between",
			     quantity_of((int64_t)profile->recorded_ns, "nanoseconds").text);
	if (has_no_times(sheet)) {
		bytes_printf(out,
			     "; the profile has no timestamps: everything is in one column\n\n%7s  "
			     "%9s\n",
			     "share", "samples");
	} else {
		bytes_printf(out, ", a column is %s",
			     quantity_of((int64_t)timeline->step_ns, "nanoseconds").text);
		if (timeline->rows.count > 0)
			put_scale(sheet, highest);
		else
			bytes_printf(out, "\n");
	}
	put_nothing(sheet);
	for (i = 0; i < sheet->shown; i++)
		put_text_row(sheet, &timeline->rows.items[i], highest);
	if (sheet->shown < timeline->rows.count)
		bytes_printf(out, "%s more; --limit 0 shows all\n",
			     quantity_count(timeline->rows.count - sheet->shown).text);
	if (timeline_levels_put_text(profile, steps_of(sheet), out) < 0)
		out->failed = true;
	timeline_gauges_put_text(&timeline->gauges, profile, sheet->steps, out);
}

static void put_json_row(const struct sheet *sheet, struct json *json, const struct row *row)
{
	const struct profile *profile = sheet->profile;
	const struct profile_thread *thread = &profile->threads.items[row->thread];
	enum timeline_by by = sheet->timeline->options.by;
	struct bytes name = {0};
	size_t i;

	put_name(sheet, row, &name);
	json_open_object(json, NULL);
	json_string(json, "name", name.failed ? "" : (char *)name.data);
	if (by != TIMELINE_BY_NOTHING) {
		json_string(json, "process", profile_text(profile, thread->process_comm));
		json_u64(json, "pid", thread->pid);
	}
	if (by == TIMELINE_BY_THREAD)
		json_u64(json, "tid", thread->tid);
	if (*sheet->timeline->states[row->state])
		json_string(json, "state", sheet->timeline->states[row->state]);
	json_u64(json, "samples", row->sum.samples);
	json_u64(json, "total", row->sum.total);
	json_open_array(json, "sample_steps");
	for (i = 0; i < sheet->steps; i++)
		json_u64(json, NULL, i < row->cells.count ? row->cells.items[i].samples : 0);
	json_close(json);
	json_open_array(json, "total_steps");
	for (i = 0; i < sheet->steps; i++)
		json_u64(json, NULL, i < row->cells.count ? row->cells.items[i].total : 0);
	json_close(json);
	json_close(json);
	bytes_fini(&name);
}

static void put_json(const struct sheet *sheet)
{
	static const char *const kinds[] = {"thread", "process", "nothing"};
	const struct timeline *timeline = sheet->timeline;
	struct json json;
	size_t i;

	json_init(&json, sheet->out, false);
	json_open_object(&json, NULL);
	json_string(&json, "title", sheet->profile->title);
	json_u64(&json, "duration_ns", sheet->profile->duration_ns);
	json_u64(&json, "from_ns", timeline->options.from_ns);
	json_u64(&json, "step_ns", timeline->step_ns);
	json_u64(&json, "steps", sheet->steps);
	json_u64(&json, "samples", timeline->sum.samples);
	json_u64(&json, "lost", sheet->profile->quality.lost);
	json_open_object(&json, "value");
	json_string(&json, "name", sheet->type.name);
	json_string(&json, "unit", sheet->type.unit);
	json_u64(&json, "total", timeline->sum.total);
	json_close(&json);
	json_string(&json, "by", kinds[timeline->options.by]);
	json_open_array(&json, "rows");
	for (i = 0; i < sheet->shown; i++)
		put_json_row(sheet, &json, &timeline->rows.items[i]);
	json_close(&json);
	json_u64(&json, "more", timeline->rows.count - sheet->shown);
	if (timeline_levels_put_json(sheet->profile, steps_of(sheet), &json) < 0)
		sheet->out->failed = true;
	timeline_gauges_put_json(&timeline->gauges, sheet->profile, sheet->steps, &json);
	json_close(&json);
	bytes_put_u8(sheet->out, '\n');
}

static void put_csv(const struct sheet *sheet)
{
	const struct timeline *timeline = sheet->timeline;
	struct bytes *out = sheet->out;
	size_t i;
	size_t at;

	bytes_printf(out, "since_start_ns,step_ns,name,samples,total,value,unit,state\n");
	for (i = 0; i < sheet->shown; i++) {
		const struct row *row = &timeline->rows.items[i];
		struct bytes name = {0};

		put_name(sheet, row, &name);
		for (at = 0; at < row->cells.count; at++) {
			if (row->cells.items[at].samples == 0 && row->cells.items[at].total == 0)
				continue;
			bytes_printf(out, "%" PRIu64 ",%" PRIu64 ",",
				     timeline->options.from_ns + at * timeline->step_ns,
				     timeline->step_ns);
			text_put_csv(out, name.failed ? "" : (char *)name.data);
			bytes_printf(out, ",%" PRIu64 ",%" PRIu64 ",", row->cells.items[at].samples,
				     row->cells.items[at].total);
			text_put_csv(out, sheet->type.name);
			bytes_put_u8(out, ',');
			text_put_csv(out, sheet->type.unit);
			bytes_put_u8(out, ',');
			text_put_csv(out, timeline->states[row->state]);
			bytes_put_u8(out, '\n');
		}
		bytes_fini(&name);
	}
}

int timeline_write(struct timeline *timeline, const struct profile *profile, struct bytes *out,
		   struct error *err)
{
	static void (*const writers[])(const struct sheet *sheet) = {
		[TIMELINE_TEXT] = put_text,
		[TIMELINE_JSON] = put_json,
		[TIMELINE_CSV] = put_csv,
	};
	struct sheet sheet = {.timeline = timeline,
			      .profile = profile,
			      .type = profile->value_types[profile->main_value],
			      .shown = timeline->rows.count,
			      .out = out};
	size_t i;

	timeline->step_ns = step_of(timeline, profile);
	sheet.steps = profile->duration_ns / timeline->step_ns +
		      (profile->duration_ns % timeline->step_ns > 0);
	for (i = 0; i < timeline->rows.count; i++)
		if (timeline->rows.items[i].cells.count > sheet.steps)
			sheet.steps = timeline->rows.items[i].cells.count;
	if (sheet.steps > TIMELINE_MAX_STEPS)
		return too_many(timeline, err);
	if (timeline->options.limit > 0 && timeline->options.limit < sheet.shown)
		sheet.shown = timeline->options.limit;
	if (sort_rows(timeline, profile) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	writers[timeline->options.format](&sheet);
	return out->failed ? error_set(err, -ENOMEM, "out of memory") : 0;
}
