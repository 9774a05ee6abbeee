/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/top/top_view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/quantity.h"
#include "model/profile.h"
#include "view/top/top_screen.h"
#include "view/top/top_state.h"

#define HEAD_ROWS 2u
#define FOOT_ROWS 1u
#define FLAME_LEAST_ROWS 12u /* minimum of middle rows for a flame graph below a table */
#define SHARE_COLUMNS 7u     /* "100.0% " */
#define MODULE_COLUMNS 20u
#define WIDE_COLUMNS 60u /* minimum width to show modules */

/* The rows between the first lines and the last one. */
static uint32_t middle_rows(uint32_t rows)
{
	return rows > HEAD_ROWS + FOOT_ROWS ? rows - HEAD_ROWS - FOOT_ROWS : 0;
}

struct top_size top_view_flame(const struct top_state *state, uint32_t columns, uint32_t rows)
{
	uint32_t middle = middle_rows(rows);

	if (state->pane == TOP_FLAME)
		return (struct top_size){columns, middle};
	if (state->pane == TOP_THREADS || middle < FLAME_LEAST_ROWS)
		return (struct top_size){0};
	return (struct top_size){columns, middle * 2 / 5};
}

size_t top_view_page(const struct top_state *state, uint32_t rows)
{
	uint32_t taken = top_view_flame(state, 1, rows).rows + 1; /* and the heads of columns */
	uint32_t middle = middle_rows(rows);

	return middle > taken ? middle - taken : 0;
}

/* A field of a row, up to a width. */
static struct top_span field(uint32_t row, uint32_t column, uint32_t width, enum top_style style)
{
	return (struct top_span){.row = row, .column = column, .width = width, .style = style};
}

static const char *as_text(struct bytes *text)
{
	bytes_put_u8(text, '\0');
	return text->failed ? "" : (const char *)text->data;
}

static void put_title(struct top_screen *screen, const struct top_model *model,
		      const struct top_state *state, const struct top_facts *facts)
{
	uint64_t seconds = model->profile->duration_ns / NS_PER_SEC;
	struct bytes left = {0};
	char right[64];
	uint32_t width;

	if (state->since_start)
		(void)snprintf(right, sizeof(right), " %ssince start, %02" PRIu64 ":%02" PRIu64 " ",
			       state->paused ? "PAUSED, " : "", seconds / 60, seconds % 60);
	else
		(void)snprintf(right, sizeof(right), " %slast %u s ",
			       state->paused ? "PAUSED, " : "", facts->window_s);
	width = (uint32_t)strlen(right);
	bytes_printf(&left, " wick top: %s", facts->title);
	if (screen->columns < 2 * width) {
		top_screen_put(screen, field(0, 0, screen->columns, TOP_BAR), as_text(&left));
	} else {
		top_screen_put(screen, field(0, 0, screen->columns - width, TOP_BAR),
			       as_text(&left));
		top_screen_put(screen, field(0, screen->columns - width, width, TOP_BAR), right);
	}
	bytes_fini(&left);
}

/* Which time was sampled: an engine may measure another one than requested. */
static const char *time_name(const char *value)
{
	if (strcmp(value, "cpu") == 0)
		return "CPU";
	return strcmp(value, "off-cpu") == 0 ? "off CPU" : "time";
}

/* Reports a problem of at least one in a hundred samples; there is little space. */
static void put_share_of_samples(struct bytes *text, const struct profile_quality *quality,
				 uint64_t part, const char *what)
{
	if (part > 0 && part * 100 >= quality->samples)
		bytes_printf(text, ", %s %s",
			     quantity_share((int64_t)part, (int64_t)quality->samples).text, what);
}

static void put_quality(struct bytes *text, const struct profile_quality *quality)
{
	bytes_printf(text, " %s samples", quantity_count(quality->samples).text);
	if (quality->lost > 0)
		bytes_printf(text, ", %s lost", quantity_count(quality->lost).text);
	put_share_of_samples(text, quality, quality->truncated, "cut");
	put_share_of_samples(text, quality, quality->unsymbolised, "unnamed");
}

