/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_FILE_CACHE_DIR_H
#define WICK_BASE_FILE_CACHE_DIR_H

/*
 * cache_dir: a private directory of files that can be generated again.
 *
 * It is created with mode 0700, and files of other users are never trusted. Files are written under
 * a temporary name and renamed, so two processes may work at once. When the directory grows too
 * large, the least recently used files are deleted. What the files contain, and whether they are
 * complete, is up to the caller.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

#define CACHE_NAME_MAX 128

struct cache_dir {
	int fd; /* -1: nothing is kept */
	uint64_t limit_bytes;
	const char *suffix; /* of the files that count towards the size; borrowed */
};

/*
 * path NULL: $XDG_CACHE_HOME/wick/NAME, ~/.cache/wick/NAME, or no cache for a user without a home
 * of their own. Returns 0, or -errno with nothing kept; without a path, a directory that cannot be
 * used is never an error. Closed with cache_dir_fini().
 */
int cache_dir_init(struct cache_dir *dir, const char *path, const char *name, const char *suffix,
		   uint64_t limit_bytes);
void cache_dir_fini(struct cache_dir *dir);

/*
 * Opens a file for reading and marks it as used. Returns a descriptor, or -errno, including when it
 * is not a regular file of ours.
 */
int cache_dir_open(struct cache_dir *dir, const char *name, uint64_t *ret_size);

/* Writes a file and deletes old ones. Failure to keep it is not reported. */
void cache_dir_keep(struct cache_dir *dir, const char *name, const struct bytes *bytes);

/* The same piece by piece: put as often as needed, then always finish. */
struct cache_file {
	struct cache_dir *dir;
	int fd;                         /* -1: it will not be kept */
	char temporary[CACHE_NAME_MAX]; /* its name until it is complete */
	struct bytes buffer;
	uint64_t size; /* of what was put */
};

void cache_file_begin(struct cache_file *file, struct cache_dir *dir);
void cache_file_put(struct cache_file *file, const void *data, size_t n);
/* Overwrites the first bytes with head. */
void cache_file_finish(struct cache_file *file, const char *name, const void *head, size_t n);

#endif
