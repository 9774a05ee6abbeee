/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/kept_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/cache_dir.h"
#include "base/file/regular_file.h"
#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "model/dictionary.h"
#include "proc/maps.h"
#include "proc/module_file.h"
#include "recording/writer.h"

#define SUFFIX ".elf"
#define LIMIT_BYTES (1ull << 30) /* of all */
#define FILE_BYTES (256ull << 20)
#define PIECE_BYTES 65536u

struct job {
	const struct dictionary *dictionary;
	struct module_files *files;
	struct cache_dir cache;
	VEC(const struct module *) lost; /* whose paths lead elsewhere, or nowhere */
};

/*
 * The build id is only what the file claims; device, inode and time come from the kernel. So a
 * forged file cannot replace another one.
 */
static void name_of(const struct module *module, char *ret)
{
	char hex[2 * BUILD_ID_MAX + 1];

	build_id_format(&module->build_id, hex);
	(void)snprintf(ret, CACHE_NAME_MAX, "%s-%" PRIx64 "-%" PRIx64 "-%" PRIx64 SUFFIX, hex,
		       module->device, module->inode, module->mtime_ns); /* it fits */
}

static int open_cache(struct cache_dir *cache)
{
	return cache_dir_init(cache, NULL, "files", SUFFIX, LIMIT_BYTES);
}

static bool is_lost(const struct module *module)
{
	struct stat status;

	return module->kind == MODULE_FILE && module->build_id.size > 0 && module->inode != 0 &&
	       (stat(module->path, &status) < 0 || status.st_ino != module->inode);
}

static bool is_kept(struct job *job, const char *name)
{
	uint64_t size;
	SCOPED(fd) int fd = cache_dir_open(&job->cache, name, &size);

	return fd >= 0;
}

static bool has_build_id(int fd, const struct build_id *id)
{
	SCOPED(fd) int again = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct elf_file *elf = NULL;
	bool same;

	if (again < 0 || elf_open_fd(again, "file", &elf, NULL) < 0)
		return false;
	(void)scope_take_fd(&again); /* now owned by elf */
	same = build_id_equal(elf_build_id(elf), id);
	elf_close(elf);
	return same;
}

/* Copies a file that has the build id of a module. */
static void keep(struct job *job, const struct module *module, const char *path, const char *name)
{
	struct cache_file copy;
	struct stat status;
	uint8_t piece[PIECE_BYTES];
	ssize_t n;

	SCOPED(fd) int fd = regular_file_open(path, &status);

	if (fd < 0 || (uint64_t)status.st_size > FILE_BYTES || !has_build_id(fd, &module->build_id))
		return;
	cache_file_begin(&copy, &job->cache);
	while ((n = read(fd, piece, sizeof(piece))) > 0)
		cache_file_put(&copy, piece, (size_t)n);
	cache_file_finish(&copy, name, NULL, 0);
}

static void keep_region(struct job *job, pid_t pid, const struct map_region *region)
{
	for (size_t i = 0; i < job->lost.count; i++) {
		const struct module *module = job->lost.items[i];
		char name[CACHE_NAME_MAX];
		char path[PATH_MAX];

		if (module->inode != region->inode)
			continue;
		name_of(module, name);
		if (!is_kept(job, name) &&
		    module_files_locate(job->files, pid, region, path, sizeof(path)) == 0)
			keep(job, module, path, name);
	}
}

static void keep_process(struct job *job, pid_t pid)
{
	struct maps maps = {0};

	if (maps_read(&maps, pid, MAPS_EXECUTABLE_ONLY, NULL) == 0)
		for (size_t i = 0; i < maps.count; i++)
			keep_region(job, pid, &maps.items[i]);
	maps_fini(&maps);
}

void kept_files_add(const struct recording_writer *writer)
{
	struct job job = {.dictionary = recording_writer_dictionary(writer), .cache = {.fd = -1}};

	for (size_t i = 0; i < job.dictionary->modules.count; i++)
		if (is_lost(&job.dictionary->modules.items[i]))
			(void)vec_push(&job.lost, &job.dictionary->modules.items[i]);
	if (job.lost.count > 0)
		job.files = module_files_new();
	/* If out of memory, or without its own cache, nothing is kept. */
	if (job.files && open_cache(&job.cache) == 0 && job.cache.fd >= 0)
		for (size_t i = 0; i < job.dictionary->processes.count; i++)
			keep_process(&job, (pid_t)job.dictionary->processes.items[i].pid);
	cache_dir_fini(&job.cache);
	module_files_free(job.files);
	vec_fini(&job.lost);
}

int kept_files_find(const struct module *module, char *ret_path)
{
	struct cache_dir cache = {.fd = -1};
	char name[CACHE_NAME_MAX];
	char link[64];
	uint64_t size;
	ssize_t n = -1;
	int fd;

	if (open_cache(&cache) < 0 || cache.fd < 0)
		return -ENOENT;
	name_of(module, name);
	fd = cache_dir_open(&cache, name, &size);
	if (fd >= 0) {
		(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, ret_path, PATH_MAX - 1);
		(void)close(fd);
	}
	cache_dir_fini(&cache);
	if (n <= 0)
		return -ENOENT;
	ret_path[n] = '\0';
	return 0;
}