/* What narrows the view, and its share. */
static void put_choices(struct bytes *text, const struct top_model *model,
			const struct top_state *state)
{
	if (state->filter[0] && !state->typing)
		bytes_printf(text, "  filter: %s", state->filter);
	if (state->thread != 0)
		bytes_printf(text, "  thread: %u", state->thread);
	if (top_state_focus(state))
		bytes_printf(text, "  zoom: %s", top_state_focus(state));
	if (state->thread != 0 || top_state_focus(state))
		bytes_printf(text, " (%s)", quantity_share(model->whole, model->all).text);
}

static void put_status(struct top_screen *screen, const struct top_model *model,
		       const struct top_state *state, const struct top_facts *facts)
{
	const struct profile *profile = model->profile;
	struct value_type type = profile->value_types[model->value];
	struct bytes text = {0};

	if (facts->note[0]) {
		bytes_printf(&text, " %s", facts->note);
		top_screen_put(screen, field(1, 0, screen->columns, TOP_WARNING), as_text(&text));
		bytes_fini(&text);
		return;
	}
	if (strcmp(type.unit, "nanoseconds") == 0 && profile->duration_ns > 0)
		bytes_printf(&text, " %s %.1f%%", time_name(type.name),
			     100.0 * (double)model->all / (double)profile->duration_ns);
	put_quality(&text, &profile->quality);
	if (state->since_start && facts->forgotten > 0)
		bytes_printf(&text, ", %s dropped",
			     quantity_share(facts->forgotten, facts->forgotten + model->all).text);
	put_choices(&text, model, state);
	bytes_printf(&text, "  %s", facts->engine);
	if (!facts->at_switches)
		bytes_printf(&text, " %u Hz", facts->rate_hz);
	top_screen_put(screen, field(1, 0, screen->columns, TOP_PLAIN), as_text(&text));
	bytes_fini(&text);
}

static void put_keys(struct top_screen *screen, const struct top_state *state)
{
	uint32_t row = screen->rows - 1;
	struct bytes text = {0};

	if (screen->rows <= HEAD_ROWS)
		return;
	if (state->typing)
		bytes_printf(&text, " filter: %s_", state->filter);
	else
		bytes_printf(&text, " ? help  q quit  Tab view  Enter zoom  Esc back  / filter  "
				    "s sort  p pause");
	top_screen_put(screen, field(row, 0, screen->columns, TOP_BAR), as_text(&text));
	bytes_fini(&text);
}

/* Columns from left to right: shares, the name, and on wide screens its module. */
struct columns {
	uint32_t name;
	uint32_t name_width;
	uint32_t module;
	uint32_t module_width;
};

static struct columns columns_of(uint32_t width, uint32_t shares)
{
	struct columns columns = {.name = 1 + shares * SHARE_COLUMNS};

	if (columns.name >= width)
		return columns;
	columns.name_width = width - columns.name;
	if (width < WIDE_COLUMNS)
		return columns;
	columns.module_width = MODULE_COLUMNS;
	columns.name_width -= MODULE_COLUMNS + 1;
	columns.module = columns.name + columns.name_width + 1;
	return columns;
}

static void put_share(struct top_screen *screen, struct top_span place, int64_t part, int64_t whole)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "%6s ", quantity_share(part, whole).text);
	top_screen_put(screen, place, text);
}

static void put_head(struct top_screen *screen, const struct top_state *state, bool threads)
{
	struct columns columns = columns_of(screen->columns, threads ? 1 : 2);
	static const char *const heads[] = {" SELF", " TOTAL", "FUNCTION"};
	uint32_t row = HEAD_ROWS;

	top_screen_put(screen, field(row, 0, 1, TOP_DIM), "");
	if (threads) {
		top_screen_put(screen, field(row, 1, SHARE_COLUMNS, TOP_STRONG), " TIME");
		top_screen_put(screen, field(row, columns.name, columns.name_width, TOP_DIM),
			       "THREAD");
		top_screen_put(screen, field(row, columns.module, columns.module_width, TOP_DIM),
			       columns.module ? "PROCESS" : "");
		return;
	}
	for (uint32_t i = 0; i < TOP_SORTS; i++) {
		bool sorted = state->sort == (enum top_sort)i;
		char text[16];

		(void)snprintf(text, sizeof(text), "%s%s", heads[i], sorted ? "*" : "");
		top_screen_put(screen,
			       field(row, 1 + i * SHARE_COLUMNS,
				     i == TOP_BY_NAME ? columns.name_width : SHARE_COLUMNS,
				     sorted ? TOP_STRONG : TOP_DIM),
			       text);
	}
	if (columns.module_width > 0)
		top_screen_put(screen, field(row, columns.module, columns.module_width, TOP_DIM),
			       "MODULE");
}

