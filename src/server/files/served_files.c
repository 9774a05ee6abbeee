/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/files/served_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "load/convert/merge.h"
#include "model/profile.h"
#include "server/files/growing_file.h"
#include "server/files/service_names.h"
#include "server/files/thread_match.h"
#include "store/store.h"

#define CACHE_BYTES (256u << 20)

static int version_of(const char *path, struct file_version *ret, struct error *err)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return error_file(err, -errno, "cannot open %s", path);
	*ret = (struct file_version){
		.inode = status.st_ino,
		.bytes = (uint64_t)status.st_size,
		.changed_ns = (uint64_t)status.st_mtim.tv_sec * NS_PER_SEC +
			      (uint64_t)status.st_mtim.tv_nsec,
	};
	return 0;
}

static bool is_version(const struct file_version *a, const struct file_version *b)
{
	return a->inode == b->inode && a->bytes == b->bytes && a->changed_ns == b->changed_ns;
}

void load_part_fini(struct load_part *part)
{
	size_t i;

	for (i = 0; i < part->labels.count; i++)
		free(part->labels.items[i]);
	vec_fini(&part->labels);
	vec_fini(&part->tids);
}

/* The threads that match; none of them at all is an id that no thread has. */
static int list_threads(struct load_part *part, const struct served_files *files,
			const struct profile_request *request)
{
	bool all = true;
	size_t i;
	size_t k;

	for (i = 0; i < request->count; i++) {
		const struct file_summary *summary = &files->files[request->files[i]].summary;

		for (k = 0; k < summary->threads.count; k++) {
			const struct file_thread *thread = &summary->threads.items[k];

			if (!matches_accept_thread(request->matches, request->match_count, thread))
				all = false;
			else if (vec_push(&part->tids, thread->tid) < 0)
				return -ENOMEM;
		}
	}
	if (all)
		part->tids.count = 0;
	else if (part->tids.count == 0)
		return vec_push(&part->tids, UINT64_MAX);
	return 0;
}

/* Labels that were recorded. */
static int list_labels(struct load_part *part, const struct profile_request *request,
		       struct error *err)
{
	size_t i;

	for (i = 0; i < request->match_count; i++) {
		const struct store_match *match = &request->matches[i];
		char *pair = NULL;

		if (strcmp(match->name, "service") == 0 || match_is_of_thread(match))
			continue;
		if (match->kind != MATCH_EQUAL) {
			(void)error_set(err, -EINVAL,
					"label %.80s of recordings can only be compared with =",
					match->name);
			error_remedy(err, "service, process, thread, pid and tid can be compared "
					  "with !=, =~ and !~ too");
			return -EINVAL;
		}
		if (asprintf(&pair, "%s=%s", match->name, match->value) < 0 ||
		    vec_push(&part->labels, pair) < 0) {
			free(pair);
			return error_set(err, -ENOMEM, "out of memory");
		}
	}
	return 0;
}

static uint64_t start_of(const struct served_files *files, const struct profile_request *request)
{
	uint64_t start_ns = UINT64_MAX;
	size_t i;

	for (i = 0; i < request->count; i++) {
		uint64_t own_ns = files->files[request->files[i]].summary.start_ns;

		start_ns = own_ns < start_ns ? own_ns : start_ns;
	}
	return start_ns;
}

int load_part_init(struct load_part *part, const struct served_files *files,
		   const struct profile_request *request, struct load_options *ret,
		   struct error *err)
{
	uint64_t start_ns = start_of(files, request);
	int r;

	*part = (struct load_part){0};
	*ret = files->load;
	if (request->from_s > start_ns / NS_PER_SEC)
		ret->from_ns = request->from_s * NS_PER_SEC - start_ns;
	if (request->to_s * NS_PER_SEC > start_ns)
		ret->to_ns = request->to_s * NS_PER_SEC - start_ns;
	else
		ret->to_ns = 0;
	if (list_threads(part, files, request) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	r = list_labels(part, request, err);
	ret->tids = part->tids.items;
	ret->tid_count = part->tids.count;
	ret->labels = (const char *const *)part->labels.items;
	ret->label_count = part->labels.count;
	return r;
}

/* The whole of a file gets the same key, whatever range was asked for. */
static void settle_range(const struct served_files *files, const struct profile_request *request,
			 struct load_options *options)
{
	uint64_t start_ns = start_of(files, request);
	uint64_t end_ns = 0;
	size_t i;

