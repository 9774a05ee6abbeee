/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/debug_info.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dwarf/dwarf.h"
#include "elf/elf.h"

struct debug_info {
	char *path;
	struct symbol_writer writer; /* of the other files */
	struct dwarf *dwarf;
	uint64_t owner; /* of the file */
};

static int open_path(struct debug_info *info, const char *path, struct elf_file **ret)
{
	int r = elf_open(path, ret, NULL);

	if (r == 0)
		info->writer = symbol_writer_join(info->writer, symbol_writer_of(*ret));
	return r;
}

/* Opens directory/name, or name if it is absolute. */
static int open_in(struct debug_info *info, const char *directory, size_t size, const char *name,
		   struct elf_file **ret)
{
	char place[PATH_MAX];

	if (name[0] == '/')
		return open_path(info, name, ret);
	if (snprintf(place, sizeof(place), "%.*s/%s", (int)size, directory, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	return open_path(info, place, ret);
}

static int open_alt(void *self, const char *name, const struct build_id *id, struct elf_file **ret)
{
	struct debug_info *info = self;
	const char *slash = strrchr(info->path, '/');
	int r = open_in(info, info->path, slash ? (size_t)(slash - info->path) : 0, name, ret);

	if (r < 0)
		return r;
	if (id->size == 0 || !build_id_equal(elf_build_id(*ret), id)) {
		elf_close(*ret);
		return -ENOENT;
	}
	return 0;
}

static int open_dwo(void *self, const char *comp_dir, const char *name, uint64_t id,
		    struct elf_file **ret)
{
	return open_in(self, comp_dir, strlen(comp_dir), name, ret);
}

static int open_dwp(void *self, struct elf_file **ret)
{
	struct debug_info *info = self;
	char place[PATH_MAX];

	if (snprintf(place, sizeof(place), "%s.dwp", info->path) >= PATH_MAX)
		return -ENAMETOOLONG;
	return open_path(info, place, ret);
}

struct debug_info *debug_info_open(struct elf_file *elf, const char *path)
{
	struct debug_info *info = calloc(1, sizeof(*info));
	struct dwarf_hooks hooks = {info, open_alt, open_dwo, open_dwp};

	if (info) {
		info->path = strdup(path);
		info->owner = elf_identity(elf).owner;
		info->writer = SYMBOL_WRITER_NONE;
	}
	if (!info || !info->path || dwarf_open(elf, &hooks, &info->dwarf, NULL) < 0) {
		debug_info_free(info);
		elf_close(elf);
		return NULL;
	}
	return info;
}

void debug_info_free(struct debug_info *info)
{
	if (!info)
		return;
	dwarf_close(info->dwarf);
	free(info->path);
	free(info);
}

bool debug_info_is_mixed(const struct debug_info *info)
{
	const struct symbol_writer *writer = &info->writer;

	return !writer->is_known ||
	       (writer->uid != info->owner && writer->uid != 0 && writer->uid != geteuid());
}

struct symbol_writer debug_info_writer(const struct debug_info *info)
{
	return info->writer;
}

struct dwarf *debug_info_dwarf(struct debug_info *info)
{
	return info->dwarf;
}
