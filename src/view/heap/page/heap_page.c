/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/heap/page/heap_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/scope.h"
#include "base/vec.h"
#include "heap/address_map.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/leak/leak_rows.h"
#include "heap/report.h"
#include "heap/timeline/findings.h"
#include "model/profile.h"
#include "view/flame/flame_picture.h"
#include "view/heap/heap_memory.h"
#include "view/heap/heap_numbers.h"
#include "view/heap/leak_report.h"
#include "view/heap/page/heap_page_assets.h"
#include "view/heap/site_rows.h"
#include "view/page/shared/page_file.h"

/*
 * The data of the page. Sites are rows of site_rows, largest first; other members refer to them by
 * index.
 *
 *	totals, quality    as in docs/reference/json.md
 *	pools              their totals, if any
 *	doubts             [[count, words] …]
 *	end_ns, step_ns    of the timeline
 *	steps              of each step: {"live": [bytes …], "most", "least", "blocks" …}
 *	sites              as the rows of report --by site, and "where": some of its stacks,
 *	                   {"peak", "live", "allocated": bytes, "frames": [line …]}; of those
 *	                   that are inlined -line - 1
 *	lines              [[function, module, file, line] …]
 *	more               sites left out: {"places", "peak": bytes}
 *	over_time          of the first sites: [step, bytes, step, bytes …] for each change
 *	findings           [{"kind", "from_ns", "to_ns", "level", "change",
 *	                   "causes": [[site, bytes] …]} …]
 *	growths            [[site, bytes per second, fit, live bytes] …]
 *	classes            [[size, blocks, bytes, bytes at the peak, at the end, temporary] …]
 *	lifetimes          [{"from_ns", "blocks"} …]
 *	threads            [{"name", "tid", …} …]
 *	memory             readings, see heap_memory.h
 *	map                {"shift", "columns", "step_ns", "processes", "rows": [[pid, address,
 *	                   [column, live bytes, …] for each change] …]}; null: none
 *	leaks              as in wick leaks --format json
 */

#define MOST_PLACES 5000u /* limit for sites in the page; further ones are summed up */
#define MOST_STACKS 8u    /* stacks per site */
#define MOST_LEAKS 200u   /* leak rows */
#define MOST_TIMED 200u   /* sites with bytes over time */
#define MOST_READINGS 4096u

struct page {
	const struct heap_profile *heap;
	const struct profile *profile;
	const struct heap_report *report;
	struct json json;
	struct site_rows rows;
	size_t shown;
	struct heap_site_sums *sums; /* by site */
	uint32_t *numbers;   /* by line of the profile: its number in the page, or ID_NONE */
	VEC(uint32_t) lines; /* of the profile, in the order of the page */
	VEC(uint32_t) sites; /* by row, largest at the peak first */
	struct heap_findings findings;
};

static void page_fini(struct page *page)
{
	site_rows_fini(&page->rows);
	free(page->sums);
	free(page->numbers);
	vec_fini(&page->lines);
	vec_fini(&page->sites);
	heap_findings_fini(&page->findings);
}

/* Sorts sites by their rows. */
static int compare_sites(const void *a, const void *b, void *self)
{
	const struct page *page = self;
	uint32_t x = *(const uint32_t *)a;
	uint32_t y = *(const uint32_t *)b;

	if (page->rows.of_site[x] != page->rows.of_site[y])
		return page->rows.of_site[x] < page->rows.of_site[y] ? -1 : 1;
	if (page->sums[x].peak.bytes != page->sums[y].peak.bytes)
		return page->sums[x].peak.bytes < page->sums[y].peak.bytes ? 1 : -1;
	if (page->sums[x].allocated.bytes != page->sums[y].allocated.bytes)
		return page->sums[x].allocated.bytes < page->sums[y].allocated.bytes ? 1 : -1;
	return x < y ? -1 : x > y;
}

