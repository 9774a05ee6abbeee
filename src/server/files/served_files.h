/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_FILES_SERVED_FILES_H
#define WICK_SERVER_FILES_SERVED_FILES_H

/*
 * served_files: recordings that are served, each as a service named after its file, and the
 * profiles that were loaded from them.
 *
 * A file that has changed is read again. Profiles are loaded by one request at a time: loading
 * takes memory.
 *
 * Any thread may call.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "load/load.h"
#include "server/files/file_summary.h"
#include "server/files/profile_cache.h"

struct error;
struct growing_file;
struct profile;
struct store_match;

/* A version of a file. */
struct file_version {
	uint64_t inode;
	uint64_t bytes;
	uint64_t changed_ns;
};

struct served_file {
	char *path;
	char *name; /* of the service */
	struct file_version version;
	struct file_summary summary; /* of this version */
	bool is_known;
	bool may_grow;                /* it has no end mark */
	struct growing_file *growing; /* it was seen to grow; NULL: it was not */
	/*
	 * This program records it: when it began to, on CLOCK_MONOTONIC; 0: it does not. Until then
	 * there may be an older recording of this name.
	 */
	uint64_t ours_since_ns;
};

struct served_files {
	struct load_options load; /* its texts are borrowed */
	pthread_mutex_t lock;     /* of all below */
	struct served_file *files;
	size_t count;
	struct profile_cache cache;
};

/* What to load. */
struct profile_request {
	const size_t *files; /* indices; several are merged */
	size_t count;
	uint64_t from_s; /* since 1970 */
	uint64_t to_s;
	const struct store_match *matches;
	size_t match_count;
	const char *type; /* "": the main one */
	bool by_time;
};

/*
 * Borrows the texts of load. Reads every file once, so a file that cannot be read is reported here.
 * The caller releases it with served_files_fini(), also after a failure.
 */
int served_files_init(struct served_files *files, const char *const *paths, size_t count,
		      const struct load_options *load, struct error *err);

/* One file that this program is about to record. */
int served_files_init_own(struct served_files *files, const char *path,
			  const struct load_options *load, struct error *err);
void served_files_fini(struct served_files *files);

/* With files->lock held: reads what has changed. A file that cannot be read keeps its summary. */
int served_files_refresh(struct served_files *files, size_t file, struct error *err);

/*
 * The profile belongs to the caller until served_files_give_back(). Its main value is the type.
 * -EINVAL if no recording has the type.
 */
int served_files_profile(struct served_files *files, const struct profile_request *request,
			 struct profile **ret, struct error *err);
void served_files_give_back(struct served_files *files, struct profile *profile);

/* Load options for a part of one file, with files->lock held; see load_part_fini(). */
struct load_part {
	VEC(uint64_t) tids;
	VEC(char *) labels;
};
int load_part_init(struct load_part *part, const struct served_files *files,
		   const struct profile_request *request, struct load_options *ret,
		   struct error *err);
void load_part_fini(struct load_part *part);

/*
 * The descriptor of a recording that has the samples of the part, if the file grows: it need not be
 * read from its start. -ENOENT: read the file.
 */
int load_part_open(const struct served_file *file, const struct load_options *options,
		   struct error *err);

#endif