static void put_function(struct top_screen *screen, const struct top_model *model, size_t i,
			 uint32_t row, enum top_style style)
{
	const struct profile *profile = model->profile;
	const struct top_function *item = &model->functions.items[i];
	const struct profile_function *function = &profile->functions.items[item->function];
	struct columns columns = columns_of(screen->columns, 2);

	top_screen_put(screen, field(row, 0, 1, style), style == TOP_SELECTED ? ">" : "");
	put_share(screen, field(row, 1, SHARE_COLUMNS, style), item->self, model->whole);
	put_share(screen, field(row, 1 + SHARE_COLUMNS, SHARE_COLUMNS, style), item->total,
		  model->whole);
	top_screen_put(screen, field(row, columns.name, columns.name_width, style),
		       profile_text(profile, function->name));
	if (columns.module_width == 0)
		return;
	top_screen_put(screen, field(row, columns.module - 1, 1, style), "");
	/* Interpreted code is in no module. */
	top_screen_put(screen, field(row, columns.module, columns.module_width, style),
		       path_base_name(profile_text(profile, function->origin == ORIGIN_INTERPRETED
								    ? function->file
								    : function->module)));
}

static void put_thread(struct top_screen *screen, const struct top_model *model, size_t i,
		       uint32_t row, enum top_style style)
{
	const struct profile *profile = model->profile;
	const struct top_thread *item = &model->threads.items[i];
	const struct profile_thread *thread = &profile->threads.items[item->thread];
	struct columns columns = columns_of(screen->columns, 1);
	struct bytes text = {0};

	top_screen_put(screen, field(row, 0, 1, style), style == TOP_SELECTED ? ">" : "");
	put_share(screen, field(row, 1, SHARE_COLUMNS, style), item->value, model->all);
	bytes_printf(&text, "%s (%u)", profile_text(profile, thread->comm), thread->tid);
	top_screen_put(screen, field(row, columns.name, columns.name_width, style), as_text(&text));
	bytes_clear(&text);
	if (columns.module_width > 0) {
		bytes_printf(&text, "%s (%u)", profile_text(profile, thread->process_comm),
			     thread->pid);
		top_screen_put(screen, field(row, columns.module - 1, 1, style), "");
		top_screen_put(screen, field(row, columns.module, columns.module_width, style),
			       as_text(&text));
	}
	bytes_fini(&text);
}

/* Finds the new position of the selected function, and keeps the selection on the screen. */
static void correct_selection(struct top_state *state, const struct top_model *model, size_t page)
{
	top_state_follow(state, model);
	if (state->selected < state->first)
		state->first = state->selected;
	if (page > 0 && state->selected >= state->first + page)
		state->first = state->selected - page + 1;
}

static const char *why_empty(const struct top_model *model, const struct top_state *state)
{
	if (state->filter[0])
		return "nothing matches the filter";
	if (model->profile->duration_ns < NS_PER_SEC)
		return "no samples yet";
	if (model->all > 0)
		return "no samples of the zoomed function or thread in this window";
	return strcmp(model->profile->value_types[model->value].name, "cpu") == 0
		       ? "no samples: nothing is running on a CPU"
		       : "no samples: no thread went off CPU and came back";
}

static void put_table(struct top_screen *screen, const struct top_model *model,
		      struct top_state *state, bool plain)
{
	bool threads = state->pane == TOP_THREADS;
	size_t count = threads ? model->threads.count : model->functions.count;
	size_t page = top_view_page(state, screen->rows);

