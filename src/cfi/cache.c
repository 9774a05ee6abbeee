/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/outfile.h"
#include "base/scope.h"
#include "base/vec.h"
#include "cfi/table_io.h"
#include "elf/elf.h"

#define DEFAULT_LIMIT_BYTES (256ull << 20)
#define SUFFIX ".unwind"
#define TEMPORARY_PREFIX "new-"
/* Nobody writes one file for that long: the writer is gone. */
#define TEMPORARY_LIFE_SECONDS 3600
#define NAME_BYTES (2 * BUILD_ID_MAX + 32)

struct cfi_cache {
	int directory; /* -1: nothing is kept */
	uint64_t limit_bytes;
	uint64_t hits;
	uint64_t misses;
};

struct entry {
	char name[NAME_BYTES];
	uint64_t size;
	int64_t used_ns; /* when it was last of use */
};

static void scope_release_directory(DIR **directory)
{
	if (*directory)
		(void)closedir(*directory);
}

static bool is_own_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/*
 * Where tables go without a word from the caller. -ENOENT for a user without a home
 * of their own: under sudo HOME may be somebody else's, where root leaves nothing.
 */
static int default_path(char *path, size_t size)
{
	const char *base = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	bool has_base = base && base[0] == '/';
	int n;

	if (!has_base && (!home || home[0] != '/'))
		return -ENOENT;
	if (!has_base && !is_own_directory(home))
		return -ENOENT;
	n = has_base ? snprintf(path, size, "%s/wick/unwind", base)
		     : snprintf(path, size, "%s/.cache/wick/unwind", home);
	if (n < 0 || (size_t)n >= size)
		return -ENAMETOOLONG;
	return has_base && access(base, F_OK) == 0 && !is_own_directory(base) ? -ENOENT : 0;
}

