/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/files/file_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "export/export.h"
#include "load/load.h"
#include "model/profile.h"
#include "server/files/served_files.h"
#include "server/files/thread_match.h"

/* One file on its way into a series. */
struct pass {
	struct file_series *series;
	const char *service;
	uint64_t start_ns;
	VEC(int8_t) has_function; /* by stack: 0 not decided yet, 1 yes, -1 no */
	VEC(size_t) open;         /* by name: its latest point plus one; 0: none */
};

void file_series_init(struct file_series *series, const struct store_over_time *what)
{
	*series = (struct file_series){.what = what};
	series->failed = strings_init(&series->names) < 0;
}

void file_series_fini(struct file_series *series)
{
	vec_fini(&series->points);
	strings_fini(&series->names);
}

static bool location_has(const struct profile *profile, uint32_t location, const char *function)
{
	const struct profile_location *item = &profile->locations.items[location];
	uint32_t i;

	for (i = 0; i < item->line_count; i++) {
		uint32_t id = profile->lines.items[item->first_line + i].function;

		if (strcmp(profile_text(profile, profile->functions.items[id].name), function) == 0)
			return true;
	}
	return false;
}

/* Whether a stack has the function. Each is examined once. 0, 1 or -ENOMEM. */
static int stack_has(struct pass *pass, const struct profile *profile, uint32_t stack)
{
	const char *function = pass->series->what->function;
	bool found = false;
	uint32_t node;

	if (!function || !*function)
		return 1;
	while (pass->has_function.count <= stack)
		if (vec_push(&pass->has_function, 0) < 0)
			return -ENOMEM;
	if (pass->has_function.items[stack] == 0) {
		for (node = stack; node != 0 && !found;
		     node = profile->stacks.nodes.items[node].parent)
			found = location_has(profile, profile->stacks.nodes.items[node].frame,
					     function);
		pass->has_function.items[stack] = found ? 1 : -1;
	}
	return pass->has_function.items[stack] > 0;
}

/* The value of the label that points are grouped by. */
static const char *name_of(const struct pass *pass, const struct profile *profile, uint32_t thread,
			   char scratch[THREAD_LABEL_BYTES])
{
	const char *by = pass->series->what->group_by;
	const struct profile_thread *from = &profile->threads.items[thread];
	struct file_thread item = {
		.pid = from->pid,
		.tid = from->tid,
		.process = profile_text(profile, from->process_comm),
		.thread = profile_text(profile, from->comm),
	};
	const char *name = "";

	if (by && strcmp(by, "service") == 0)
		name = pass->service;
	else if (by && *by)
		name = thread_label(&item, by, scratch);
	return name ? name : "";
}

static int add_point(struct pass *pass, const char *name, uint32_t step,
		     const struct export_sample *sample)
{
	struct file_series *series = pass->series;
	uint32_t id = strings_add(&series->names, name);
	struct series_point *point;

	if (id == ID_NONE)
		return -ENOMEM;
	while (pass->open.count <= id)
		if (vec_push(&pass->open, 0) < 0)
			return -ENOMEM;
	if (pass->open.items[id] == 0 ||
	    series->points.items[pass->open.items[id] - 1].step != step) {
		if (vec_push(&series->points,
			     (struct series_point){step, strings_get(&series->names, id), 0, 0}) <
		    0)
			return -ENOMEM;
		pass->open.items[id] = series->points.count;
	}
	point = &series->points.items[pass->open.items[id] - 1];
	point->samples += sample->times > 0 ? sample->times : 1;
	point->value += (int64_t)sample->weight;
	return 0;
}

static int take(void *self, const struct profile *profile, const struct export_sample *sample,
		struct error *err)
{
	struct pass *pass = self;
	uint32_t step_s = pass->series->what->step_s > 0 ? pass->series->what->step_s : 1;
	char scratch[THREAD_LABEL_BYTES];
	uint32_t time_s;
	int r;

	if (!sample)
		return 0;
	r = stack_has(pass, profile, sample->stack);
	if (r > 0) {
		time_s = (uint32_t)((pass->start_ns + sample->since_ns) / NS_PER_SEC);
		r = add_point(pass, name_of(pass, profile, sample->thread, scratch),
			      time_s - time_s % step_s, sample);
	}
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

static int pass_samples(struct pass *pass, const struct served_file *file,
			const struct load_options *options, struct error *err)
{
	int fd = load_part_open(file, options, err);

	if (fd == -ENOENT)
		return load_samples(file->path, options, take, pass, err);
	return fd < 0 ? fd : load_samples_fd(fd, file->path, options, take, pass, err);
}

int file_series_add(struct file_series *series, const struct served_files *files,
		    const struct profile_request *request, struct error *err)
{
	const struct served_file *file = &files->files[request->files[0]];
	const struct file_type *type = file_summary_type(&file->summary, request->type);
	struct pass pass = {
		.series = series, .service = file->name, .start_ns = file->summary.start_ns};
	struct load_options options;
	struct load_part part = {0};
	int r;

	if (!type || type->is_heap)
		return 0;
	r = load_part_init(&part, files, request, &options, err);
	if (type != file_summary_type(&file->summary, ""))
		options.event = type->name;
	if (!series->what->function)
		options.symbols = SYMBOLS_NAMES;
	if (r == 0)
		r = pass_samples(&pass, file, &options, err);
	load_part_fini(&part);
	vec_fini(&pass.has_function);
	vec_fini(&pass.open);
	return r;
}

static int by_time(const void *a, const void *b)
{
	const struct series_point *x = a;
	const struct series_point *y = b;

	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Samples are not quite in order, and files overlap: several points of a step become one. */
static void merge_points(struct file_series *series)
{
	struct series_point *points = series->points.items;
	size_t count = 0;
	size_t i;

	if (series->points.count == 0)
		return;
	qsort(points, series->points.count, sizeof(*points), by_time);
	for (i = 1; i < series->points.count; i++)
		if (by_time(&points[count], &points[i]) == 0) {
			points[count].samples += points[i].samples;
			points[count].value += points[i].value;
		} else {
			points[++count] = points[i];
		}
	series->points.count = count + 1;
}

int file_series_pass(struct file_series *series, store_item_fn each, void *self, struct error *err)
{
	uint32_t step_s = series->what->step_s > 0 ? series->what->step_s : 1;
	size_t i;

	if (series->failed)
		return error_set(err, -ENOMEM, "out of memory");
	merge_points(series);
	for (i = 0; i < series->points.count; i++) {
		const struct series_point *point = &series->points.items[i];
		struct store_item item = {
			.name = point->name,
			.detail = "",
			.samples = point->samples,
			.value = point->value,
			.from_s = point->step,
			.to_s = point->step + step_s,
		};

		if (!each(self, &item))
			break;
	}
	return 0;
}
