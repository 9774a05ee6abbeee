/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/heap/heap_timeline.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/id_index.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/scope.h"
#include "base/text.h"
#include "base/vec.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/report.h"
#include "model/profile.h"
#include "view/heap/heap_memory.h"
#include "view/timeline/timeline.h"

#define RATE_REACH 2u /* columns on either side that rates are smoothed over */

struct row {
	uint32_t thread; /* one of its threads, of the profile */
	double most_bytes;
	double *live; /* at the ends of columns */
	double *allocated;
	double *freed;
};

struct sheet {
	const struct profile *profile;
	const struct heap_report *report;
	const struct timeline_options *options;
	const uint32_t *threads;
	uint64_t column_ns;
	size_t columns;
	struct heap_step *steps; /* by column */
	struct heap_memory_sum *memory;
	size_t memory_count;
	VEC(struct row) rows;
	struct bytes *out;
};

static void sheet_fini(struct sheet *sheet)
{
	for (size_t i = 0; i < sheet->rows.count; i++)
		free(sheet->rows.items[i].live); /* all three */
	vec_fini(&sheet->rows);
	free(sheet->steps);
	free(sheet->memory);
}

static size_t column_at(const struct sheet *sheet, uint64_t time_ns)
{
	uint64_t column = time_ns / sheet->column_ns;

	return column < sheet->columns ? (size_t)column : sheet->columns - 1;
}

static void add(struct heap_sum *sum, struct heap_sum more)
{
	sum->bytes += more.bytes;
	sum->blocks += more.blocks;
}

/* Puts the steps of the analysis into columns. 0 or -ENOMEM. */
static int make_columns(struct sheet *sheet)
{
	const struct heap_timeline *timeline = &sheet->report->timeline;
	uint64_t all_ns = timeline->steps.count * timeline->step_ns;
	uint64_t wanted = sheet->options->step_ns ? timeline->steps.count : sheet->options->columns;
	struct heap_step last = {0};

	if (wanted == 0 || wanted > timeline->steps.count)
		wanted = timeline->steps.count;
	sheet->column_ns = wanted ? (all_ns + wanted - 1) / wanted : 1;
	sheet->columns = wanted ? (size_t)((all_ns + sheet->column_ns - 1) / sheet->column_ns) : 1;
	sheet->steps = calloc(sheet->columns, sizeof(*sheet->steps));
	if (!sheet->steps)
		return -ENOMEM;
	for (size_t i = 0, column = 0; i < timeline->steps.count; i++) {
		const struct heap_step *step = &timeline->steps.items[i];
		size_t at = column_at(sheet, i * timeline->step_ns + timeline->step_ns / 2);
		struct heap_step *to = &sheet->steps[at];

		if (i == 0 || at != column) { /* its first */
			to->most_bytes = last.live.bytes;
			to->least_bytes = step->least_bytes;
		}
		column = at;
		to->live = step->live;
		to->most_bytes = fmax(to->most_bytes, step->most_bytes);
		to->least_bytes = fmin(to->least_bytes, step->least_bytes);
		add(&to->allocated, step->allocated);
		add(&to->freed, step->freed);
		last = *step;
	}
	return 0;
}

/* The row of a thread of the profile, created if missing; NULL: out of memory. */
static struct row *row_of(struct sheet *sheet, uint32_t thread)
{
	const struct profile_thread *threads = sheet->profile->threads.items;
	bool by_process = sheet->options->by == TIMELINE_BY_PROCESS;
	struct row row = {.thread = thread};

	for (size_t i = 0; i < sheet->rows.count; i++) {
		uint32_t other = sheet->rows.items[i].thread;

		if (other == thread || (by_process && threads[other].pid == threads[thread].pid))
			return &sheet->rows.items[i];
	}
	row.live = calloc(3 * sheet->columns, sizeof(*row.live));
	if (row.live) {
		row.allocated = row.live + sheet->columns;
		row.freed = row.allocated + sheet->columns;
	}
	if (!row.live || vec_push(&sheet->rows, row) < 0) {
		free(row.live);
		return NULL;
	}
	return &sheet->rows.items[sheet->rows.count - 1];
}