static int page_init(struct page *page)
{
	const struct heap_sites *sites = &page->report->sites;
	size_t lines = page->profile->lines.count + 1;
	int r = site_rows_init(page->profile, page->report, page->heap->stacks, &page->rows);
	struct heap_groups groups = {page->rows.of_site, page->rows.count};

	if (r == 0)
		r = heap_findings_make(page->report, &groups, &page->findings);
	page->sums = heap_sites_sums(sites, page->report->totals.peak_number);
	page->numbers = malloc(lines * sizeof(*page->numbers));
	if (r < 0 || !page->sums || !page->numbers)
		return -ENOMEM;
	memset(page->numbers, 0xff, lines * sizeof(*page->numbers)); /* ID_NONE */
	page->shown = page->rows.count < MOST_PLACES ? page->rows.count : MOST_PLACES;
	for (uint32_t i = 0; i < sites->sites.count; i++)
		if (page->rows.of_site[i] < page->shown && vec_push(&page->sites, i) < 0)
			return -ENOMEM;
	if (page->sites.count > 0)
		qsort_r(page->sites.items, page->sites.count, sizeof(*page->sites.items),
			compare_sites, page);
	return 0;
}

/* Further doubts about the file and its stacks. */
static void put_doubt(struct json *json, uint64_t count, const char *words)
{
	if (count == 0)
		return;
	json_open_array(json, NULL);
	json_u64(json, NULL, count);
	json_string(json, NULL, words);
	json_close(json);
}

static void put_doubts(struct page *page)
{
	const struct profile_quality *quality = &page->profile->quality;
	struct json *json = &page->json;
	struct heap_doubt doubts[HEAP_DOUBTS];

	heap_doubts_of(quality, page->report, doubts);
	json_open_array(json, "doubts");
	for (size_t i = 0; i < HEAP_DOUBTS; i++)
		put_doubt(json, doubts[i].count, doubts[i].words);
	put_doubt(json, quality->truncated, "blocks have truncated stacks");
	put_doubt(json, quality->unsymbolised,
		  "blocks come from code without a symbol; to find out why: wick report --missing "
		  "FILE");
	json_close(json);
	json_bool(json, "incomplete", quality->incomplete);
}

/* The number of a line in the page; ID_NONE: out of memory. */
static uint32_t line_number(struct page *page, uint32_t line)
{
	if (page->numbers[line] == ID_NONE && vec_push(&page->lines, line) == 0)
		page->numbers[line] = (uint32_t)page->lines.count - 1;
	return page->numbers[line];
}

/* Innermost function first; inlined ones are separate lines. */
static int put_stack(struct page *page, uint32_t site)
{
	const struct profile *profile = page->profile;
	const struct stack_node *nodes = profile->stacks.nodes.items;
	struct json *json = &page->json;
	uint32_t number = 0;

	json_open_object(json, NULL);
	heap_put_number(json, "peak", page->sums[site].peak.bytes);
	heap_put_number(json, "live", page->sums[site].live.bytes);
	heap_put_number(json, "allocated", page->sums[site].allocated.bytes);
	json_open_array(json, "frames");
	for (uint32_t at = page->heap->stacks[site]; at != 0 && number != ID_NONE;
	     at = nodes[at].parent) {
		const struct profile_location *location =
			&profile->locations.items[nodes[at].frame];

		for (uint32_t i = location->line_count; i-- > 0 && number != ID_NONE;) {
			number = line_number(page, location->first_line + i);
			json_i64(json, NULL, i > 0 ? -(int64_t)number - 1 : number);
		}
	}
	json_close(json);
	json_close(json);
	return number == ID_NONE ? -ENOMEM : 0;
}

static int put_sites(struct page *page)
{
	struct json *json = &page->json;
	double rest = 0;
	size_t at = 0;
	int r = 0;

	json_open_array(json, "sites");
	for (uint32_t row = 0; row < page->shown && r == 0; row++) {
		size_t first = at;

		json_open_object(json, NULL);
		heap_put_place(json, page->profile, &page->rows.items[row]);
		json_open_array(json, "where");
		for (; at < page->sites.count && page->rows.of_site[page->sites.items[at]] == row;
		     at++)
			if (at - first < MOST_STACKS && r == 0)
				r = put_stack(page, page->sites.items[at]);
		json_close(json);
		json_close(json);
	}
	json_close(json);
	for (size_t i = page->shown; i < page->rows.count; i++)
		rest += page->rows.items[i].sums.peak.bytes;
	json_open_object(json, "more");
	json_u64(json, "places", page->rows.count - page->shown);
	heap_put_number(json, "peak", rest);
	json_close(json);
	return r;
}

