/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/python/runtime.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "elf/elf_function.h"
#include "language/remote_pages.h"
#include "proc/maps.h"
#include "proc/module_file.h"
#include "unwind/python_walk.h"

#define RODATA_MAX (64u << 20)

/* What a file has, as ELF vaddrs. */
struct python_file {
	uint64_t device;
	uint64_t inode;
	uint64_t mtime_ns;
	uint64_t size_bytes;
	uint64_t runtime; /* 0: it is no interpreter */
	uint64_t code_type;
	uint32_t version; /* PY_VERSION_HEX, as far as it is known */
	struct language_range loops[LOOP_RANGES];
	size_t loop_count;
};

struct python_files {
	struct module_files *files;
	VEC(struct python_file) known;
	struct remote_pages pages;
};

static void scope_release_elf(struct elf_file **elf)
{
	elf_close(*elf);
}

struct python_files *python_files_new(void)
{
	struct python_files *files = calloc(1, sizeof(*files));

	if (!files)
		return NULL;
	files->files = module_files_new();
	if (files->files)
		return files;
	free(files);
	return NULL;
}

void python_files_free(struct python_files *files)
{
	if (!files)
		return;
	module_files_free(files->files);
	vec_fini(&files->known);
	free(files);
}

/* The version after "python" in a path: python3.9, libpython3.10.so.1.0. 0: none. */
static uint32_t version_in(const char *text, size_t size)
{
	static const char word[] = "python3.";
	size_t length = sizeof(word) - 1;

	for (size_t i = 0; i + length < size; i++) {
		uint32_t minor = 0;

		if (memcmp(text + i, word, length) != 0)
			continue;
		for (size_t j = i + length; j < size && text[j] >= '0' && text[j] <= '9'; j++)
			minor = minor * 10 + (uint32_t)(text[j] - '0');
		if (minor > 0 && minor < 256)
			return 0x03000000u | minor << 16;
	}
	return 0;
}

/* Interpreters know their folder, which has the version in its name. */
static uint32_t version_in_data(struct elf_file *elf)
{
	const struct elf_section *section = elf_section_find(elf, ".rodata");
	SCOPED(mem) void *data = NULL;
	size_t size;

	if (!section || section->size > RODATA_MAX ||
	    elf_section_read(elf, section, &data, &size, NULL) < 0)
		return 0;
	return version_in(data, size);
}

static uint32_t find_version(struct elf_file *elf, const struct elf_function *symbol,
			     const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	uint32_t version = 0;
	uint64_t offset;

	/* The interpreter's own statement, since 3.11. */
	if (symbol->found && elf_vaddr_to_offset(elf, symbol->vaddr, &offset) == 0 &&
	    elf_read_at(elf, offset, &version, sizeof(version)) == 0 && version >> 24 == 3)
		return version;
	version = version_in(base, strlen(base));
	return version ? version : version_in_data(elf);
}

/* Looks for an interpreter in a file. */
static void read_file(struct elf_file *elf, const char *path, struct python_file *ret)
{
	static const char *const names[] = {"_PyRuntime", "Py_Version", "PyCode_Type"};
	struct elf_function found[ARRAY_SIZE(names)];
	const struct elf_section *section = elf_section_find(elf, ".PyRuntime");

	/* Any program may embed an interpreter, but few do: their symbols are not all read. */
	if (strstr(path, "python"))
		elf_objects_find(elf, names, ARRAY_SIZE(names), found);
	else
		elf_exported_objects_find(elf, names, ARRAY_SIZE(names), found);
	ret->runtime = found[0].found ? found[0].vaddr : section ? section->addr : 0;
	if (ret->runtime == 0)
		return;
	ret->code_type = found[2].found ? found[2].vaddr : 0;
	ret->version = find_version(elf, &found[1], path);
	ret->loop_count = loop_code_find(elf, ret->loops);
}

static bool is_same(const struct python_file *file, const struct module *module)
{
	return file->device == module->device && file->inode == module->inode &&
	       file->mtime_ns == module->mtime_ns && file->size_bytes == module->size_bytes;
}

/* What is known about the file of a region; NULL if out of memory. */
static const struct python_file *learn_file(struct python_files *files, pid_t pid,
					    const struct map_region *region,
					    const struct module *module)
{
	struct python_file file = {.device = module->device,
				   .inode = module->inode,
				   .mtime_ns = module->mtime_ns,
				   .size_bytes = module->size_bytes};
	SCOPED(elf) struct elf_file *elf = NULL;

	for (size_t i = 0; i < files->known.count; i++)
		if (is_same(&files->known.items[i], module))
			return &files->known.items[i];
	if (module_files_open(files->files, pid, region, &elf, NULL) == 0)
		read_file(elf, region->path, &file);
	if (vec_push(&files->known, file) < 0)
		return NULL;
	return &files->known.items[files->known.count - 1];
}

/* Programs may embed an interpreter under any name; of libraries only the name tells. */
static bool may_be_python(const struct maps *maps, size_t i)
{
	const struct map_region *region = &maps->items[i];
	const char *base = strrchr(region->path, '/');
	bool is_first = true;

	if (!(region->protection & REGION_EXEC) || region->inode == 0)
		return false;
	for (size_t j = 0; j < i && is_first; j++)
		is_first = maps->items[j].inode == region->inode;
	return is_first || (base && strstr(base, "python"));
}

static int refuse(const struct python_file *file, const char *why, struct error *err)
{
	return error_advise(err,
			    error_set(err, -ENOTSUP, "the interpreter of Python %u.%u: %s",
				      file->version >> 24, file->version >> 16 & 0xff, why),
			    "its own functions are shown; Python 3.9 to 3.14 can be read");
}

static int describe(struct python_files *files, pid_t pid, const struct python_file *file,
		    uint64_t bias, struct python_runtime *ret, struct error *err)
{
	struct python_reader reader = {remote_pages_read, &files->pages};
	const char *why = file->loop_count == 0 ? "its loop has no symbol" : NULL;

	remote_pages_begin(&files->pages, pid);
	if (why || python_structs_find(file->version, file->runtime + bias, &reader, &ret->structs,
				       &why) < 0)
		return refuse(file, why, err);
	if (file->code_type)
		ret->structs.frames.code_type = file->code_type + bias;
	ret->loop_count = file->loop_count;
	for (size_t i = 0; i < file->loop_count; i++)
		ret->loops[i] = (struct language_range){file->loops[i].start + bias,
							file->loops[i].end + bias};
	return 0;
}

int python_runtime_find(struct python_files *files, pid_t pid, const struct maps *maps,
			struct python_runtime *ret, struct error *err)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct python_file *file;
		struct module_place place;

		if (!may_be_python(maps, i) ||
		    module_files_identify(files->files, pid, &maps->items[i], &place) < 0 ||
		    place.unread < 0 || place.module.kind != MODULE_FILE)
			continue;
		file = learn_file(files, pid, &maps->items[i], &place.module);
		if (!file)
			return error_set(err, -ENOMEM, "out of memory");
		if (file->runtime != 0)
			return describe(files, pid, file, place.bias, ret, err);
	}
	return -ENOENT;
}
