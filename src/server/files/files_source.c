/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/files/files_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/scope.h"
#include "model/profile.h"
#include "server/files/file_series.h"
#include "server/files/function_costs.h"
#include "server/files/label_list.h"
#include "server/files/thread_match.h"

static struct files_source *files_of(struct source *source)
{
	return (struct files_source *)(void *)source; /* it is the first member */
}

int files_source_select(const struct files_source *source, const struct store_match *matches,
			size_t match_count, size_t **ret, size_t *ret_count)
{
	size_t *selected = calloc(source->files.count, sizeof(*selected));
	size_t count = 0;
	size_t i;

	if (!selected)
		return -ENOMEM;
	for (i = 0; i < source->files.count; i++)
		if (matches_accept_service(matches, match_count, source->files.files[i].name))
			selected[count++] = i;
	*ret = selected;
	*ret_count = count;
	return 0;
}

/* The request of a selector. The caller frees request->files. */
static int request_of(struct files_source *source, const struct store_selector *selector,
		      struct profile_request *ret, struct error *err)
{
	size_t *files;
	int r = files_source_select(source, selector->matches, selector->match_count, &files,
				    &ret->count);

	if (r < 0)
		return error_set(err, r, "out of memory");
	ret->files = files;
	ret->from_s = selector->from_s;
	ret->to_s = selector->to_s;
	ret->matches = selector->matches;
	ret->match_count = selector->match_count;
	ret->type = selector->type ? selector->type : "";
	if (ret->count > 0)
		return 0;
	free(files);
	(void)error_set(err, -ENOENT, "no recording matches the selector");
	error_remedy(err, "list the recordings: GET /api/services");
	return -ENOENT;
}

static int get_profile(struct source *self, const struct store_selector *selector, bool by_time,
		       struct profile **ret, struct error *err)
{
	struct files_source *source = files_of(self);
	struct profile_request request = {.by_time = by_time};
	int r = request_of(source, selector, &request, err);

	if (r < 0)
		return r;
	r = served_files_profile(&source->files, &request, ret, err);
	free((void *)(uintptr_t)request.files);
	return r;
}

static void release(struct source *self, struct profile *profile)
{
	served_files_give_back(&files_of(self)->files, profile);
}

/* Reads what has changed. A file that cannot be read any more is shown as it was. */
static void refresh_all(struct served_files *files)
{
	size_t i;

	for (i = 0; i < files->count; i++)
		(void)served_files_refresh(files, i, NULL);
}

static int list_values(struct source *self, const struct store_selector *selector,
		       const char *label, store_item_fn each, void *each_self, struct error *err)
{
	struct files_source *source = files_of(self);
	struct label_list list = {0};
	size_t i;
	int r = 0;

	(void)pthread_mutex_lock(&source->files.lock);
	refresh_all(&source->files);
	for (i = 0; i < source->files.count && r == 0; i++)
		r = label_list_add_file(&list, &source->files.files[i], selector, label);
	if (r == 0)
		label_list_pass(&list, each, each_self);
	(void)pthread_mutex_unlock(&source->files.lock);
	label_list_fini(&list);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

static int list_label_names(struct source *self, const struct store_selector *selector,
			    store_item_fn each, void *each_self, struct error *err)
{
	struct files_source *source = files_of(self);
	struct store_item item = {.detail = ""};
	size_t i;

	(void)err; /* nothing can fail, but every question has it */
	(void)pthread_mutex_lock(&source->files.lock);
	refresh_all(&source->files);
	for (i = 0; i < source->files.count; i++)
		label_list_sum(&item, &source->files.files[i], selector);
	(void)pthread_mutex_unlock(&source->files.lock);
	for (i = 0; thread_labels[i]; i++) {
		item.name = thread_labels[i];
		if (!each(each_self, &item))
			break;
	}
	return 0;
}

static int list_top(struct source *self, const struct store_selector *selector, size_t limit,
		    store_item_fn each, void *each_self, struct error *err)
{
	struct profile *profile = NULL;
	int r = get_profile(self, selector, false, &profile, err);

	if (r < 0)
		return r;
	r = function_costs_pass(profile, limit, selector->from_s, selector->to_s, each, each_self);
	release(self, profile);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

static int list_over_time(struct source *self, const struct store_selector *selector,
			  const struct store_over_time *what, store_item_fn each, void *each_self,
			  struct error *err)
{
	struct files_source *source = files_of(self);
	struct profile_request request = {0};
	struct file_series series;
	size_t *files;
	size_t i;
	int r = request_of(source, selector, &request, err);

	if (r == -ENOENT)
		return 0; /* a series without points */
	if (r < 0)
		return r;
	files = (size_t *)(uintptr_t)request.files;
	file_series_init(&series, what);
	(void)pthread_mutex_lock(&source->files.lock);
	for (i = 0; i < request.count && r == 0; i++) {
		struct profile_request one = request;

		one.files = &files[i];
		one.count = 1;
		r = served_files_refresh(&source->files, files[i], err);
		if (r == 0)
			r = file_series_add(&series, &source->files, &one, err);
	}
	(void)pthread_mutex_unlock(&source->files.lock);
	if (r == 0)
		r = file_series_pass(&series, each, each_self, err);
	file_series_fini(&series);
	free(files);
	return r;
}

/* Recordings have no gaps: what was lost in them is in their reports. */
static int list_gaps(struct source *self, const struct store_selector *selector, store_item_fn each,
		     void *each_self, struct error *err)
{
	(void)self;
	(void)selector;
	(void)each;
	(void)each_self;
	(void)err;
	return 0;
}

static void get_range(struct source *self, const struct store_match *matches, size_t count,
		      uint64_t *ret_from_s, uint64_t *ret_to_s)
{
	struct served_files *files = &files_of(self)->files;
	uint64_t from_s = UINT32_MAX;
	uint64_t to_s = 0;
	size_t i;

	(void)pthread_mutex_lock(&files->lock);
	for (i = 0; i < files->count; i++) {
		const struct served_file *file = &files->files[i];

		if (!matches_accept_service(matches, count, file->name))
			continue;
		(void)served_files_refresh(files, i, NULL); /* as it was, if it cannot be read */
		if (file_summary_from_s(&file->summary) < from_s)
			from_s = file_summary_from_s(&file->summary);
		if (file_summary_to_s(&file->summary) > to_s)
			to_s = file_summary_to_s(&file->summary);
	}
	(void)pthread_mutex_unlock(&files->lock);
	*ret_from_s = from_s < to_s ? from_s : 0;
	*ret_to_s = to_s > 0 ? to_s : 1;
}

const struct source_ops files_source = {
	.profile = get_profile,
	.release = release,
	.values = list_values,
	.label_names = list_label_names,
	.top = list_top,
	.over_time = list_over_time,
	.gaps = list_gaps,
	.range = get_range,
	.shortest_step_s = 1,
};