	correct_selection(state, model, page);
	if (middle_rows(screen->rows) == 0)
		return;
	put_head(screen, state, threads);
	if (count == 0 && page > 0)
		top_screen_put(screen, field(HEAD_ROWS + 1, 1, screen->columns - 1, TOP_DIM),
			       why_empty(model, state));
	for (size_t i = 0; i < page && state->first + i < count; i++) {
		size_t at = state->first + i;
		uint32_t row = HEAD_ROWS + 1 + (uint32_t)i;
		enum top_style style = at == state->selected && !plain ? TOP_SELECTED : TOP_PLAIN;

		if (threads)
			put_thread(screen, model, at, row, style);
		else
			put_function(screen, model, at, row, style);
	}
}

static enum top_style box_style(const struct top_model *model, const struct top_box *box)
{
	if (box->function == ID_NONE)
		return TOP_BOX_OTHER;
	switch (model->profile->functions.items[box->function].origin) {
	case ORIGIN_PROGRAM:
	case ORIGIN_INTERPRETED:
		return TOP_BOX_PROGRAM;
	case ORIGIN_LIBRARY:
		return TOP_BOX_LIBRARY;
	case ORIGIN_KERNEL:
		return TOP_BOX_KERNEL;
	default:
		return TOP_BOX_OTHER;
	}
}

static void put_flame(struct top_screen *screen, const struct top_model *model,
		      const struct top_state *state, bool plain)
{
	uint32_t rows = top_view_flame(state, screen->columns, screen->rows).rows;
	uint32_t first = HEAD_ROWS + middle_rows(screen->rows) - rows;
	size_t chosen = top_model_chosen_box(model, state);
	struct bytes text = {0};

	for (size_t i = 0; i < model->boxes.count; i++) {
		const struct top_box *box = &model->boxes.items[i];
		const char *name = top_model_box_name(model, box);
		enum top_style style = box_style(model, box);

		if (state->filter[0] && i > 0 && top_state_matches(state, name))
			style = TOP_MATCH;
		if (state->pane == TOP_FLAME && i == chosen && !plain)
			style = TOP_SELECTED;
		bytes_clear(&text);
		bytes_printf(&text, i == 0 && box->function != ID_NONE ? "|all in %s" : "|%s",
			     name);
		if (box->width > top_text_columns(name) + 8)
			bytes_printf(&text, " %s", quantity_share(box->total, model->whole).text);
		/* One or two letters and a cut mark would be useless. */
		if (box->width < 4)
			text.size = 1;
		top_screen_put(screen, field(first + box->depth, box->column, box->width, style),
			       as_text(&text));
	}
	bytes_fini(&text);
}

static void put_help(struct top_screen *screen)
{
	static const char *const lines[] = {
		"1 2 3, Tab   functions, threads, only the flame graph",
		"Up Down j k  choose a row; Page Up, Page Down, Home, End",
		"arrows       in the flame graph: choose a box",
		"Enter        zoom: only stacks with this function, or this thread",
		"Esc          go back: one zoom, the thread, the filter",
		"/            filter by part of the name; Enter keeps it, Esc drops it",
		"s            sort by self, total or name",
		"w            show the last seconds, or everything since the start",
		"p, Space     freeze the display; sampling continues",
		"r            start over",
		"? h          this help",
		"q, Ctrl-C    quit",
		"",
		"SELF: time in the function itself. TOTAL: including what it called.",
		"Boxes are as wide as their TOTAL; a function is below its caller.",
	};

	for (uint32_t i = 0; i < ARRAY_SIZE(lines) && i < middle_rows(screen->rows); i++)
		top_screen_put(screen, field(HEAD_ROWS + i, 1, screen->columns - 1, TOP_PLAIN),
			       lines[i]);
}

void top_view_put(struct top_screen *screen, const struct top_model *model, struct top_state *state,
		  const struct top_facts *facts)
{
	if (screen->columns == 0 || screen->rows == 0)
		return;
	put_title(screen, model, state, facts);
	put_status(screen, model, state, facts);
	if (state->help) {
		put_help(screen);
	} else {
		if (state->pane != TOP_FLAME)
			put_table(screen, model, state, facts->plain);
		if (state->pane != TOP_THREADS)
			put_flame(screen, model, state, facts->plain);
	}
	if (!facts->plain)
		put_keys(screen, state);
}