	for (i = 0; i < request->count; i++) {
		uint64_t own_ns = files->files[request->files[i]].summary.end_ns;

		end_ns = own_ns > end_ns ? own_ns : end_ns;
	}
	if (options->to_ns >= end_ns - start_ns)
		options->to_ns = UINT64_MAX;
}

static char *key_of(const struct served_files *files, const struct profile_request *request,
		    const struct load_options *options)
{
	struct bytes key = {0};
	size_t i;

	for (i = 0; i < request->count; i++) {
		const struct served_file *file = &files->files[request->files[i]];

		bytes_printf(&key, "%zu %" PRIu64 " %" PRIu64 " %" PRIu64 " ", request->files[i],
			     file->version.inode, file->version.bytes, file->version.changed_ns);
	}
	bytes_printf(&key, "%" PRIu64 " %" PRIu64 " %d %d", options->from_ns, options->to_ns,
		     options->heap, options->slices);
	for (i = 0; i < options->tid_count; i++)
		bytes_printf(&key, " %" PRIu64, options->tids[i]);
	for (i = 0; i < options->label_count; i++)
		bytes_printf(&key, "\n%s", options->labels[i]);
	bytes_put_u8(&key, '\0');
	if (!key.failed)
		return (char *)key.data;
	bytes_fini(&key);
	return NULL;
}

static int load_merged(struct served_files *files, const struct profile_request *request,
		       const struct load_options *options, struct profile **ret, struct error *err)
{
	SCOPED(mem) const char **paths = calloc(request->count, sizeof(*paths));
	SCOPED(fd) int merged = memfd_create("wick-merged", MFD_CLOEXEC);
	int copy;
	size_t i;
	int r;

	if (!paths || merged < 0)
		return error_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < request->count; i++)
		paths[i] = files->files[request->files[i]].path;
	copy = fcntl(merged, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return error_errno(err, -errno, "cannot merge %s and others", paths[0]);
	r = merge_files(paths, request->count, options, copy, err);
	if (r < 0)
		return r;
	if (lseek(merged, 0, SEEK_SET) < 0)
		return error_errno(err, -errno, "cannot merge %s and others", paths[0]);
	return load_profile_fd(scope_take_fd(&merged), "the merged recordings", options, ret, err);
}

int load_part_open(const struct served_file *file, const struct load_options *options,
		   struct error *err)
{
	uint64_t from_ns = file->summary.start_ns + options->from_ns;
	uint64_t to_ns = options->to_ns < UINT64_MAX - file->summary.start_ns
				 ? file->summary.start_ns + options->to_ns
				 : UINT64_MAX;
	SCOPED(fd) int window = -1;
	int copy;
	int r;

	if (!file->growing || !growing_file_has(file->growing, from_ns))
		return -ENOENT;
	window = memfd_create("wick-window", MFD_CLOEXEC);
	copy = window < 0 ? -1 : fcntl(window, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return error_errno(err, -errno, "cannot hold a part of the recording in memory");
	r = growing_file_write(file->growing, from_ns, to_ns, copy, err);
	if (r == 0 && lseek(window, 0, SEEK_SET) < 0)
		r = error_errno(err, -errno, "cannot read a part of the recording");
	return r < 0 ? r : scope_take_fd(&window);
}

static int load_one(const struct served_file *file, const struct load_options *options,
		    struct profile **ret, struct error *err)
{
	int fd = load_part_open(file, options, err);

