/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "model/profile.h"
#include "server/query.h"
#include "server/render.h"
#include "server/routes.h"
#include "server/source.h"
#include "view/diff/diff.h"
#include "view/diff/diff_gate.h"
#include "view/language.h"
#include "view/language_filter.h"
#include "view/page/flame_page.h"

#define GATES_MAX 16

/* The store keeps processes as labels: formats that begin with a process show the service. */
static void name_threads(struct profile *profile, const struct query *query)
{
	const char *service = selector_value(&query->labels, "service");
	uint32_t id = strings_add(&profile->strings, service ? service : "all");
	size_t i;

	for (i = 0; i < profile->threads.count && id != ID_NONE; i++)
		if (profile->threads.items[i].process_comm == 0) {
			profile->threads.items[i].comm = id;
			profile->threads.items[i].process_comm = id;
		}
}

/* How a profile is called: its selector, or "everything". */
static void describe(struct profile *profile, const struct query *query, const char *selector)
{
	uint32_t id =
		strings_add(&profile->strings, selector && *selector ? selector : "everything");

	if (id != ID_NONE)
		profile->title = profile_text(profile, id);
	name_threads(profile, query);
	if (profile->start_realtime_ns == 0)
		profile->start_realtime_ns = (uint64_t)query->selector.from_s * NS_PER_SEC;
	if (profile->duration_ns == 0)
		profile->duration_ns =
			(uint64_t)(query->selector.to_s - query->selector.from_s) * NS_PER_SEC;
}

static int filter_language(struct language_filter *filter, struct profile *profile,
			   const char *word, struct error *err)
{
	enum language language = language_of_word(word);

	if (language == LANGUAGES) {
		(void)error_set(err, -EINVAL, "there is no language %.40s", word);
		error_remedy(err,
			     "use c, c++, rust, go, python, ruby, javascript, assembly, kernel "
			     "or unknown");
		return -EINVAL;
	}
	return language_filter_apply(filter, profile, language) < 0
		       ? error_set(err, -ENOMEM, "out of memory")
		       : 0;
}

/* A profile of the source, which gets it back as it was. */
struct fetched {
	bool by_time;            /* with what a page shows over time */
	struct profile *profile; /* NULL: none */
	struct language_filter filter;
};

static int fetch(struct source *source, const struct query *query, const char *selector,
		 const struct render_options *options, struct fetched *ret, struct error *err)
{
	const char *language = options->language;
	int r = source_profile(source, &query->selector, ret->by_time, &ret->profile, err);

	if (r == 0)
		describe(ret->profile, query, selector);
	if (r == 0 && language && *language)
		r = filter_language(&ret->filter, ret->profile, language, err);
	return r;
}

static void give_back(struct source *source, struct fetched *fetched)
{
	language_filter_undo(&fetched->filter);
	source_release(source, fetched->profile);
}

/* Whether a format shows time. */
static bool is_by_time(const struct render_options *options)
{
	return strcmp(options->format, "html") == 0 || strcmp(options->format, "page") == 0;
}

static bool is_set(const struct http_call *request, const char *name)
{
	const char *text = http_call_query(request, name);

	return text && strcmp(text, "0") != 0 && strcmp(text, "false") != 0;
}

static int read_options(const struct http_call *request, struct render_options *ret,
			struct error *err)
{
	const char *format = http_call_query(request, "format");
	uint64_t limit;
	uint64_t width_px = 0;
	uint64_t height_px = 0;
	int r;

	ret->format = format ? format : "json";
	ret->language = http_call_query(request, "language");
	ret->color = is_set(request, "color");
	r = query_number(request, "limit", strcmp(ret->format, "text") == 0 ? 30 : 1000000, 1000000,
			 &limit, err);
	if (r == 0)
		r = query_number(request, "width", RENDER_WIDTH_PX, RENDER_SIDE_MAX_PX, &width_px,
				 err);
	if (r == 0)
		r = query_number(request, "height", RENDER_HEIGHT_PX, RENDER_SIDE_MAX_PX,
				 &height_px, err);
	ret->limit = (uint32_t)limit;
	ret->width_px = (uint32_t)width_px;
	ret->height_px = (uint32_t)height_px;
	return r;
}

