/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/scope.h"
#include "base/vec.h"
#include "model/profile.h"
#include "server/query.h"
#include "server/routes.h"
#include "server/source.h"
#include "view/report/line_rows.h"

/* The cost of each line of a source file, for editors. */

/* Files in a list of those that a request may mean. */
#define CHOICES_MAX 100u

struct heat {
	struct line_row *rows; /* the cost of all lines */
	size_t row_count;
	VEC(uint32_t) files; /* string ids of those that fit */
	bool exact;          /* the first is the path that was asked for */
};

static void heat_fini(struct heat *heat)
{
	free(heat->rows);
	vec_fini(&heat->files);
}

/* Whether a path ends with another, which is whole names of folders and of a file. */
static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path);
	size_t m = strlen(end);

	return m > 0 && n > m && strcmp(path + n - m, end) == 0 &&
	       (end[0] == '/' || path[n - m - 1] == '/');
}

/* Editors know where a file is now, debug information where it was compiled. */
static bool fits(const char *known, const char *asked)
{
	return ends_with(known, asked) || (known[0] != '/' && ends_with(asked, known));
}

static bool is_listed(const struct heat *heat, uint32_t file)
{
	size_t i;

	for (i = 0; i < heat->files.count; i++)
		if (heat->files.items[i] == file)
			return true;
	return false;
}

static int find_files(struct heat *heat, const struct profile *profile, const char *asked)
{
	size_t i;

	for (i = 0; i < heat->row_count && !heat->exact; i++) {
		uint32_t file = heat->rows[i].file;
		const char *known = profile_text(profile, file);

		heat->exact = strcmp(known, asked) == 0;
		if (heat->exact)
			heat->files.count = 0;
		if ((heat->exact || (fits(known, asked) && !is_listed(heat, file))) &&
		    vec_push(&heat->files, file) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int by_line(const void *a, const void *b)
{
	const struct line_row *x = a;
	const struct line_row *y = b;

	return x->line < y->line ? -1 : x->line > y->line;
}

static void put_line(struct json *json, const struct profile *profile, const struct line_row *row,
		     int64_t total)
{
	double whole = total != 0 ? (double)total : 1;

	json_open_object(json, NULL);
	json_u64(json, "line", row->line);
	json_i64(json, "self", row->self);
	json_i64(json, "value", row->total);
	json_double(json, "self_share", (double)row->self / whole, 6);
	json_double(json, "share", (double)row->total / whole, 6);
	json_string(json, "function",
		    profile_text(profile, profile->functions.items[row->function].name));
	json_close(json);
}

static int64_t total_of(const struct profile *profile)
{
	int64_t total = 0;
	size_t i;

	for (i = 0; i < profile->entries.count; i++)
		total += profile_entry_values(profile, i)[profile->main_value];
	return total;
}

static void put_heat(struct heat *heat, const struct profile *profile,
		     struct http_response *response)
{
	int64_t total = total_of(profile);
	struct json json;
	size_t i;

	qsort(heat->rows, heat->row_count, sizeof(*heat->rows), by_line);
	json_init(&json, &response->body, false);
	json_open_object(&json, NULL);
	json_string(&json, "file", profile_text(profile, heat->files.items[0]));
	json_i64(&json, "total", total);
	json_string(&json, "unit", profile->value_types[profile->main_value].unit);
	json_open_array(&json, "lines");
	for (i = 0; i < heat->row_count; i++)
		if (heat->rows[i].line > 0 && heat->rows[i].file == heat->files.items[0])
			put_line(&json, profile, &heat->rows[i], total);
	json_close(&json);
	json_close(&json);
	bytes_put_u8(&response->body, '\n');
}

/* 300: the same end of several paths. */
static void put_choices(const struct heat *heat, const struct profile *profile,
			struct http_response *response)
{
	struct json json;
	size_t i;

	response->status = 300;
	json_init(&json, &response->body, false);
	json_open_object(&json, NULL);
	json_string(&json, "error", "several files match");
	json_string(&json, "remedy", "give more of the path");
	json_open_array(&json, "files");
	for (i = 0; i < heat->files.count && i < CHOICES_MAX; i++)
		json_string(&json, NULL, profile_text(profile, heat->files.items[i]));
	json_close(&json);
	json_close(&json);
	bytes_put_u8(&response->body, '\n');
}

static int answer(const struct profile *profile, const char *file, struct http_response *response,
		  struct error *err)
{
	struct heat heat = {0};
	int r = line_rows_new(profile, profile->main_value, &heat.rows, &heat.row_count);

	if (r == 0)
		r = find_files(&heat, profile, file);
	if (r < 0) {
		(void)error_set(err, r, "out of memory");
	} else if (heat.files.count == 0) {
		r = error_set(err, -ENOENT, "no line of %.300s has samples", file);
		error_remedy(err, "check the path, the range of time, and that the program has "
				  "debug information");
	} else if (heat.files.count > 1) {
		put_choices(&heat, profile, response);
	} else {
		put_heat(&heat, profile, response);
	}
	heat_fini(&heat);
	return r;
}

void route_heat(void *self, const struct http_call *request, struct http_response *response)
{
	struct source *source = self;
	const char *file = http_call_query(request, "file");
	struct error err = {0};
	struct profile *profile = NULL;
	SCOPED(mem) struct query *query = calloc(1, sizeof(*query));
	int r = query ? query_read(query, source, request, "cpu", &err)
		      : error_set(&err, -ENOMEM, "out of memory");

	if (r == 0 && (!file || !*file)) {
		r = error_set(&err, -EINVAL, "%s needs the parameter file", request->path);
		error_remedy(&err, "add the path of a source file, or its end: file=src/app.c");
	}
	if (r == 0)
		r = source_profile(source, &query->selector, false, &profile, &err);
	if (r == 0)
		r = answer(profile, file, response, &err);
	source_release(source, profile);
	if (r < 0)
		http_refuse_error(response, 0, &err);
}
