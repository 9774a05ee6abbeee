/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/page/page_source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/scope.h"
#include "base/text.h"
#include "model/profile.h"
#include "view/report/line_rows.h"
#include "view/source_file.h"

#define LINES_AROUND 6u       /* lines kept on either side of one with samples */
#define MAX_LINE_BYTES 400u   /* limit for a line */
#define MAX_SOURCE_FILES 500u /* limit for opened files */
#define TAB_COLUMNS 8u

struct page_cost {
	uint32_t line;
	int64_t self;
	int64_t total;
};

struct page_file {
	uint32_t path; /* string id */
	bool tried;
	struct source_file text; /* no lines: not found */
	uint8_t *kept;           /* by line: whether it is included */
	VEC(struct page_cost) costs;
};

uint32_t page_source_path(const struct page_source *source, size_t file)
{
	return source->files.items[file].path;
}

void page_source_fini(struct page_source *source)
{
	size_t i;

	for (i = 0; i < source->files.count; i++) {
		source_file_fini(&source->files.items[i].text);
		free(source->files.items[i].kept);
		vec_fini(&source->files.items[i].costs);
	}
	vec_fini(&source->files);
	free(source->places);
	free(source->file_of);
}

/* The file of a path, created if missing. ID_NONE: out of memory. */
static uint32_t file_of(struct page_source *source, uint32_t path)
{
	struct page_file file = {.path = path};

	if (source->file_of[path] == 0) {
		if (vec_push(&source->files, file) < 0)
			return ID_NONE;
		source->file_of[path] = (uint32_t)source->files.count;
	}
	return source->file_of[path] - 1;
}

static int add_cost(struct page_source *source, const struct line_row *row)
{
	uint32_t file = file_of(source, row->file);
	struct page_cost cost = {.line = row->line, .self = row->self, .total = row->total};

	return file == ID_NONE ? -ENOMEM : vec_push(&source->files.items[file].costs, cost);
}

/* Searches for the text of a file, once. */
static int open_text(struct page_source *source, struct page_file *file,
		     const struct source_search *search)
{
	int r;

	if (file->tried)
		return 0;
	file->tried = true;
	if (source->tried++ >= MAX_SOURCE_FILES)
		return 0;
	r = source_file_find(search, source->profile, file->path, &file->text);
	if (r < 0) {
		if (file->text.lack > source->lack)
			source->lack = file->text.lack;
		return r == -ENOMEM ? r : 0;
	}
	file->kept = calloc((size_t)file->text.line_count + 1, 1);
	return file->kept ? 0 : -ENOMEM;
}

/* Includes the lines around one, while there is space. */
static void keep(struct page_source *source, struct page_file *file, uint32_t line)
{
	uint32_t first = line > LINES_AROUND ? line - LINES_AROUND : 1;
	uint32_t last = line + LINES_AROUND;
	uint32_t at;

	for (at = first; file->kept && at <= last && at <= file->text.line_count; at++) {
		size_t size = strlen(source_file_line(&file->text, at)) + 1;

		if (size > MAX_LINE_BYTES)
			size = MAX_LINE_BYTES;
		if (file->kept[at] || source->bytes + size > PAGE_SOURCE_BYTES)
			continue;
		file->kept[at] = 1;
		source->bytes += size;
	}
}

/* Finds the lines of each function: in its own file, unless it has none there. */
static int place_functions(struct page_source *source)
{
	const struct profile *profile = source->profile;
	size_t i;

	source->places = calloc(profile->functions.count + 1, sizeof(*source->places));
	if (!source->places)
		return -ENOMEM;
	for (i = 0; i < profile->lines.count; i++) {
		struct profile_line line = profile->lines.items[i];
		uint32_t file = source->file_of[profile_line_file(profile, line)];
		struct page_place *place = &source->places[line.function];

		if (line.line == 0 || file == 0 || (line.file != 0 && place->file != 0))
			continue;
		if (place->file != file)
			*place = (struct page_place){file, line.line, line.line};
		if (line.line < place->first)
			place->first = line.line;
		if (line.line > place->last)
			place->last = line.line;
	}
	return 0;
}

static int compare_costs(const void *a, const void *b)
{
	const struct page_cost *x = a;
	const struct page_cost *y = b;

	return (x->line > y->line) - (x->line < y->line);
}

/* Merges rows of one line: parts in different modules are added up. */
static void sort_costs(struct page_file *file)
{
	struct page_cost *costs = file->costs.items;
	size_t kept = 0;
	size_t i;

	if (file->costs.count == 0)
		return;
	qsort(costs, file->costs.count, sizeof(*costs), compare_costs);
	for (i = 0; i < file->costs.count; i++) {
		if (kept > 0 && costs[kept - 1].line == costs[i].line) {
			costs[kept - 1].self += costs[i].self;
			costs[kept - 1].total += costs[i].total;
		} else {
			costs[kept++] = costs[i];
		}
	}
	file->costs.count = kept;
}