static int make_directories(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int r;

		*slash = '\0';
		r = mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
		*slash = '/';
		if (r < 0)
			return r;
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

/* Returns a descriptor of the directory, made when missing, which is ours and private. */
static int open_directory(char *path)
{
	struct stat st;
	int r = make_directories(path);

	if (r < 0)
		return r;
	SCOPED(fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid())
		return -EPERM;
	if ((st.st_mode & 077) != 0 && fchmod(fd, 0700) < 0)
		return -errno;
	return scope_take_fd(&fd);
}

int cfi_cache_open(const char *directory, uint64_t limit_bytes, struct cfi_cache **ret,
		   struct error *err)
{
	char path[PATH_MAX];
	int n = directory ? snprintf(path, sizeof(path), "%s", directory)
			  : default_path(path, sizeof(path));
	int fd = n < 0 ? n : n >= (int)sizeof(path) ? -ENAMETOOLONG : open_directory(path);
	struct cfi_cache *cache;

	if (fd < 0 && directory)
		return error_errno(err, fd, "%s cannot hold unwind tables", directory);
	cache = calloc(1, sizeof(*cache));
	if (!cache) {
		if (fd >= 0)
			(void)close(fd);
		return error_set(err, -ENOMEM, "no memory for the cache of unwind tables");
	}
	cache->directory = fd < 0 ? -1 : fd;
	cache->limit_bytes = limit_bytes > 0 ? limit_bytes : DEFAULT_LIMIT_BYTES;
	*ret = cache;
	return 0;
}

void cfi_cache_close(struct cfi_cache *cache)
{
	if (!cache)
		return;
	if (cache->directory >= 0)
		(void)close(cache->directory); /* nothing is written through it */
	free(cache);
}

void cfi_cache_counts(const struct cfi_cache *cache, uint64_t *ret_hits, uint64_t *ret_misses)
{
	*ret_hits = cache->hits;
	*ret_misses = cache->misses;
}

static void name_of(const struct table_identity *identity, char *name)
{
	struct build_id id = {.size = identity->build_id_size};
	char hex[2 * BUILD_ID_MAX + 1];

	memcpy(id.bytes, identity->build_id, id.size);
	build_id_format(&id, hex);
	(void)snprintf(name, NAME_BYTES, "%s-%u" SUFFIX, hex, identity->machine); /* it fits */
}

/* Reads a kept table; any reason not to use it is an error. */
static int load(struct cfi_cache *cache, const char *name, const struct table_identity *identity,
		struct cfi_table *ret)
{
	struct stat st;
	int r;

	SCOPED(fd)
	int fd = openat(cache->directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return -EPERM;
	r = table_read(fd, (uint64_t)st.st_size, identity, ret);
	if (r < 0)
		return r;
	(void)futimens(fd, NULL); /* the table that is not used goes first; a guess when it fails */
	return 0;
}

static int compare_age(const void *a, const void *b)
{
	const struct entry *left = a;
	const struct entry *right = b;

	return left->used_ns < right->used_ns ? -1 : left->used_ns > right->used_ns;
}

static int64_t modified_ns(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * (int64_t)NS_PER_SEC + st->st_mtim.tv_nsec;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text);

	return n >= strlen(end) && strcmp(text + n - strlen(end), end) == 0;
}

/* Removes the oldest tables until the rest is within the limit, and what dead writers left. */
static void shrink(struct cfi_cache *cache)
{
	VEC(struct entry) entries = {0};
	int64_t now_ns = (int64_t)clock_realtime_ns();
	int fd = openat(cache->directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	SCOPED(directory) DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *found;
	uint64_t total = 0;

	if (!directory) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	while ((found = readdir(directory)) != NULL) {
		struct entry entry = {.used_ns = 0};
		struct stat st;

		if (strlen(found->d_name) >= sizeof(entry.name) ||
		    fstatat(cache->directory, found->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		entry.used_ns = modified_ns(&st);
		if (strncmp(found->d_name, TEMPORARY_PREFIX, strlen(TEMPORARY_PREFIX)) == 0 &&
		    now_ns - entry.used_ns > TEMPORARY_LIFE_SECONDS * (int64_t)NS_PER_SEC)
			(void)unlinkat(cache->directory, found->d_name, 0);
		if (!ends_with(found->d_name, SUFFIX))
			continue;
		memcpy(entry.name, found->d_name, strlen(found->d_name) + 1);
		entry.size = (uint64_t)st.st_size;
		total += entry.size;
		if (vec_push(&entries, entry) < 0)
			break; /* without memory some stay a little longer */
	}
	if (total > cache->limit_bytes)
		qsort(entries.items, entries.count, sizeof(entries.items[0]), compare_age);
	for (size_t i = 0; i < entries.count && total > cache->limit_bytes; i++) {
		(void)unlinkat(cache->directory, entries.items[i].name, 0);
		total -= entries.items[i].size;
	}
	vec_fini(&entries);
}

/* Keeps a table. That it cannot be kept is nobody's concern: it is compiled again. */
static void keep(struct cfi_cache *cache, const char *name, const struct table_identity *identity,
		 const struct cfi_table *table)
{
	struct bytes bytes = {0};
	char temporary[NAME_BYTES];
	int r = -ENOMEM;
	int fd;

	/* The time tells caches of one process apart. */
	(void)snprintf(temporary, sizeof(temporary), TEMPORARY_PREFIX "%ld-%llx", (long)getpid(),
		       (unsigned long long)clock_monotonic_ns());
	fd = openat(cache->directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	table_write(table, identity, &bytes);
	if (!bytes.failed && bytes.size <= cache->limit_bytes)
		r = outfile_write_all(fd, bytes.data, bytes.size);
	bytes_fini(&bytes);
	if (close(fd) < 0)
		r = -errno;
	if (r == 0 && renameat(cache->directory, temporary, cache->directory, name) < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(cache->directory, temporary, 0);
	else
		shrink(cache);
}

int cfi_cache_get(struct cfi_cache *cache, struct elf_file *elf, struct cfi_table *ret,
		  struct error *err)
{
	struct table_identity identity = table_identity_of(elf);
	bool is_kept = cache->directory >= 0 && identity.build_id_size > 0;
	char name[NAME_BYTES];
	int r;

	name_of(&identity, name);
	if (is_kept && load(cache, name, &identity, ret) == 0) {
		cache->hits++;
		return 0;
	}
	r = cfi_compile(elf, ret, NULL, err);
	if (r < 0)
		return r;
	cache->misses++;
	if (is_kept)
		keep(cache, name, &identity, ret);
	return 0;
}