	if (fd == -ENOENT)
		return load_profile(file->path, options, ret, err);
	return fd < 0 ? fd : load_profile_fd(fd, file->path, options, ret, err);
}

/* From the cache, or from the files. */
static int get(struct served_files *files, const struct profile_request *request,
	       const struct load_options *options, struct profile **ret, struct error *err)
{
	SCOPED(mem) char *key = key_of(files, request, options);
	SCOPED(profile) struct profile *profile = NULL;
	int r;

	if (!key)
		return error_set(err, -ENOMEM, "out of memory");
	*ret = profile_cache_take(&files->cache, key);
	if (*ret)
		return 0;
	r = request->count == 1 ? load_one(&files->files[request->files[0]], options, &profile, err)
				: load_merged(files, request, options, &profile, err);
	if (r < 0)
		return r;
	if (profile_cache_add(&files->cache, key, profile) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	*ret = scope_take(&profile);
	return 0;
}

static void show_by_time(struct load_options *options)
{
	options->slices = true;
	options->tracks = true;
	options->heap_usual_step_ns = LOAD_PAGE_HEAP_STEP_NS;
}

/* Takes over the summary in place of the old one. */
static void set_summary(struct served_file *file, struct file_summary *summary)
{
	file_summary_fini(&file->summary);
	file->summary = *summary;
	file->is_known = true;
}

/* Reads what is new in a file that grows. Returns 1 when it is complete, 0, or a negative errno. */
static int follow(struct served_file *file, struct error *err)
{
	struct file_summary summary;
	int r = growing_file_read(file->growing, err);

	if (r < 0)
		return r;
	if (growing_file_is_complete(file->growing)) {
		growing_file_close(file->growing);
		file->growing = NULL;
		file->is_known = false;
		return 1;
	}
	r = growing_file_summary(file->growing, &summary);
	if (r < 0) {
		file_summary_fini(&summary);
		return error_set(err, r, "out of memory");
	}
	/* What was loaded of fewer samples is not used again. */
	file->version = (struct file_version){.bytes = summary.samples,
					      .changed_ns = summary.end_ns / NS_PER_SEC};
	set_summary(file, &summary);
	return 0;
}

static int load_whole(struct served_files *files, size_t index, struct error *err)
{
	struct served_file *file = &files->files[index];
	struct profile_request whole = {.files = &index, .count = 1, .to_s = UINT64_MAX};
	struct load_options options = files->load;
	struct file_summary summary = {0};
	struct profile *profile;
	int r;

	show_by_time(&options);
	r = get(files, &whole, &options, &profile, err);
	if (r < 0)
		return r;
	r = file_summary_init(&summary, profile, file->version.changed_ns);
	file->may_grow = profile->quality.incomplete;
	profile_cache_give_back(&files->cache, profile);
	if (r < 0) {
		file_summary_fini(&summary);
		return error_set(err, r, "out of memory");
	}
	set_summary(file, &summary);
	return 0;
}

/* A file of ours that is not there yet, or is an older one, is a recording without samples. */
static int begin_own(struct served_file *file)
{
	int r = growing_file_open(file->path, true, &file->growing, NULL);

	if (r == 0)
		r = growing_file_read(file->growing, NULL);
	if (r >= 0 && growing_file_start(file->growing) >= file->ours_since_ns)
		return 0;
	growing_file_close(file->growing);
	file->growing = NULL;
	return -ENOENT;
}

int served_files_refresh(struct served_files *files, size_t index, struct error *err)
{
	struct served_file *file = &files->files[index];
	struct file_version version;
	int r = 0;

	if (file->ours_since_ns > 0 && !file->growing && !file->is_known && begin_own(file) < 0)
		return 0;
	if (file->growing)
		r = follow(file, err);
	if (r < 0 || file->growing)
		return r;
	r = version_of(file->path, &version, err);
	if (r < 0 || (file->is_known && is_version(&version, &file->version)))
		return r;
	if (file->is_known && file->may_grow &&
	    growing_file_open(file->path, false, &file->growing, NULL) == 0) {
		r = follow(file, err);
		if (r <= 0)
			return r;
	}
	/* The key of the profile has the version. If it cannot be read, it is tried again. */
	file->is_known = false;
	file->version = version;
	return load_whole(files, index, err);
}

int served_files_init(struct served_files *files, const char *const *paths, size_t count,
		      const struct load_options *load, struct error *err)
{
	SCOPED(mem) char **names = NULL;
	size_t i;
	int r;

	*files = (struct served_files){.load = *load, .cache = {.max_bytes = CACHE_BYTES}};
	(void)pthread_mutex_init(&files->lock, NULL); /* never fails on Linux */
	files->files = calloc(count, sizeof(*files->files));
	if (!files->files)
		return error_set(err, -ENOMEM, "out of memory");
	files->count = count;
	r = service_names_new(paths, count, &names, err);
	for (i = 0; i < count && r == 0; i++)
		files->files[i].name = names[i];
	for (i = 0; i < count && r == 0; i++) {
		files->files[i].path = strdup(paths[i]);
		r = files->files[i].path ? served_files_refresh(files, i, err)
					 : error_set(err, -ENOMEM, "out of memory");
	}
	files->load.damaged = NULL; /* it was reported */
	return r;
}

int served_files_init_own(struct served_files *files, const char *path,
			  const struct load_options *load, struct error *err)
{
	SCOPED(mem) char **names = NULL;
	int r;

	*files = (struct served_files){.load = *load, .cache = {.max_bytes = CACHE_BYTES}};
	(void)pthread_mutex_init(&files->lock, NULL); /* never fails on Linux */
	files->files = calloc(1, sizeof(*files->files));
	if (!files->files)
		return error_set(err, -ENOMEM, "out of memory");
	files->count = 1;
	r = service_names_new(&path, 1, &names, err);
	if (r < 0)
		return r;
	files->files[0].name = names[0];
	files->files[0].path = strdup(path);
	files->files[0].ours_since_ns = clock_monotonic_ns();
	return files->files[0].path ? 0 : error_set(err, -ENOMEM, "out of memory");
}

void served_files_fini(struct served_files *files)
{
	size_t i;

	for (i = 0; i < files->count; i++) {
		free(files->files[i].path);
		free(files->files[i].name);
		growing_file_close(files->files[i].growing);
		file_summary_fini(&files->files[i].summary);
	}
	free(files->files);
	profile_cache_fini(&files->cache);
	(void)pthread_mutex_destroy(&files->lock);
}

static int set_main(struct profile *profile, const char *type)
{
	uint32_t i;

	for (i = 0; i < profile->value_count; i++)
		if (strcmp(profile->value_types[i].name, type) == 0) {
			profile->main_value = i;
			return 0;
		}
	return -EINVAL;
}

static int refuse_type(const struct served_files *files, const struct profile_request *request,
		       struct error *err)
{
	const struct served_file *file = &files->files[request->files[0]];
	struct bytes names = {0};
	size_t i;

	for (i = 0; i < file->summary.types.count; i++)
		bytes_printf(&names, "%s%s", i > 0 ? ", " : "", file->summary.types.items[i].name);
	bytes_put_u8(&names, '\0');
	(void)error_set(err, -EINVAL, "%s has no values of type %.60s", file->path, request->type);
	error_remedy(err, "it has: %.300s", names.failed ? "" : (const char *)names.data);
	bytes_fini(&names);
	return -EINVAL;
}

int served_files_profile(struct served_files *files, const struct profile_request *request,
			 struct profile **ret, struct error *err)
{
	const char *type = request->type;
	const struct file_type *known = NULL;
	struct load_options options;
	struct load_part part = {0};
	size_t i;
	int r = 0;

	(void)pthread_mutex_lock(&files->lock);
	for (i = 0; i < request->count && r == 0; i++)
		r = served_files_refresh(files, request->files[i], err);
	if (r == 0 && !files->files[request->files[0]].is_known) {
		r = error_set(err, -ENOENT, "%s has no samples yet",
			      files->files[request->files[0]].path);
		error_remedy(err, "ask again in a second");
	}
	for (i = 0; i < request->count && r == 0 && !known; i++)
		known = file_summary_type(&files->files[request->files[i]].summary, type);
	if (r == 0 && !known && type && *type)
		r = refuse_type(files, request, err);
	if (r == 0)
		r = load_part_init(&part, files, request, &options, err);
	if (r == 0) {
		settle_range(files, request, &options);
		options.heap = known && known->is_heap && !request->by_time;
		if (request->by_time)
			show_by_time(&options);
		r = get(files, request, &options, ret, err);
	}
	if (r == 0 && known && set_main(*ret, known->name) < 0) {
		profile_cache_give_back(&files->cache, *ret);
		r = refuse_type(files, request, err);
	}
	load_part_fini(&part);
	(void)pthread_mutex_unlock(&files->lock);
	return r;
}

void served_files_give_back(struct served_files *files, struct profile *profile)
{
	(void)pthread_mutex_lock(&files->lock);
	profile_cache_give_back(&files->cache, profile);
	(void)pthread_mutex_unlock(&files->lock);
}