static void put_lines(struct page *page)
{
	const struct profile *profile = page->profile;
	struct json *json = &page->json;

	json_open_array(json, "lines");
	for (size_t i = 0; i < page->lines.count; i++) {
		struct profile_line line = profile->lines.items[page->lines.items[i]];
		const struct profile_function *function = &profile->functions.items[line.function];

		json_open_array(json, NULL);
		json_string(json, NULL, profile_text(profile, function->name));
		json_string(json, NULL, profile_text(profile, function->module));
		json_string(json, NULL, profile_text(profile, profile_line_file(profile, line)));
		json_u64(json, NULL, line.line);
		json_close(json);
	}
	json_close(json);
}

static double live_of(const struct heap_step *step)
{
	return step->live.bytes;
}

static double most_of(const struct heap_step *step)
{
	return step->most_bytes;
}

static double least_of(const struct heap_step *step)
{
	return step->least_bytes;
}

static double blocks_of(const struct heap_step *step)
{
	return step->live.blocks;
}

static double allocated_of(const struct heap_step *step)
{
	return step->allocated.bytes;
}

static double freed_of(const struct heap_step *step)
{
	return step->freed.bytes;
}

static void put_steps(struct page *page)
{
	static const struct {
		const char *name;
		double (*of)(const struct heap_step *step);
	} columns[] = {
		{"live", live_of},     {"most", most_of},           {"least", least_of},
		{"blocks", blocks_of}, {"allocated", allocated_of}, {"freed", freed_of},
	};
	const struct heap_timeline *timeline = &page->report->timeline;
	struct json *json = &page->json;

	json_u64(json, "end_ns", page->report->end_ns);
	json_u64(json, "step_ns", timeline->step_ns);
	json_open_object(json, "steps");
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		json_open_array(json, columns[i].name);
		for (size_t k = 0; k < timeline->steps.count; k++)
			heap_put_number(json, NULL, columns[i].of(&timeline->steps.items[k]));
		json_close(json);
	}
	json_close(json);
}

/* Collects the changes per step of the rows shown over time, in one array. */
static void add_changes(const struct page *page, double *held, double *changes, size_t timed)
{
	const struct heap_history *history = &page->report->site_history;
	const struct heap_timeline *timeline = &page->report->timeline;

	for (size_t i = 0; i < history->moments.count; i++) {
		const struct heap_moment *moment = &history->moments.items[i];
		uint64_t step = moment->time_ns / timeline->step_ns;
		uint32_t row = page->rows.of_site[moment->id];

		if (row >= timed)
			continue;
		step = step > 0 ? step - 1 : 0; /* times are ends of steps */
		if (step >= timeline->steps.count)
			step = timeline->steps.count - 1;
		changes[row * timeline->steps.count + step] +=
			moment->live_bytes - held[moment->id];
		held[moment->id] = moment->live_bytes;
	}
}

/* Writes what sites held, for each change. */
static int put_over_time(struct page *page)
{
	size_t steps = page->report->timeline.steps.count;
	size_t timed = page->shown < MOST_TIMED ? page->shown : MOST_TIMED;
	SCOPED(mem)
	double *held = calloc(page->report->sites.sites.count + 1, sizeof(*held));
	SCOPED(mem) double *changes = calloc(timed * steps + 1, sizeof(*changes));

	if (!held || !changes)
		return -ENOMEM;
	add_changes(page, held, changes, timed);
	json_open_array(&page->json, "over_time");
	for (size_t row = 0; row < timed; row++) {
		double bytes = 0;

		json_open_array(&page->json, NULL);
		for (size_t i = 0; i < steps; i++) {
			if (changes[row * steps + i] == 0)
				continue;
			bytes += changes[row * steps + i];
			json_u64(&page->json, NULL, i);
			heap_put_number(&page->json, NULL, bytes);
		}
		json_close(&page->json);
	}
	json_close(&page->json);
	return 0;
}

/* The index of a row in the page; null: not in it. */
static void put_place(struct page *page, uint32_t row)
{
	if (row < page->shown)
		json_u64(&page->json, NULL, row);
	else
		json_string(&page->json, NULL, NULL);
}

