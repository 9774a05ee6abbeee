/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/debug_file.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "base/error.h"
#include "base/file/regular_file.h"
#include "base/log.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "model/entity.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"
#define CHECKSUM_BLOCK 65536
/* A link is a file name, padding and a checksum. */
#define MAX_LINK_BYTES (NAME_MAX + 16)

struct link {
	char name[NAME_MAX + 1]; /* "" without a link */
	uint32_t checksum;
};

/* One search: what is needed, and what was found. */
struct hunt {
	const struct module *module;
	const struct symbol_search *search;
	const char *path; /* of the module, as the process sees it */
	struct link link;
	bool needs_symtab, needs_lines;
	struct debug_file found;
};

static void scope_release_elf(struct elf_file **elf)
{
	elf_close(*elf);
}

int debug_file_open(const char *path, struct elf_file **ret, struct stat *ret_status,
		    struct error *err)
{
	SCOPED(fd) int fd = regular_file_open(path, ret_status);
	int r;

	if (fd == -EINVAL)
		return error_set(err, fd, "file: not a regular file");
	if (fd < 0)
		return error_file(err, fd, "cannot be read");
	r = elf_open_fd(fd, "file", ret, err);
	if (r < 0)
		return r;
	(void)scope_take_fd(&fd); /* belongs to *ret now */
	return 0;
}

bool debug_file_has_symtab(const struct elf_file *elf)
{
	for (size_t i = 0; i < elf_section_count(elf); i++)
		if (elf_section_at(elf, i)->type == SHT_SYMTAB)
			return true;
	return false;
}

bool debug_file_has_lines(const struct elf_file *elf)
{
	const struct elf_section *section = elf_section_find(elf, ".debug_info");

	if (!section)
		section = elf_section_find(elf, ".zdebug_info");
	return section && elf_section_is_readable(elf, section);
}

/* The name and, at the next multiple of four, the checksum. */
static void read_link(struct elf_file *elf, struct link *ret)
{
	const struct elf_section *section = elf_section_find(elf, ".gnu_debuglink");
	SCOPED(mem) void *data = NULL;
	size_t length;
	size_t size;

	if (!section || section->size > MAX_LINK_BYTES ||
	    elf_section_read(elf, section, &data, &size, NULL) < 0)
		return;
	length = strnlen(data, size);
	if (length == 0 || length > NAME_MAX || (length + 4) / 4 * 4 + 4 > size ||
	    memchr(data, '/', length))
		return;
	memcpy(&ret->checksum, (const char *)data + (length + 4) / 4 * 4, sizeof(ret->checksum));
	memcpy(ret->name, data, length + 1);
}

static bool has_checksum(struct elf_file *elf, uint64_t size, uint32_t wanted)
{
	SCOPED(mem) uint8_t *block = malloc(CHECKSUM_BLOCK);
	uLong sum = crc32(0, NULL, 0);

	if (!block)
		return false;
	for (uint64_t at = 0; at < size;) {
		size_t n = size - at < CHECKSUM_BLOCK ? (size_t)(size - at) : CHECKSUM_BLOCK;

		if (elf_read_at(elf, at, block, n) < 0)
			return false;
		sum = crc32(sum, block, (uInt)n);
		at += n;
	}
	return sum == wanted;
}

/*
 * Whether a file belongs to the module. Without a build id, only the size shows an exact copy, and
 * only the checksum a linked file.
 */
static bool is_match(const struct hunt *hunt, struct elf_file *elf, const struct stat *status,
		     bool is_linked)
{
	const struct build_id *wanted = &hunt->module->build_id;
	const struct build_id *id = elf_build_id(elf);

	if (wanted->size > 0 && id->size > 0)
		return build_id_equal(wanted, id);
	if (is_linked)
		return has_checksum(elf, (uint64_t)status->st_size, hunt->link.checksum);
	return wanted->size == 0 && hunt->module->size_bytes &&
	       hunt->module->size_bytes == (uint64_t)status->st_size;
}

/* Takes the file if it is useful: 1, 0 if it is not, -ENOMEM. */
static int try_file(struct hunt *hunt, const char *path, bool is_linked)
{
	SCOPED(elf) struct elf_file *elf = NULL;
	struct stat status;
	struct error err = {0};

	if (debug_file_open(path, &elf, &status, &err) < 0) {
		log_trace("symbols of %s: %s %s", hunt->path, path, err.text);
		return 0;
	}
	if ((!hunt->needs_symtab || !debug_file_has_symtab(elf)) &&
	    (!hunt->needs_lines || !debug_file_has_lines(elf))) {
		log_debug("symbols of %s: %s has nothing more", hunt->path, path);
		return 0;
	}
	if (!is_match(hunt, elf, &status, is_linked)) {
		log_debug("symbols of %s: %s is from another build", hunt->path, path);
		return 0;
	}
	log_debug("symbols of %s: taken from %s", hunt->path, path);
	hunt->found.path = strdup(path);
	if (!hunt->found.path)
		return -ENOMEM;
	hunt->found.elf = scope_take(&elf);
	return 1;
}

