/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file/cache_dir.h"

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

#include "base/clock.h"
#include "base/file/outfile.h"
#include "base/scope.h"
#include "base/vec.h"

#define TEMPORARY_PREFIX "new-"
#define BUFFER_BYTES (64u << 10)
/* Nobody takes that long to write one file: the writer is gone. */
#define TEMPORARY_LIFE_SECONDS 3600

struct entry {
	char name[CACHE_NAME_MAX];
	uint64_t size;
	int64_t used_ns; /* when it was last used */
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
 * The directory when the caller names none. -ENOENT for a user without a home of their own: under
 * sudo HOME may be somebody else's, and root leaves nothing there.
 */
static int default_path(const char *name, char *path, size_t size)
{
	const char *base = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	bool has_base = base && base[0] == '/';
	int n;

	if (!has_base && (!home || home[0] != '/'))
		return -ENOENT;
	if (!has_base && !is_own_directory(home))
		return -ENOENT;
	n = has_base ? snprintf(path, size, "%s/wick/%s", base, name)
		     : snprintf(path, size, "%s/.cache/wick/%s", home, name);
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

/* Returns a descriptor of the directory, created when missing, which is ours and private. */
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

int cache_dir_init(struct cache_dir *dir, const char *path, const char *name, const char *suffix,
		   uint64_t limit_bytes)
{
	char place[PATH_MAX];
	int n = path ? snprintf(place, sizeof(place), "%s", path)
		     : default_path(name, place, sizeof(place));
	int fd = n < 0 ? n : n >= (int)sizeof(place) ? -ENAMETOOLONG : open_directory(place);

	*dir = (struct cache_dir){
		.fd = fd < 0 ? -1 : fd, .limit_bytes = limit_bytes, .suffix = suffix};
	return fd < 0 && path ? fd : 0;
}

void cache_dir_fini(struct cache_dir *dir)
{
	if (dir->fd >= 0)
		(void)close(dir->fd); /* nothing is written through it */
	dir->fd = -1;
}

int cache_dir_open(struct cache_dir *dir, const char *name, uint64_t *ret_size)
{
	struct stat st;

	SCOPED(fd) int fd = openat(dir->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return -EPERM;
	(void)futimens(fd, NULL); /* least recently used goes first; no harm if this fails */
	*ret_size = (uint64_t)st.st_size;
	return scope_take_fd(&fd);
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

/* Deletes the oldest files until the rest fits the limit, and what dead writers left behind. */
static void shrink(const struct cache_dir *dir)
{
	VEC(struct entry) entries = {0};
	int64_t now_ns = (int64_t)clock_realtime_ns();
	int fd = openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
		    fstatat(dir->fd, found->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		entry.used_ns = modified_ns(&st);
		if (strncmp(found->d_name, TEMPORARY_PREFIX, strlen(TEMPORARY_PREFIX)) == 0 &&
		    now_ns - entry.used_ns > TEMPORARY_LIFE_SECONDS * (int64_t)NS_PER_SEC)
			(void)unlinkat(dir->fd, found->d_name, 0);
		if (!ends_with(found->d_name, dir->suffix))
			continue;
		memcpy(entry.name, found->d_name, strlen(found->d_name) + 1);
		entry.size = (uint64_t)st.st_size;
		total += entry.size;
		if (vec_push(&entries, entry) < 0)
			break; /* without memory some stay a little longer */
	}
	if (total > dir->limit_bytes)
		qsort(entries.items, entries.count, sizeof(entries.items[0]), compare_age);
	for (size_t i = 0; i < entries.count && total > dir->limit_bytes; i++) {
		(void)unlinkat(dir->fd, entries.items[i].name, 0);
		total -= entries.items[i].size;
	}
	vec_fini(&entries);
}

void cache_file_begin(struct cache_file *file, struct cache_dir *dir)
{
	*file = (struct cache_file){.dir = dir, .fd = -1};
	if (dir->fd < 0)
		return;
	/* The time distinguishes several caches of one process. */
	(void)snprintf(file->temporary, sizeof(file->temporary), TEMPORARY_PREFIX "%ld-%llx",
		       (long)getpid(), (unsigned long long)clock_monotonic_ns());
	file->fd = openat(dir->fd, file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

/* Abandons a file that cannot be kept. */
static void give_up(struct cache_file *file)
{
	if (file->fd < 0)
		return;
	(void)close(file->fd);
	(void)unlinkat(file->dir->fd, file->temporary, 0);
	file->fd = -1;
}

static void write_out(struct cache_file *file, const void *data, size_t n)
{
	if (file->fd >= 0 && outfile_write_all(file->fd, data, n) < 0)
		give_up(file);
}

void cache_file_put(struct cache_file *file, const void *data, size_t n)
{
	file->size += n;
	if (file->size > file->dir->limit_bytes)
		give_up(file);
	if (file->fd < 0)
		return;
	if (file->buffer.size + n > BUFFER_BYTES) {
		write_out(file, file->buffer.data, file->buffer.size);
		bytes_clear(&file->buffer);
	}
	if (n > BUFFER_BYTES)
		write_out(file, data, n);
	else
		bytes_put(&file->buffer, data, n);
	if (file->buffer.failed)
		give_up(file);
}

void cache_file_finish(struct cache_file *file, const char *name, const void *head, size_t n)
{
	write_out(file, file->buffer.data, file->buffer.size);
	bytes_fini(&file->buffer);
	if (file->fd >= 0 && n > 0 && pwrite(file->fd, head, n, 0) != (ssize_t)n)
		give_up(file);
	if (file->fd < 0)
		return;
	if (close(file->fd) < 0 ||
	    renameat(file->dir->fd, file->temporary, file->dir->fd, name) < 0)
		(void)unlinkat(file->dir->fd, file->temporary, 0);
	else
		shrink(file->dir);
	file->fd = -1;
}

void cache_dir_keep(struct cache_dir *dir, const char *name, const struct bytes *bytes)
{
	struct cache_file file;

	if (bytes->failed)
		return;
	cache_file_begin(&file, dir);
	cache_file_put(&file, bytes->data, bytes->size);
	cache_file_finish(&file, name, NULL, 0);
}