static void put_findings(struct page *page)
{
	struct json *json = &page->json;

	json_open_array(json, "findings");
	for (size_t i = 0; i < page->findings.items.count; i++) {
		const struct heap_finding *finding = &page->findings.items.items[i];

		json_open_object(json, NULL);
		json_string(json, "kind", heap_finding_name(finding->kind));
		json_u64(json, "from_ns", finding->from_ns);
		json_u64(json, "to_ns", finding->to_ns);
		heap_put_number(json, "level", finding->level_bytes);
		json_double(json, "change", finding->change_bytes, 0);
		json_open_array(json, "causes");
		for (uint32_t k = 0; k < finding->cause_count; k++) {
			json_open_array(json, NULL);
			put_place(page, finding->causes[k].group);
			json_double(json, NULL, finding->causes[k].bytes, 0);
			json_close(json);
		}
		json_close(json);
		json_close(json);
	}
	json_close(json);
	json_open_array(json, "growths");
	for (size_t i = 0; i < page->findings.growths.count; i++) {
		const struct heap_growth *growth = &page->findings.growths.items[i];

		json_open_array(json, NULL);
		put_place(page, page->rows.of_site[growth->site]);
		json_double(json, NULL, growth->trend.bytes_per_second, 0);
		json_double(json, NULL, growth->trend.fit, 3);
		heap_put_number(json, NULL, growth->live_bytes);
		json_close(json);
	}
	json_close(json);
}

static void put_sizes(struct page *page)
{
	struct json *json = &page->json;

	json_open_array(json, "classes");
	for (uint32_t i = 0; i < HEAP_CLASSES; i++) {
		const struct heap_class *class = &page->report->classes[i];

		if (class->allocated.blocks <= 0)
			continue;
		json_open_array(json, NULL);
		json_u64(json, NULL, heap_class_low(i));
		heap_put_number(json, NULL, class->allocated.blocks);
		heap_put_number(json, NULL, class->allocated.bytes);
		heap_put_number(
			json, NULL,
			heap_level_at_peak(&class->level, page->report->totals.peak_number).bytes);
		heap_put_number(json, NULL, class->level.live.bytes);
		heap_put_number(json, NULL, class->temporary_blocks);
		json_close(json);
	}
	json_close(json);
	heap_put_lifetimes(json, &page->report->lifetimes);
}

static void put_thread(struct page *page, const struct heap_thread *thread,
		       const struct profile_thread *named)
{
	struct json *json = &page->json;

	json_open_object(json, NULL);
	json_string(json, "name", profile_text(page->profile, named->comm));
	json_string(json, "process", profile_text(page->profile, named->process_comm));
	json_u64(json, "pid", named->pid);
	json_u64(json, "tid", named->tid);
	heap_put_sum(json, "allocated", thread->allocated);
	heap_put_sum(json, "freed", thread->freed);
	heap_put_sum(json, "live", thread->live);
	heap_put_number(json, "most_bytes", thread->most_bytes);
	heap_put_number(json, "temporary_blocks", thread->temporary_blocks);
	heap_put_number(json, "foreign_blocks", thread->foreign_blocks);
	json_close(json);
}

static void put_threads(struct page *page)
{
	json_open_array(&page->json, "threads");
	for (size_t i = 0; i < page->report->threads.count; i++) {
		const struct heap_thread *thread = &page->report->threads.items[i];
		uint32_t id = page->heap->threads[i];

		if (id != ID_NONE && (thread->allocated.blocks > 0 || thread->freed.blocks > 0))
			put_thread(page, thread, &page->profile->threads.items[id]);
	}
	json_close(&page->json);
}

/* The pid of a process; 0: none of its threads is known. */
static uint32_t pid_of(const struct page *page, uint32_t process)
{
	for (size_t i = 0; i < page->report->threads.count; i++)
		if (page->heap->threads[i] != ID_NONE &&
		    heap_thread_process(&page->report->threads.items[i]) == process)
			return page->profile->threads.items[page->heap->threads[i]].pid;
	return 0;
}

static void put_map_row(struct page *page, const struct heap_map *map, uint32_t row)
{
	struct json *json = &page->json;
	double last = 0;

	json_open_array(json, NULL);
	json_u64(json, NULL, pid_of(page, map->rows[row].process));
	json_u64(json, NULL, map->rows[row].part << map->shift);
	json_open_array(json, NULL);
	for (uint32_t i = 0; i < map->column_count; i++) {
		double live = round(fmax(0, (double)map->live[i][row]));

		if (live == last)
			continue;
		last = live;
		json_u64(json, NULL, i);
		heap_put_number(json, NULL, live);
	}
	json_close(json);
	json_close(json);
}