/* Takes the rows, the most expensive first. */
static int take_rows(struct page_source *source, const struct line_row *rows, size_t count,
		     const struct source_search *search)
{
	size_t i;
	int r = 0;

	for (i = 0; i < count && r == 0; i++)
		if (rows[i].line > 0 && *profile_text(source->profile, rows[i].file))
			r = add_cost(source, &rows[i]);
	for (i = 0; i < count && r == 0 && search; i++) {
		uint32_t id = source->file_of[rows[i].file];

		if (rows[i].line == 0 || id == 0)
			continue;
		r = open_text(source, &source->files.items[id - 1], search);
		if (r == 0)
			keep(source, &source->files.items[id - 1], rows[i].line);
	}
	for (i = 0; i < source->files.count; i++)
		sort_costs(&source->files.items[i]);
	return r;
}

static bool has_lines(const struct profile *profile)
{
	size_t i;

	for (i = 0; i < profile->lines.count; i++)
		if (profile->lines.items[i].line > 0)
			return true;
	return false;
}

int page_source_init(struct page_source *source, const struct profile *profile, uint32_t value,
		     const struct source_search *search)
{
	struct line_row *rows = NULL;
	size_t count = 0;
	int r;

	*source = (struct page_source){.profile = profile};
	if (!has_lines(profile))
		return 0;
	source->file_of = calloc(profile->strings.entries.count + 1, sizeof(uint32_t));
	r = source->file_of ? line_rows_new(profile, value, &rows, &count) : -ENOMEM;
	if (r == 0)
		r = take_rows(source, rows, count, search);
	if (r == 0)
		r = place_functions(source);
	free(rows);
	return r;
}

/* Appends a line of source with blanks for tabs. */
static void put_line(struct bytes *out, const char *line)
{
	char text[MAX_LINE_BYTES + TAB_COLUMNS];
	size_t used = 0;

	for (; *line && used < MAX_LINE_BYTES; line++) {
		if (*line != '\t') {
			text[used++] = *line;
			continue;
		}
		do
			text[used++] = ' ';
		while (used % TAB_COLUMNS != 0);
	}
	text[used] = '\0';
	text_put_plain(out, text);
	bytes_put_u8(out, '\n');
}

/* Appends the start and length of the excerpts of a file; their lines go to text. */
static void put_excerpts(const struct page_file *file, struct bytes *out, struct bytes *text)
{
	struct bytes ranges = {0};
	uint32_t count = 0;
	uint32_t at = 1;

	while (file->kept && at <= file->text.line_count) {
		uint32_t first = at;

		for (; at <= file->text.line_count && file->kept[at]; at++)
			put_line(text, source_file_line(&file->text, at));
		if (at > first) {
			bytes_put_varint(&ranges, first);
			bytes_put_varint(&ranges, at - first);
			count++;
		}
		at++;
	}
	bytes_put_varint(out, count);
	bytes_put(out, ranges.data, ranges.size);
	out->failed = out->failed || ranges.failed;
	bytes_fini(&ranges);
}

static void put_costs(const struct page_file *file, struct bytes *out)
{
	size_t i;

	bytes_put_varint(out, file->costs.count);
	for (i = 0; i < file->costs.count; i++) {
		const struct page_cost *cost = &file->costs.items[i];

		bytes_put_varint(out, cost->line - (i > 0 ? cost[-1].line : 0));
		bytes_put_varint(out, zigzag_encode(cost->self));
		bytes_put_varint(out, zigzag_encode(cost->total));
	}
}

void page_source_put(const struct page_source *source, const uint32_t *names, struct bytes *out)
{
	struct bytes text = {0};
	size_t i;

	bytes_put_varint(out, source->files.count);
	for (i = 0; i < source->files.count; i++) {
		const struct page_file *file = &source->files.items[i];
		uint64_t start_ns = source->profile->start_realtime_ns;

		bytes_put_varint(out, names[i]);
		if (file->kept)
			bytes_put_varint(out, start_ns > 0 && file->text.mtime_ns > start_ns);
		else
			bytes_put_varint(out, file->text.lack == SOURCE_LACK_NONE
						      ? 0
						      : 1 + (uint32_t)file->text.lack);
		put_costs(file, out);
		put_excerpts(file, out, &text);
	}
	bytes_put(out, text.data, text.size);
	out->failed = out->failed || text.failed;
	bytes_fini(&text);
}