void route_profile(void *self, const struct http_call *request, struct http_response *response)
{
	struct source *source = self;
	struct error err = {0};
	struct render_options options;
	SCOPED(mem) struct query *query = calloc(1, sizeof(*query));
	struct fetched fetched = {0};
	int r = query ? query_read(query, source, request, "cpu", &err)
		      : error_set(&err, -ENOMEM, "out of memory");

	if (r == 0)
		r = read_options(request, &options, &err);
	fetched.by_time = r == 0 && is_by_time(&options);
	if (r == 0)
		r = fetch(source, query, http_call_query(request, "query"), &options, &fetched,
			  &err);
	if (r == 0)
		r = render_profile(fetched.profile, &options, response, &err);
	give_back(source, &fetched);
	if (r < 0)
		http_refuse_error(response, 0, &err);
}

/* Everything that one comparison needs. */
struct comparison {
	struct query sides[2];
	char names[2][512];
	struct fetched fetched[2];
	struct diff diff;
	struct diff_gate gates[GATES_MAX];
	char gate_texts[GATES_MAX][256]; /* the gates borrow them */
	struct diff_verdict verdicts[GATES_MAX];
	size_t gate_count;
};

static void comparison_free(struct source *source, struct comparison *comparison)
{
	size_t i;

	if (!comparison)
		return;
	diff_fini(&comparison->diff);
	for (i = 0; i < comparison->gate_count; i++)
		diff_gate_fini(&comparison->gates[i]);
	give_back(source, &comparison->fetched[0]);
	give_back(source, &comparison->fetched[1]);
	free(comparison);
}

struct first_seen {
	const char *release;
	uint32_t from_s; /* 0: never */
};

static bool note_first(void *self, const struct store_item *item)
{
	struct first_seen *first = self;

	if (strcmp(item->name, first->release) == 0)
		first->from_s = item->from_s;
	return first->from_s == 0;
}

/* When a release first appeared: the hour before belongs to the old one, the hour after to it. */
static int set_hours(struct source *source, struct comparison *comparison, const char *release,
		     struct error *err)
{
	struct first_seen first = {.release = release};
	struct store_selector all = comparison->sides[1].selector;
	int r;

	all.from_s = 0;
	all.to_s = UINT32_MAX;
	r = source_values(source, &all, "release", note_first, &first, err);
	if (r == 0 && first.from_s == 0) {
		r = error_set(err, -ENOENT, "there are no samples of release %.100s", release);
		error_remedy(err, "list the releases: wick query --releases");
	}
	if (r < 0)
		return r;
	comparison->sides[0].selector.from_s = first.from_s > 3600 ? first.from_s - 3600 : 0;
	comparison->sides[0].selector.to_s = first.from_s;
	comparison->sides[1].selector.from_s = first.from_s;
	comparison->sides[1].selector.to_s = first.from_s + 3600;
	return 0;
}

static int set_releases(struct source *source, struct comparison *comparison,
			const struct http_call *request, struct error *err)
{
	const char *before = http_call_query(request, "release_before");
	const char *after = http_call_query(request, "release_after");
	int r;

	if (!before && !after)
		return 0;
	if (!before || !after) {
		(void)error_set(err, -EINVAL,
				"release_before and release_after must be given together");
		error_remedy(err, "wick query --diff-release OLD..NEW sets both");
		return -EINVAL;
	}
	r = query_require(&comparison->sides[0], "release", before, err);
	if (r == 0)
		r = query_require(&comparison->sides[1], "release", after, err);
	/* An explicit range is for both. */
	if (r == 0 && !http_call_query(request, "from") && !http_call_query(request, "to"))
		r = set_hours(source, comparison, after, err);
	(void)snprintf(comparison->names[0], sizeof(comparison->names[0]), "release %.200s",
		       before);
	(void)snprintf(comparison->names[1], sizeof(comparison->names[1]), "release %.200s", after);
	return r;
}

static int read_sides(struct source *source, struct comparison *comparison,
		      const struct http_call *request, struct error *err)
{
	const char *names[] = {http_call_query(request, "query"),
			       http_call_query(request, "diff_query")};
	int i;
	int r = query_read(&comparison->sides[0], source, request, "cpu", err);

	if (r == 0)
		r = query_read_as(&comparison->sides[1], request,
				  &(struct query_names){"diff_query", "diff_from", "diff_to", "cpu",
							&comparison->sides[0], source},
				  err);
	for (i = 0; i < 2; i++)
		(void)snprintf(comparison->names[i], sizeof(comparison->names[i]), "%.400s",
			       names[i]   ? names[i]
			       : names[0] ? names[0]
					  : "everything"); /* a cut text is fine */
	return r < 0 ? r : set_releases(source, comparison, request, err);
}