static void put_map(struct page *page)
{
	const struct heap_map *map = page->report->map;
	struct json *json = &page->json;
	uint64_t processes = 0;

	if (!map) {
		json_string(json, "map", NULL);
		return;
	}
	json_open_object(json, "map");
	json_u64(json, "shift", map->shift);
	json_u64(json, "columns", map->column_count);
	json_u64(json, "step_ns", map->step_ns);
	json_open_array(json, "rows");
	for (uint32_t i = 0; i < map->row_count; i++) {
		processes += i == 0 || map->rows[i].process != map->rows[i - 1].process;
		put_map_row(page, map, i);
	}
	json_close(json);
	json_u64(json, "processes", processes);
	json_close(json);
}

static int put_memory(struct page *page)
{
	const struct heap_footprint *footprint = &page->report->footprint;
	SCOPED(mem) struct heap_memory_sum *sums = heap_footprint_sums(footprint);
	size_t one_in = footprint->readings.count / MOST_READINGS + 1;
	size_t seen[2] = {0};
	size_t n = 0;

	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < footprint->readings.count; i++)
		if (seen[sums[i].is_split]++ % one_in == 0)
			sums[n++] = sums[i];
	heap_memory_put_json(&page->json, "memory", sums, n, 0);
	return 0;
}

/* Their sites are in wick report --by site. */
static void put_pools(struct page *page)
{
	if (!page->report->pools)
		return;
	json_open_object(&page->json, "pools");
	heap_put_totals(&page->json, page->report->pools);
	json_close(&page->json);
}

/* The rows of wick leaks, without suppressions. */
static int put_leaks(struct page *page)
{
	const struct leak_report_options options = {.form = LEAK_JSON, .limit = MOST_LEAKS};
	struct leak_rows rows;
	int r = leak_rows_init(page->heap, &options.filter, &rows);

	json_open_object(&page->json, "leaks");
	if (r == 0)
		leak_report_put_json(page->heap, &rows, &options, &page->json);
	json_close(&page->json);
	leak_rows_fini(&rows);
	return r;
}

int heap_page_put_data(const struct heap_profile *heap, struct bytes *out)
{
	struct page page = {.heap = heap,
			    .profile = heap->profile,
			    .report = heap_analysis_report(heap->analysis)};
	int r = page_init(&page);

	if (r == 0) {
		json_init(&page.json, out, false);
		json_open_object(&page.json, NULL);
		heap_put_totals(&page.json, page.report);
		heap_put_quality(&page.json, page.report);
		put_pools(&page);
		put_doubts(&page);
		put_steps(&page);
		r = put_sites(&page);
		if (r == 0)
			r = put_over_time(&page);
		put_lines(&page);
		put_findings(&page);
		put_sizes(&page);
		put_threads(&page);
		put_map(&page);
		if (r == 0)
			r = put_memory(&page);
		if (r == 0)
			r = put_leaks(&page);
		json_close(&page.json);
	}
	page_fini(&page);
	return r < 0 || out->failed ? -ENOMEM : 0;
}

static void put_about(const struct profile *profile, const char *title, struct bytes *out)
{
	struct json json;

	bytes_printf(out, "<script type=\"application/json\" id=\"about\">");
	json_init(&json, out, false);
	json_open_object(&json, NULL);
	flame_put_recording(&json, profile, &(const struct flame_options){0});
	json_string(&json, "counted", "blocks"); /* elsewhere samples are counted */
	json_string(&json, "heading", title);
	json_close(&json);
	bytes_printf(out, "</script>\n");
}

int heap_page_write(const struct heap_profile *heap, const struct heap_page_options *options,
		    struct bytes *out, struct error *err)
{
	const char *title = options->title ? options->title : heap->profile->title;
	struct bytes data = {0};
	int r = heap_page_put_data(heap, &data);

	if (!*title)
		title = "heap";
	if (r == 0) {
		page_file_begin(out, title, heap_page_css, heap_page_html);
		put_about(heap->profile, title, out);
		r = page_file_put_packed(out, "heap", &data);
		page_file_end(out, heap_page_js);
	}
	bytes_fini(&data);
	if (r < 0 || out->failed)
		return error_set(err, -ENOMEM, "cannot write the page: no memory");
	return 0;
}
