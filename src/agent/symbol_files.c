/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/symbol_files.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/regular_file.h"
#include "base/vec.h"
#include "model/entity.h"

struct known_file {
	struct build_id build_id;
	char *path;
	uint32_t pid;
	int fd; /* -1: closed */
	uint64_t seen_ns;
	uint64_t opened_ns;
};

struct symbol_files {
	pthread_mutex_t lock;
	VEC(struct known_file) items;
	size_t open_count;
};

struct symbol_files *symbol_files_new(void)
{
	struct symbol_files *files = calloc(1, sizeof(*files));

	if (files)
		(void)pthread_mutex_init(&files->lock, NULL); /* never fails on Linux */
	return files;
}

static void close_file(struct symbol_files *files, struct known_file *file)
{
	if (file->fd < 0)
		return;
	(void)close(file->fd); /* only read from */
	file->fd = -1;
	files->open_count--;
}

static void forget(struct symbol_files *files, size_t i)
{
	close_file(files, &files->items.items[i]);
	free(files->items.items[i].path);
	files->items.items[i] = files->items.items[--files->items.count];
}

void symbol_files_free(struct symbol_files *files)
{
	if (!files)
		return;
	while (files->items.count > 0)
		forget(files, files->items.count - 1);
	vec_fini(&files->items);
	(void)pthread_mutex_destroy(&files->lock); /* nobody holds it */
	free(files);
}

static void put_root(uint32_t pid, char ret[64])
{
	(void)snprintf(ret, 64, "/proc/%u/root", pid); /* it fits */
}

/* Where its process sees it, else by its name. */
static int open_file(const char *path, uint32_t pid)
{
	char place[PATH_MAX + 64];
	char root[64];
	struct stat status;
	int fd;

	put_root(pid, root);
	(void)snprintf(place, sizeof(place), "%s%s", root, path); /* a cut name is no file */
	fd = regular_file_open(place, &status);
	return fd >= 0 ? fd : regular_file_open(path, &status);
}

/* With the lock: what was open for long enough is closed, and the oldest if there are too many. */
static void close_old(struct symbol_files *files, uint64_t now_ns)
{
	struct known_file *oldest = NULL;

	for (size_t i = 0; i < files->items.count; i++) {
		struct known_file *file = &files->items.items[i];

		if (file->fd >= 0 && now_ns - file->opened_ns > SYMBOL_FILES_OPEN_S * NS_PER_SEC)
			close_file(files, file);
		if (file->fd >= 0 && (!oldest || file->opened_ns < oldest->opened_ns))
			oldest = file;
	}
	if (oldest && files->open_count >= SYMBOL_FILES_OPEN_MAX)
		close_file(files, oldest);
}

/* With the lock. */
static void forget_oldest(struct symbol_files *files)
{
	size_t oldest = 0;

	for (size_t i = 1; i < files->items.count; i++)
		if (files->items.items[i].seen_ns < files->items.items[oldest].seen_ns)
			oldest = i;
	forget(files, oldest);
}

/* With the lock. */
static struct known_file *find(struct symbol_files *files, const struct build_id *id)
{
	for (size_t i = 0; i < files->items.count; i++)
		if (build_id_equal(&files->items.items[i].build_id, id))
			return &files->items.items[i];
	return NULL;
}

static void add(struct symbol_files *files, const struct module *module, uint32_t pid,
		uint64_t now_ns)
{
	struct known_file file = {.build_id = module->build_id,
				  .path = strdup(module->path),
				  .pid = pid,
				  .seen_ns = now_ns,
				  .opened_ns = now_ns};

	if (!file.path)
		return;
	if (files->items.count >= SYMBOL_FILES_MAX)
		forget_oldest(files);
	close_old(files, now_ns);
	file.fd = open_file(file.path, pid);
	if (vec_push(&files->items, file) == 0) {
		files->open_count += file.fd >= 0;
		return;
	}
	if (file.fd >= 0)
		(void)close(file.fd); /* only read from */
	free(file.path);
}

void symbol_files_note(struct symbol_files *files, const struct module *module, uint32_t pid)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct known_file *known;

	(void)pthread_mutex_lock(&files->lock);
	known = find(files, &module->build_id);
	if (known) {
		known->seen_ns = now_ns;
		known->pid = pid; /* another may have ended */
	} else {
		add(files, module, pid, now_ns);
	}
	(void)pthread_mutex_unlock(&files->lock);
}

int symbol_files_take(struct symbol_files *files, const struct build_id *id,
		      struct symbol_file_found *ret)
{
	struct known_file *known;
	int r = -ENOENT;

	(void)pthread_mutex_lock(&files->lock);
	known = find(files, id);
	if (known) {
		ret->build_id = *id;
		(void)snprintf(ret->path, sizeof(ret->path), "%s", known->path);
		put_root(known->pid, ret->root);
		ret->fd = known->fd;
		files->open_count -= known->fd >= 0;
		known->fd = -1; /* the caller's now */
		r = 0;
	}
	(void)pthread_mutex_unlock(&files->lock);
	return r;
}

void symbol_files_put_back(struct symbol_files *files, struct symbol_file_found *found)
{
	struct known_file *known;

	if (found->fd < 0)
		return;
	(void)pthread_mutex_lock(&files->lock);
	known = find(files, &found->build_id);
	if (known && known->fd < 0 && files->open_count < SYMBOL_FILES_OPEN_MAX) {
		known->fd = found->fd;
		files->open_count++;
		found->fd = -1;
	}
	(void)pthread_mutex_unlock(&files->lock);
	if (found->fd >= 0)
		(void)close(found->fd); /* only read from */
	found->fd = -1;
}
