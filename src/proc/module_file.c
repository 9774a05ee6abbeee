/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/module_file.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <linux/magic.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file/regular_file.h"
#include "base/id_index.h"
#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "proc/maps.h"
#include "proc/process_info.h"

/* What is cached about a file; its segments are in module_files.segments. */
struct known_file {
	uint64_t device;
	uint64_t inode;
	uint64_t mtime_ns;
	uint64_t size_bytes;
	bool is_elf;
	struct build_id build_id;
	size_t first_segment;
	size_t segment_count;
};

struct module_files {
	VEC(struct known_file) files;
	VEC(struct elf_segment) segments;
	struct id_index index; /* by device and inode */
	size_t read_count;
	bool map_files_refused;
	bool vdso_read;
	struct build_id vdso;
};

/* Where a mapped file was found. */
struct found_file {
	char path[PATH_MAX + 64];
	struct stat status;
	bool by_name; /* not through the mapping itself */
};

static void scope_release_elf(struct elf_file **elf)
{
	elf_close(*elf);
}

struct module_files *module_files_new(void)
{
	return calloc(1, sizeof(struct module_files));
}

void module_files_free(struct module_files *files)
{
	if (!files)
		return;
	vec_fini(&files->files);
	vec_fini(&files->segments);
	id_index_fini(&files->index);
	free(files);
}

size_t module_files_read_count(const struct module_files *files)
{
	return files->read_count;
}

/*
 * Whether a file is the mapped one. The device is not compared: btrfs gives stat() another one than
 * the kernel shows in maps. Overlay file systems, which containers use, show the inode of the layer
 * below in maps; there the name decides unless the kernel says that it is gone.
 */
