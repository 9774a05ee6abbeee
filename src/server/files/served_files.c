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
		return error_errno(err, -errno, "cannot merge the recordings");
	r = merge_files(paths, request->count, options, copy, err);
	if (r < 0)
		return r;
	if (lseek(merged, 0, SEEK_SET) < 0)
		return error_errno(err, -errno, "cannot read the merged recordings");
	return load_profile_fd(scope_take_fd(&merged), "the merged recordings", options, ret, err);
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
	r = request->count == 1
		    ? load_profile(files->files[request->files[0]].path, options, &profile, err)
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

int served_files_refresh(struct served_files *files, size_t index, struct error *err)
{
	struct served_file *file = &files->files[index];
	struct profile_request whole = {.files = &index, .count = 1, .to_s = UINT64_MAX};
	struct load_options options = files->load;
	struct file_version version;
	struct file_summary summary = {0};
	struct profile *profile;
	int r = version_of(file->path, &version, err);

	if (r < 0 || (file->is_known && is_version(&version, &file->version)))
		return r;
	/* The key of the profile has the version. If it cannot be read, it is tried again. */
	file->is_known = false;
	file->version = version;
	show_by_time(&options);
	r = get(files, &whole, &options, &profile, err);
	if (r < 0)
		return r;
	r = file_summary_init(&summary, profile, version.changed_ns);
	profile_cache_give_back(&files->cache, profile);
	if (r < 0) {
		file_summary_fini(&summary);
		return error_set(err, r, "out of memory");
	}
	file_summary_fini(&file->summary);
	file->summary = summary;
	file->is_known = true;
	return 0;
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

void served_files_fini(struct served_files *files)
{
	size_t i;

	for (i = 0; i < files->count; i++) {
		free(files->files[i].path);
		free(files->files[i].name);
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