static int compare(const void *a, const void *b)
{
	const struct row *x = a;
	const struct row *y = b;

	if (x->most_bytes != y->most_bytes)
		return x->most_bytes < y->most_bytes ? 1 : -1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Adds the changes of what threads hold to the columns. 0 or -ENOMEM. */
static int add_changes(struct sheet *sheet)
{
	const struct heap_history *history = &sheet->report->thread_history;
	SCOPED(mem) double *held = calloc(sheet->report->threads.count + 1, sizeof(*held));

	if (!held)
		return -ENOMEM;
	for (size_t i = 0; i < history->moments.count; i++) {
		const struct heap_moment *moment = &history->moments.items[i];
		uint32_t thread = sheet->threads[moment->id];
		struct row *row;
		size_t at;

		if (thread == ID_NONE)
			continue;
		row = row_of(sheet, thread);
		if (!row)
			return -ENOMEM;
		/* The end of a step belongs to it. */
		at = column_at(sheet, moment->time_ns - 1);
		row->live[at] += moment->live_bytes - held[moment->id];
		row->allocated[at] += moment->allocated_bytes;
		row->freed[at] += moment->freed_bytes;
		held[moment->id] = moment->live_bytes;
	}
	return 0;
}

static int make_rows(struct sheet *sheet)
{
	if (sheet->options->by == TIMELINE_BY_NOTHING)
		return 0;
	if (add_changes(sheet) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < sheet->rows.count; i++) {
		struct row *row = &sheet->rows.items[i];

		for (size_t at = 0; at < sheet->columns; at++) {
			if (at > 0)
				row->live[at] += row->live[at - 1];
			row->most_bytes = fmax(row->most_bytes, row->live[at]);
		}
	}
	if (sheet->rows.count > 0)
		qsort(sheet->rows.items, sheet->rows.count, sizeof(*sheet->rows.items), compare);
	return 0;
}

static size_t shown_rows(const struct sheet *sheet)
{
	uint32_t limit = sheet->options->limit;

	return limit && sheet->rows.count > limit ? limit : sheet->rows.count;
}

static uint64_t whole(double value)
{
	return value > 0 ? (uint64_t)llround(fmin(value, 0x1p62)) : 0;
}

static struct quantity bytes_of(double bytes)
{
	return quantity_of((int64_t)whole(bytes), "bytes");
}

/* Text */

static void put_name(const struct sheet *sheet, const struct row *row)
{
	const struct profile_thread *thread = &sheet->profile->threads.items[row->thread];
	bool by_process = sheet->options->by == TIMELINE_BY_PROCESS;

	text_put_terminal(sheet->out, profile_text(sheet->profile, by_process ? thread->process_comm
									      : thread->comm));
	bytes_printf(sheet->out, "/%u", by_process ? thread->pid : thread->tid);
}

/* The highest resident memory in each column that has a reading. */
static void put_resident(const struct sheet *sheet)
{
	double most = 0;
	size_t at = 0;

	for (size_t i = 0; i < sheet->memory_count; i++)
		most = fmax(most, sheet->memory[i].resident_bytes);
	if (most <= 0)
		return;
	bytes_printf(sheet->out, "%10s  |", bytes_of(most).text);
	for (size_t i = 0; i < sheet->columns; i++) {
		double here = 0;

		for (; at < sheet->memory_count && column_at(sheet, sheet->memory[at].time_ns) <= i;
		     at++)
			here = fmax(here, sheet->memory[at].resident_bytes);
		bytes_printf(sheet->out, "%s", quantity_bar(whole(here), whole(most)));
	}
	bytes_printf(sheet->out, "|  resident, where measured\n");
}

static void put_text(const struct sheet *sheet)
{
	const struct heap_totals *totals = &sheet->report->totals;
	double allocated = 0;
	struct bytes *out = sheet->out;

	for (size_t i = 0; i < sheet->columns; i++)
		allocated = fmax(allocated, sheet->steps[i].allocated.bytes);
	text_put_terminal(out, *sheet->profile->title ? sheet->profile->title : "(no title)");
	bytes_printf(out, "\npeak %s live, ", bytes_of(totals->peak.bytes).text);
	bytes_printf(
		out, "after %s; ",
		quantity_of((int64_t)(sheet->options->from_ns + totals->peak_ns), "nanoseconds")
			.text);
	bytes_printf(out, "a column is %s\n\n",
		     quantity_of((int64_t)sheet->column_ns, "nanoseconds").text);
	bytes_printf(out, "%10s  |", bytes_of(totals->peak.bytes).text);
	for (size_t i = 0; i < sheet->columns; i++)
		bytes_printf(
			out, "%s",
			quantity_bar(whole(sheet->steps[i].most_bytes), whole(totals->peak.bytes)));
	bytes_printf(out, "|  live\n%10s  |", bytes_of(totals->allocated.bytes).text);
	for (size_t i = 0; i < sheet->columns; i++)
		bytes_printf(
			out, "%s",
			quantity_bar(whole(sheet->steps[i].allocated.bytes), whole(allocated)));
	bytes_printf(out, "|  allocated, at most %s per column\n", bytes_of(allocated).text);
	put_resident(sheet);
	for (size_t i = 0; i < shown_rows(sheet); i++) {
		const struct row *row = &sheet->rows.items[i];

		bytes_printf(out, "%10s  |", bytes_of(row->most_bytes).text);
		for (size_t at = 0; at < sheet->columns; at++)
			bytes_printf(out, "%s",
				     quantity_bar(whole(row->live[at]), whole(totals->peak.bytes)));
		bytes_printf(out, "|  live from ");
		put_name(sheet, row);
		bytes_put_u8(out, '\n');
	}
	if (shown_rows(sheet) < sheet->rows.count)
		bytes_printf(out, "%s more; --limit 0 shows all\n",
			     quantity_count(sheet->rows.count - shown_rows(sheet)).text);
	heap_memory_put_text(sheet->memory, sheet->memory_count, out);
}

/* JSON */

static double rate_at(const struct sheet *sheet, size_t column,
		      double (*of)(const struct heap_step *step))
{
	return heap_steps_rate(sheet->steps, sheet->columns, sheet->column_ns, column, RATE_REACH,
			       of);
}

static double allocated_bytes(const struct heap_step *step)
{
	return step->allocated.bytes;
}

static double allocated_blocks(const struct heap_step *step)
{
	return step->allocated.blocks;
}

static double freed_bytes(const struct heap_step *step)
{
	return step->freed.bytes;
}

static double freed_blocks(const struct heap_step *step)
{
	return step->freed.blocks;
}

static void json_sum(struct json *json, const char *key, struct heap_sum sum)
{
	json_open_object(json, key);
	json_u64(json, "bytes", whole(sum.bytes));
	json_u64(json, "blocks", whole(sum.blocks));
	json_close(json);
}

static void json_rate(const struct sheet *sheet, struct json *json, size_t column)
{
	json_open_object(json, "per_second");
	json_u64(json, "allocated_bytes", whole(rate_at(sheet, column, allocated_bytes)));
	json_u64(json, "allocated_blocks", whole(rate_at(sheet, column, allocated_blocks)));
	json_u64(json, "freed_bytes", whole(rate_at(sheet, column, freed_bytes)));
	json_u64(json, "freed_blocks", whole(rate_at(sheet, column, freed_blocks)));
	json_close(json);
}

static void json_step(const struct sheet *sheet, struct json *json, size_t column)
{
	const struct heap_step *step = &sheet->steps[column];

	json_open_object(json, NULL);
	json_sum(json, "live", step->live);
	json_u64(json, "most_bytes", whole(step->most_bytes));
	json_u64(json, "least_bytes", whole(step->least_bytes));
	json_sum(json, "allocated", step->allocated);
	json_sum(json, "freed", step->freed);
	json_rate(sheet, json, column);
	json_close(json);
}

static void json_numbers(const struct sheet *sheet, struct json *json, const char *key,
			 const double *numbers)
{
	json_open_array(json, key);
	for (size_t i = 0; i < sheet->columns; i++)
		json_u64(json, NULL, whole(numbers[i]));
	json_close(json);
}

static void json_row(const struct sheet *sheet, struct json *json, const struct row *row)
{
	const struct profile_thread *thread = &sheet->profile->threads.items[row->thread];
	bool by_process = sheet->options->by == TIMELINE_BY_PROCESS;

	json_open_object(json, NULL);
	json_string(json, "name",
		    profile_text(sheet->profile, by_process ? thread->process_comm : thread->comm));
	json_string(json, "process", profile_text(sheet->profile, thread->process_comm));
	json_u64(json, "pid", thread->pid);
	if (!by_process)
		json_u64(json, "tid", thread->tid);
	json_u64(json, "most_bytes", whole(row->most_bytes));
	json_numbers(sheet, json, "live_steps", row->live);
	json_numbers(sheet, json, "allocated_steps", row->allocated);
	json_numbers(sheet, json, "freed_steps", row->freed);
	json_close(json);
}

static void put_json(const struct sheet *sheet)
{
	static const char *const by[] = {"thread", "process", "nothing"};
	struct json json;

	json_init(&json, sheet->out, true);
	json_open_object(&json, NULL);
	json_string(&json, "title", sheet->profile->title);
	json_u64(&json, "duration_ns", sheet->profile->duration_ns);
	json_u64(&json, "from_ns", sheet->options->from_ns);
	json_u64(&json, "step_ns", sheet->column_ns);
	json_sum(&json, "peak", sheet->report->totals.peak);
	json_u64(&json, "peak_ns", sheet->report->totals.peak_ns);
	json_open_array(&json, "steps");
	for (size_t i = 0; i < sheet->columns; i++)
		json_step(sheet, &json, i);
	json_close(&json);
	heap_memory_put_json(&json, "memory", sheet->memory, sheet->memory_count,
			     sheet->options->from_ns);
	json_string(&json, "by", by[sheet->options->by]);
	json_open_array(&json, "rows");
	for (size_t i = 0; i < shown_rows(sheet); i++)
		json_row(sheet, &json, &sheet->rows.items[i]);
	json_close(&json);
	json_u64(&json, "more", sheet->rows.count - shown_rows(sheet));
	json_close(&json);
}

static void put_csv(const struct sheet *sheet)
{
	bytes_printf(sheet->out, "time_ns,live_bytes,live_blocks,most_bytes,allocated_bytes,"
				 "allocated_blocks,freed_bytes,freed_blocks\n");
	for (size_t i = 0; i < sheet->columns; i++) {
		const struct heap_step *step = &sheet->steps[i];

		bytes_printf(sheet->out, "%" PRIu64 ",%.0f,%.0f,%.0f,%.0f,%.0f,%.0f,%.0f\n",
			     sheet->options->from_ns + i * sheet->column_ns, step->live.bytes,
			     step->live.blocks, step->most_bytes, step->allocated.bytes,
			     step->allocated.blocks, step->freed.bytes, step->freed.blocks);
	}
}

int heap_timeline_write(const struct heap_profile *heap, const struct timeline_options *options,
			struct bytes *out, struct error *err)
{
	static void (*const writers[])(const struct sheet *) = {
		[TIMELINE_TEXT] = put_text,
		[TIMELINE_JSON] = put_json,
		[TIMELINE_CSV] = put_csv,
	};
	struct sheet sheet = {.profile = heap->profile,
			      .report = heap_analysis_report(heap->analysis),
			      .options = options,
			      .threads = heap->threads,
			      .out = out};
	int r = make_columns(&sheet);

	sheet.memory = heap_footprint_sums(&sheet.report->footprint);
	sheet.memory_count = sheet.report->footprint.readings.count;
	if (!sheet.memory)
		r = -ENOMEM;
	if (r == 0)
		r = make_rows(&sheet);
	if (r == 0)
		writers[options->format](&sheet);
	sheet_fini(&sheet);
	if (r < 0 || out->failed)
		return error_set(err, r < 0 ? r : -ENOMEM, "cannot write the timeline: no memory");
	return 0;
}