static bool is_mapped_file(const struct map_region *region, const struct found_file *found)
{
	struct statfs file_system;

	if (region->inode == 0)
		return region->kind == REGION_FILE;
	if (found->status.st_ino == region->inode)
		return true;
	return region->kind == REGION_FILE && statfs(found->path, &file_system) == 0 &&
	       file_system.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* Returns 0 for the mapped file, -ESTALE for another one. */
static int try_path(const struct map_region *region, struct found_file *found)
{
	if (stat(found->path, &found->status) < 0)
		return -errno;
	return is_mapped_file(region, found) ? 0 : -ESTALE;
}

static int try_map_files(struct module_files *files, pid_t pid, const struct map_region *region,
			 struct found_file *found)
{
	char name[64];

	if (pid < 0 || files->map_files_refused)
		return -EPERM;
	(void)snprintf(name, sizeof(name), "map_files/%llx-%llx", (unsigned long long)region->start,
		       (unsigned long long)region->end);
	process_path(found->path, sizeof(found->path), pid, name);
	int r = try_path(region, found);
	/* Following these links requires a capability: once refused, always refused. */
	if (r == -EPERM)
		files->map_files_refused = true;
	return r;
}

/* Searches for a name below the root of the process, then below ours. */
static int try_name(pid_t pid, const struct map_region *region, const char *ending,
		    struct found_file *found)
{
	char root[64] = "";
	int r = -ENOENT;

	found->by_name = true;
	if (region->path[0] != '/')
		return -ENOENT;
	if (pid >= 0) {
		process_path(root, sizeof(root), pid, "root");
		int n = snprintf(found->path, sizeof(found->path), "%s%s%s", root, region->path,
				 ending);
		if (n < 0 || (size_t)n >= sizeof(found->path))
			return -ENAMETOOLONG;
		r = try_path(region, found);
		if (r == 0)
			return 0;
	}
	int n = snprintf(found->path, sizeof(found->path), "%s%s", region->path, ending);
	if (n < 0 || (size_t)n >= sizeof(found->path))
		return -ENAMETOOLONG;
	int bare = try_path(region, found);
	/* The error where the process sees the file is more meaningful. */
	return bare == 0 || r == -ENOENT ? bare : r;
}

static int find_file(struct module_files *files, pid_t pid, const struct map_region *region,
		     struct found_file *found)
{
	int r = try_map_files(files, pid, region, found);

	found->by_name = false;
	if (r == 0 || region->kind == REGION_MEMFD)
		return r;
	if (region->kind == REGION_FILE)
		return try_name(pid, region, "", found);
	if (pid >= 0) {
		process_path(found->path, sizeof(found->path), pid, "exe");
		if (try_path(region, found) == 0)
			return 0;
	}
	/* A name may really end in " (deleted)". */
	return try_name(pid, region, " (deleted)", found);
}

static uint64_t mtime_ns_of(const struct stat *status)
{
	return (uint64_t)status->st_mtim.tv_sec * NS_PER_SEC + (uint64_t)status->st_mtim.tv_nsec;
}

struct file_stamp file_stamp_of(const struct module *module)
{
	return (struct file_stamp){module->device, module->inode, module->mtime_ns,
				   module->size_bytes};
}

bool file_stamp_is_at(const struct file_stamp *stamp, const char *path)
{
	struct stat status;

	return stamp->inode != 0 && path[0] == '/' && stat(path, &status) == 0 &&
	       status.st_dev == stamp->device && status.st_ino == stamp->inode &&
	       mtime_ns_of(&status) == stamp->mtime_ns &&
	       (uint64_t)status.st_size == stamp->size_bytes;
}

/* When a region existed at the latest, on the clock of files; 0 if that is not known. */
static uint64_t mapped_real_ns(const struct map_region *region)
{
	return region->mapped_ns ? region->mapped_ns + clock_realtime_ns() - clock_monotonic_ns()
				 : 0;
}

/*
 * Whether a file was written after it was mapped: it has the right inode, but perhaps another
 * program's contents. If the process still has the mapping, it executes what is in the file now. A
 * time in the future says nothing: another machine's clock set it.
 */
static bool is_rewritten(const struct map_region *region, const struct found_file *found)
{
	uint64_t mapped_ns = mapped_real_ns(region);
	uint64_t mtime_ns = mtime_ns_of(&found->status);

	return found->by_name && mapped_ns > 0 && mtime_ns > mapped_ns &&
	       mtime_ns <= clock_realtime_ns();
}

static const struct known_file *find_known(const struct module_files *files,
					   const struct stat *status)
{
	struct id_probe probe =
		id_index_probe(&files->index, hash_pair(status->st_dev, status->st_ino));
	uint32_t id;

	while ((id = id_probe_next(&files->index, &probe)) != ID_NONE) {
		const struct known_file *file = &files->files.items[id];

		if (file->device == status->st_dev && file->inode == status->st_ino &&
		    file->mtime_ns == mtime_ns_of(status) &&
		    file->size_bytes == (uint64_t)status->st_size)
			return file;
	}
	return NULL;
}

static int add_known(struct module_files *files, const struct stat *status, struct elf_file *elf)
{
	struct known_file file = {
		.device = status->st_dev,
		.inode = status->st_ino,
		.mtime_ns = mtime_ns_of(status),
		.size_bytes = (uint64_t)status->st_size,
		.first_segment = files->segments.count,
	};

	if (elf) {
		file.is_elf = true;
		file.build_id = *elf_build_id(elf);
		file.segment_count = elf_segment_count(elf);
	}
	for (size_t i = 0; i < file.segment_count; i++)
		if (vec_push(&files->segments, *elf_segment_at(elf, i)) < 0)
			return -ENOMEM;
	if (vec_push(&files->files, file) < 0)
		return -ENOMEM;
	return id_index_add(&files->index, hash_pair(file.device, file.inode),
			    (uint32_t)(files->files.count - 1));
}

/* Reads the headers of an unknown file and caches them. */
static int read_file(struct module_files *files, struct found_file *found)
{
	SCOPED(elf) struct elf_file *elf = NULL;
	struct stat status;

	if (!S_ISREG(found->status.st_mode))
		return add_known(files, &found->status, NULL);
	SCOPED(fd) int fd = regular_file_open(found->path, &status);
	if (fd < 0)
		return fd;
	if (status.st_ino != found->status.st_ino || status.st_dev != found->status.st_dev)
		return -ESTALE;
	found->status = status;
	int r = elf_open_fd(fd, found->path, &elf, NULL);
	if (r >= 0)
		(void)scope_take_fd(&fd); /* belongs to elf now */
	else if (r != -ENOEXEC && r != -ENOTSUP)
		return r;
	files->read_count++;
	return add_known(files, &found->status, elf);
}

static void place_known(const struct module_files *files, const struct known_file *file,
			const struct map_region *region, struct module_place *ret)
{
	const struct elf_segment *segments;
	uint64_t bias;

	ret->module.device = file->device;
	ret->module.inode = file->inode;
	ret->module.mtime_ns = file->mtime_ns;
	ret->module.size_bytes = file->size_bytes;
	ret->module.kind = file->is_elf ? MODULE_FILE : MODULE_OTHER_FILE;
	if (!file->is_elf)
		return;
	ret->module.build_id = file->build_id;
	segments = file->segment_count > 0 ? files->segments.items + file->first_segment : NULL;
	if (elf_segments_load_bias(segments, file->segment_count, region->start,
				   region->file_offset, region->protection & REGION_EXEC,
				   &bias) == 0)
		ret->bias = bias;
}

static int identify_file(struct module_files *files, pid_t pid, const struct map_region *region,
			 struct module_place *ret)
{
	struct found_file found;

	int r = find_file(files, pid, region, &found);
	if (r == 0) {
		const struct known_file *file = find_known(files, &found.status);

		if (!file) {
			r = read_file(files, &found);
			file = r < 0 ? NULL : find_known(files, &found.status);
		}
		/* Others are written while they are mapped: a jitdump, for example. */
		ret->rewritten = file && file->is_elf && is_rewritten(region, &found);
		if (file && !ret->rewritten) {
			place_known(files, file, region, ret);
			return 0;
		}
	}
	if (r == -ENOMEM)
		return r;
	if (ret->rewritten) {
		/* No file has this time: nobody takes the new contents for the mapped ones. */
		ret->module.mtime_ns = mapped_real_ns(region);
		r = -ESTALE;
	}
	ret->unread = r;
	if (region->kind == REGION_MEMFD)
		ret->module.kind = MODULE_OTHER_FILE;
	return 0;
}

/* Opens the vdso that the kernel gave this process. */
static int open_vdso(struct elf_file **ret, struct error *err)
{
	struct maps maps = {0};
	int r = maps_read(&maps, 0, 0, err);

	if (r == 0)
		r = error_set(err, -ENOENT, "this process has no vdso");
	for (size_t i = 0; r == -ENOENT && i < maps.count; i++) {
		const struct map_region *region = &maps.items[i];

		if (region->kind == REGION_VDSO)
			r = elf_open_memory((const void *)(uintptr_t)region->start,
					    region->end - region->start, "[vdso]", ret, err);
	}
	maps_fini(&maps);
	return r;
}

static const struct build_id *vdso_build_id(struct module_files *files)
{
	SCOPED(elf) struct elf_file *elf = NULL;

	if (files->vdso_read)
		return &files->vdso;
	files->vdso_read = true;
	if (open_vdso(&elf, NULL) == 0)
		files->vdso = *elf_build_id(elf);
	return &files->vdso;
}

int module_files_open(struct module_files *files, pid_t pid, const struct map_region *region,
		      struct elf_file **ret, struct error *err)
{
	struct found_file found;

	if (region->kind == REGION_VDSO)
		return open_vdso(ret, err);
	if (region->kind != REGION_FILE && region->kind != REGION_DELETED &&
	    region->kind != REGION_MEMFD)
		return error_set(err, -ENOENT, "no file is mapped there");
	int r = find_file(files, pid, region, &found);
	if (r == 0 && is_rewritten(region, &found))
		r = -ESTALE;
	if (r < 0)
		return error_file(err, r, "%s", region->path);
	return elf_open(found.path, ret, err);
}

int module_files_locate(struct module_files *files, pid_t pid, const struct map_region *region,
			char *ret, size_t size)
{
	struct found_file found;
	int r = -ESTALE;
	int n;

	if (region->kind == REGION_FILE) {
		n = snprintf(found.path, sizeof(found.path), "%s", region->path);
		r = n < 0 || (size_t)n >= sizeof(found.path) ? -ENAMETOOLONG
							     : try_path(region, &found);
	}
	if (r < 0)
		r = find_file(files, pid, region, &found);
	if (r < 0)
		return r;
	n = snprintf(ret, size, "%s", found.path);
	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

int module_files_identify(struct module_files *files, pid_t pid, const struct map_region *region,
			  struct module_place *ret)
{
	struct module_place place = {
		.module = {.kind = MODULE_FILE,
			   .path = region->path,
			   .device = region->device,
			   .inode = region->inode},
		.bias = region->start - region->file_offset,
	};
	int r = 0;

	switch (region->kind) {
	case REGION_FILE:
	case REGION_DELETED:
	case REGION_MEMFD:
		r = identify_file(files, pid, region, &place);
		break;
	case REGION_VDSO:
		place.module.kind = MODULE_VDSO;
		place.module.build_id = *vdso_build_id(files);
		place.bias = region->start;
		break;
	case REGION_VSYSCALL:
		place.module.kind = MODULE_VDSO;
		place.bias = region->start;
		break;
	case REGION_SPECIAL:
	case REGION_ANONYMOUS:
		place.module.kind = MODULE_ANONYMOUS;
		place.bias = 0;
		if (region->path[0] == '\0')
			place.module.path = "[anonymous]";
		break;
	}
	if (r == 0)
		*ret = place;
	return r;
}