static int try_build_id(struct hunt *hunt, const char *root, const char *directory)
{
	const struct build_id *id = &hunt->module->build_id;
	char hex[2 * BUILD_ID_MAX + 1];
	char place[PATH_MAX];

	build_id_format(id, hex);
	if (id->size < 2 || snprintf(place, sizeof(place), "%s%s/.build-id/%.2s/%s.debug", root,
				     directory, hex, hex + 2) >= PATH_MAX)
		return 0;
	return try_file(hunt, place, false);
}

/* The names that a debug file may have below a directory that the user named. */
static int try_in_directory(struct hunt *hunt, const char *directory)
{
	const char *base = path_base_name(hunt->path);
	const char *const names[] = {base, hunt->path};
	char place[PATH_MAX];
	int r = try_build_id(hunt, "", directory);

	for (size_t i = 0; i < 2 * ARRAY_SIZE(names) && r == 0; i++)
		if (snprintf(place, sizeof(place), "%s/%s%s", directory, names[i / 2],
			     i % 2 ? ".debug" : "") < PATH_MAX)
			r = try_file(hunt, place, false);
	if (r == 0 && hunt->link.name[0] &&
	    snprintf(place, sizeof(place), "%s/%s", directory, hunt->link.name) < PATH_MAX)
		r = try_file(hunt, place, true);
	return r;
}

static int try_paths(struct hunt *hunt)
{
	int r = 0;

	for (size_t i = 0; i < hunt->search->path_count && r == 0; i++) {
		r = try_file(hunt, hunt->search->paths[i], false);
		if (r == 0)
			r = try_in_directory(hunt, hunt->search->paths[i]);
	}
	return r;
}

/* Where the linked file may be; the same places that gdb searches. */
static int try_link(struct hunt *hunt, const char *root)
{
	static const char *const forms[][2] = {{"", "/"}, {"", "/.debug/"}, {DEBUG_DIRECTORY, "/"}};
	const char *slash = strrchr(hunt->path, '/');
	int size = slash ? (int)(slash - hunt->path) : 0;
	char place[PATH_MAX];
	int r = 0;

	if (!hunt->link.name[0] || !slash)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(forms) && r == 0; i++)
		if (snprintf(place, sizeof(place), "%s%s%.*s%s%s", root, forms[i][0], size,
			     hunt->path, forms[i][1], hunt->link.name) < PATH_MAX)
			r = try_file(hunt, place, true);
	return r;
}

/* Debug files that packages install under the module's own name. */
static int try_usual_name(struct hunt *hunt, const char *root)
{
	char place[PATH_MAX];
	int r = 0;

	if (hunt->module->build_id.size < 2)
		return 0;
	for (int i = 0; i < 2 && r == 0; i++)
		if (snprintf(place, sizeof(place), "%s" DEBUG_DIRECTORY "/%s%s", root, hunt->path,
			     i ? ".debug" : "") < PATH_MAX)
			r = try_file(hunt, place, false);
	return r;
}

static int try_root(struct hunt *hunt, const char *root)
{
	int r = try_link(hunt, root);

	if (r == 0)
		r = try_build_id(hunt, root, DEBUG_DIRECTORY);
	if (r == 0)
		r = try_usual_name(hunt, root);
	return r;
}

/* Without any name that the module chose. */
static int try_ids(struct hunt *hunt)
{
	int r = 0;

	for (size_t i = 0; i < hunt->search->path_count && r == 0; i++)
		r = try_build_id(hunt, "", hunt->search->paths[i]);
	return r == 0 ? try_build_id(hunt, "", DEBUG_DIRECTORY) : r;
}

static int try_names(struct hunt *hunt)
{
	int r = try_paths(hunt);

	if (r == 0 && hunt->search->root)
		r = try_root(hunt, hunt->search->root);
	return r == 0 ? try_root(hunt, "") : r;
}

static int try_fetch(struct hunt *hunt)
{
	char place[PATH_MAX];

	if (!hunt->search->fetch || hunt->module->build_id.size < 2 ||
	    hunt->search->fetch(hunt->search->fetch_self, hunt->module, place) < 0)
		return 0;
	hunt->found.is_fetched = true;
	return try_file(hunt, place, false);
}

int debug_file_find(const struct module *module, struct elf_file *own, const char *path,
		    const struct symbol_search *search, struct debug_file *ret)
{
	struct hunt hunt = {
		.module = module,
		.search = search,
		.path = path,
		.needs_symtab = !own || !debug_file_has_symtab(own),
		.needs_lines = !own || !debug_file_has_lines(own),
	};
	int r;

	if (!hunt.needs_symtab && !hunt.needs_lines)
		return -ENOENT;
	if (own)
		read_link(own, &hunt.link);
	r = search->by_id ? try_ids(&hunt) : try_names(&hunt);
	if (r == 0)
		r = try_fetch(&hunt);
	if (r <= 0)
		return r < 0 ? r : -ENOENT;
	*ret = hunt.found;
	return 0;
}
