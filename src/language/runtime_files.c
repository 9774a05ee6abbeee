/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/runtime_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "language/remote_pages.h"
#include "proc/maps.h"
#include "proc/module_file.h"
#include "unwind/python_walk.h"

struct runtime_file {
	uint64_t device;
	uint64_t inode;
	uint64_t mtime_ns;
	uint64_t size_bytes;
	void *facts; /* NULL: it has no runtime */
};

struct runtime_files {
	const struct runtime_kind *kind;
	struct module_files *files;
	VEC(struct runtime_file) known;
	struct remote_pages pages;
};

static void scope_release_elf(struct elf_file **elf)
{
	elf_close(*elf);
}

struct runtime_files *runtime_files_new(const struct runtime_kind *kind)
{
	struct runtime_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->kind = kind;
	files->files = module_files_new();
	if (files->files)
		return files;
	free(files);
	return NULL;
}

void runtime_files_free(struct runtime_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->known.count; i++)
		free(files->known.items[i].facts);
	vec_fini(&files->known);
	module_files_free(files->files);
	free(files);
}

static bool is_same(const struct runtime_file *file, const struct module *module)
{
	return file->device == module->device && file->inode == module->inode &&
	       file->mtime_ns == module->mtime_ns && file->size_bytes == module->size_bytes;
}

/*
 * What is known about the file of a region. Returns 0, -EAGAIN if it cannot be read now, or
 * -ENOMEM.
 */
static int learn_file(struct runtime_files *files, pid_t pid, const struct map_region *region,
		      const struct module *module, const void **ret_facts)
{
	struct runtime_file file = {.device = module->device,
				    .inode = module->inode,
				    .mtime_ns = module->mtime_ns,
				    .size_bytes = module->size_bytes};
	SCOPED(elf) struct elf_file *elf = NULL;
	SCOPED(mem) void *facts = NULL;

	for (size_t i = 0; i < files->known.count; i++)
		if (is_same(&files->known.items[i], module)) {
			*ret_facts = files->known.items[i].facts;
			return 0;
		}
	facts = calloc(1, files->kind->fact_bytes);
	if (!facts)
		return -ENOMEM;
	if (module_files_open(files->files, pid, region, &elf, NULL) < 0)
		return -EAGAIN;
	if (files->kind->read(elf, region->path, facts))
		file.facts = facts;
	if (vec_push(&files->known, file) < 0)
		return -ENOMEM;
	*ret_facts = file.facts;
	if (file.facts)
		(void)scope_take(&facts); /* the file owns it now */
	return 0;
}

/* Programs may embed a runtime under any name; of libraries only the name tells. */
static bool may_have_it(const struct runtime_files *files, const struct maps *maps, size_t i)
{
	const struct map_region *region = &maps->items[i];
	const char *base = strrchr(region->path, '/');
	bool is_first = true;

	if (!(region->protection & REGION_EXEC) || region->inode == 0)
		return false;
	for (size_t j = 0; j < i && is_first; j++)
		is_first = maps->items[j].inode == region->inode;
	return is_first || (base && strstr(base, files->kind->word));
}

int runtime_files_find(struct runtime_files *files, pid_t pid, const struct maps *maps,
		       const void **ret_facts, uint64_t *ret_bias)
{
	int none = -ENOENT;

	for (size_t i = 0; i < maps->count; i++) {
		const void *facts = NULL;
		struct module_place place = {0};
		int r = may_have_it(files, maps, i)
				? module_files_identify(files->files, pid, &maps->items[i], &place)
				: -ENOENT;

		if (r == -ENOENT)
			continue;
		if (r == 0)
			r = place.unread;
		if (r == 0 && place.module.kind == MODULE_FILE)
			r = learn_file(files, pid, &maps->items[i], &place.module, &facts);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			none = -EAGAIN;
		if (!facts)
			continue;
		*ret_facts = facts;
		*ret_bias = place.bias;
		return 0;
	}
	return none;
}

struct python_reader runtime_files_reader(struct runtime_files *files, pid_t pid)
{
	remote_pages_begin(&files->pages, pid);
	return (struct python_reader){remote_pages_read, &files->pages};
}
