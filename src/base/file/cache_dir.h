/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_FILE_CACHE_DIR_H
#define WICK_BASE_FILE_CACHE_DIR_H

/*
 * cache_dir: a private directory of files that can be made again.
 *
 * It is made with mode 0700, and files of another user are never trusted. Files are
 * written under another name and renamed, so two processes may work at once; those
 * used longest ago go when the whole gets large. What the files hold, and whether it is
 * whole, is the caller's business.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define CACHE_NAME_MAX 128

struct cache_dir {
	int fd; /* -1: nothing is kept */
	uint64_t limit_bytes;
	const char *suffix; /* of the files that count; borrowed */
};

/*
 * path NULL: $XDG_CACHE_HOME/wick/NAME, ~/.cache/wick/NAME, or none for a user without a
 * home of their own. Returns 0, or -errno with nothing kept; a directory that was not
 * asked for by path is never an error. Closed with cache_dir_fini().
 */
int cache_dir_init(struct cache_dir *dir, const char *path, const char *name, const char *suffix,
		   uint64_t limit_bytes);
void cache_dir_fini(struct cache_dir *dir);

/*
 * Opens a file for reading and marks it as used. Returns a descriptor, or -errno: also
 * when it is not a regular file of ours.
 */
int cache_dir_open(struct cache_dir *dir, const char *name, uint64_t *ret_size);

/* Writes a file and removes old ones. That it cannot be kept is nobody's concern. */
void cache_dir_keep(struct cache_dir *dir, const char *name, const struct bytes *bytes);

/* The same piece by piece: put as often as needed, then finish, in any case. */
struct cache_file {
	struct cache_dir *dir;
	int fd;                         /* -1: nothing comes of it */
	char temporary[CACHE_NAME_MAX]; /* its name until it is whole */
	struct bytes buffer;
	uint64_t size; /* of what was put */
};

void cache_file_begin(struct cache_file *file, struct cache_dir *dir);
void cache_file_put(struct cache_file *file, const void *data, size_t n);
/* Puts head over the first bytes. */
void cache_file_finish(struct cache_file *file, const char *name, const void *head, size_t n);

#endif