/* One gate on each line. */
static int judge(struct comparison *comparison, const char *gates, struct error *err)
{
	int r = 0;

	while (r == 0 && gates && *gates && comparison->gate_count < GATES_MAX) {
		size_t n = strcspn(gates, "\n");
		struct diff_gate *gate = &comparison->gates[comparison->gate_count];
		char *text = comparison->gate_texts[comparison->gate_count];

		(void)snprintf(text, sizeof(comparison->gate_texts[0]), "%.*s",
			       (int)(n < 255 ? n : 255), gates);
		r = diff_gate_init(gate, text, err);
		if (r < 0)
			return r;
		r = diff_gate_check(gate, &comparison->diff, 0.99,
				    &comparison->verdicts[comparison->gate_count++], err);
		gates += n + (gates[n] == '\n');
	}
	return r;
}

static void put_verdicts(const struct comparison *comparison, bool as_text,
			 struct http_response *response)
{
	size_t i;

	for (i = 0; i < comparison->gate_count; i++) {
		const struct diff_verdict *verdict = &comparison->verdicts[i];

		if (as_text) {
			diff_verdict_put(verdict, &response->body);
			bytes_put_u8(&response->body, '\n');
		}
		if (verdict->tripped)
			(void)snprintf(response->gate, sizeof(response->gate), "tripped");
		else if (!diff_verdict_is_judged(verdict) && !response->gate[0])
			(void)snprintf(response->gate, sizeof(response->gate), "unknown");
	}
}

static int draw(const struct comparison *comparison, const struct render_options *options,
		struct http_response *response, struct error *err)
{
	struct flame_page_options view = {.graph = FLAME_OPTIONS_DEFAULT};

	view.graph.colors = FLAME_COLORS_RED_BLUE;
	view.graph.pair = true;
	view.graph.sides[0] = comparison->fetched[0].profile;
	view.graph.sides[1] = comparison->fetched[1].profile;
	view.graph.absolute = comparison->diff.absolute;
	view.sides[0] = comparison->names[0];
	view.sides[1] = comparison->names[1];
	return render_graph(comparison->diff.pair.both, &view, options, response, err);
}

static int write_diff(const struct comparison *comparison, const struct render_options *options,
		      struct http_response *response, struct error *err)
{
	bool is_json = strcmp(options->format, "json") == 0;
	bool is_csv = strcmp(options->format, "csv") == 0;
	struct diff_options view = {
		.format = is_json  ? DIFF_JSON
			  : is_csv ? DIFF_CSV
				   : DIFF_TEXT,
		.color = options->color && !is_json && !is_csv,
		.limit = options->limit,
		.verdicts = comparison->verdicts,
		.verdict_count = comparison->gate_count,
	};
	int r;

	if (render_is_graph(options->format))
		return draw(comparison, options, response, err);
	if (!is_json && !is_csv && strcmp(options->format, "text") != 0) {
		(void)error_set(err, -EINVAL, "a comparison cannot be written as %.40s",
				options->format);
		error_remedy(err, "use text, json, csv, svg, png, html or page");
		return -EINVAL;
	}
	response->type = is_json ? NULL : is_csv ? "text/csv" : "text/plain; charset=utf-8";
	r = diff_write(&comparison->diff, &view, &response->body, err);
	put_verdicts(comparison, !is_json && !is_csv, response);
	return r;
}

static int compare(struct source *source, struct comparison *comparison,
		   const struct http_call *request, struct http_response *response,
		   struct error *err)
{
	const char *const names[] = {comparison->names[0], comparison->names[1]};
	const struct profile *profiles[2] = {NULL, NULL};
	struct render_options options;
	int i;
	int r = read_options(request, &options, err);

	if (r == 0)
		r = read_sides(source, comparison, request, err);
	for (i = 0; i < 2 && r == 0; i++) {
		r = fetch(source, &comparison->sides[i], comparison->names[i], &options,
			  &comparison->fetched[i], err);
		profiles[i] = comparison->fetched[i].profile;
	}
	if (r == 0)
		r = diff_init(&comparison->diff, profiles, names,
			      is_set(request, "absolute") ? DIFF_AMOUNTS : DIFF_SHARES, err);
	if (r == 0)
		r = judge(comparison, http_call_query(request, "fail_if"), err);
	return r < 0 ? r : write_diff(comparison, &options, response, err);
}

void route_diff(void *self, const struct http_call *request, struct http_response *response)
{
	struct error err = {0};
	struct comparison *comparison = calloc(1, sizeof(*comparison));
	int r = comparison ? compare(self, comparison, request, response, &err)
			   : error_set(&err, -ENOMEM, "out of memory");

	if (r < 0)
		http_refuse_error(response, 0, &err);
	comparison_free(self, comparison);
}
