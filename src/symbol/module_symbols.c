/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/module_symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "model/entity.h"
#include "symbol/elf_symbols.h"

#define DELETED_SUFFIX " (deleted)"
#define DEBUG_DIRECTORY "/usr/lib/debug"

static void scope_release_elf(struct elf_file **elf)
{
	elf_close(*elf);
}

static void set_problem(struct module_symbols *symbols, const char *text)
{
	size_t size = strlen(text);

	if (size >= sizeof(symbols->problem))
		size = sizeof(symbols->problem) - 1;
	memcpy(symbols->problem, text, size);
	symbols->problem[size] = '\0';
}

static bool has_symtab(const struct elf_file *elf)
{
	for (size_t i = 0; i < elf_section_count(elf); i++)
		if (elf_section_at(elf, i)->type == SHT_SYMTAB)
			return true;
	return false;
}

/* Adds the file's table unless it is empty. False, with a problem, when it is damaged. */
static bool add_table(struct module_symbols *symbols, struct elf_file *elf)
{
	struct elf_symbols *table = NULL;
	struct error err = {0};

	if (elf_symbols_read(elf, &table, &err) < 0) {
		set_problem(symbols, err.text);
		return false;
	}
	if (elf_symbols_count(table) == 0 || symbols->table_count == MODULE_SYMBOL_TABLES) {
		elf_symbols_free(table);
		return true;
	}
	symbols->tables[symbols->table_count++] = table;
	return true;
}

static bool has_names(const struct module_symbols *symbols)
{
	for (size_t i = 0; i < symbols->table_count; i++)
		if (elf_symbols_have_names(symbols->tables[i]))
			return true;
	return false;
}

/* NULL when the file is the recorded one, else what differs. */
static const char *check_identity(const struct module *module, struct elf_file *elf,
				  const struct stat *status)
{
	uint64_t mtime_ns =
		(uint64_t)status->st_mtim.tv_sec * NS_PER_SEC + (uint64_t)status->st_mtim.tv_nsec;

	if (module->build_id.size > 0)
		return build_id_equal(&module->build_id, elf_build_id(elf))
			       ? NULL
			       : "file changed since the recording (build id differs)";
	if (module->size_bytes && module->size_bytes != (uint64_t)status->st_size)
		return "file changed since the recording (size differs)";
	if (module->mtime_ns && module->mtime_ns != mtime_ns)
		return "file changed since the recording (modification time differs)";
	if ((module->inode && module->inode != status->st_ino) ||
	    (module->device && module->device != status->st_dev))
		return "file changed since the recording (another file is in its place)";
	return NULL;
}

static int open_file(const char *path, struct elf_file **ret, struct stat *ret_status,
		     struct error *err)
{
	/* Non-blocking, for the path may name a FIFO by now. */
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int r;

	if (fd < 0)
		return error_errno(err, -errno, "cannot be read");
	if (fstat(fd, ret_status) < 0)
		return error_errno(err, -errno, "cannot be read");
	r = elf_open_fd(fd, "file", ret, err);
	if (r < 0)
		return r;
	(void)scope_take_fd(&fd); /* belongs to *ret now */
	return 0;
}

/* Opens the module's own file; sets the problem and returns NULL without it. */
static struct elf_file *open_own_file(struct module_symbols *symbols, const struct module *module,
				      const char *path)
{
	SCOPED(elf) struct elf_file *elf = NULL;
	struct error err = {0};
	struct stat status;
	const char *difference;
	int r;

	r = open_file(path, &elf, &status, &err);
	if (r < 0) {
		set_problem(symbols, r == -ENOENT || r == -ENOTDIR ? "file is gone" : err.text);
		return NULL;
	}
	difference = check_identity(module, elf, &status);
	if (difference) {
		set_problem(symbols, difference);
		return NULL;
	}
	return scope_take(&elf);
}

/*
 * Whether a file from elsewhere holds symbols of this module. Without a build
 * id, the size is all that a faithful copy must have in common.
 */
static bool is_match(const struct module *module, struct elf_file *elf, const struct stat *status)
{
	if (!has_symtab(elf))
		return false;
	if (module->build_id.size > 0)
		return build_id_equal(&module->build_id, elf_build_id(elf));
	return module->size_bytes && module->size_bytes == (uint64_t)status->st_size;
}

/* Keeps *elf when it has debug information and no file before it had. */
static void keep_debug(struct module_symbols *symbols, struct elf_file **elf, const char *path)
{
	const struct elf_section *section = elf_section_find(*elf, ".debug_info");

	if (!section)
		section = elf_section_find(*elf, ".zdebug_info");
	if (!section || symbols->debug || !elf_section_is_readable(*elf, section))
		return;
	symbols->debug_path = strdup(path);
	if (symbols->debug_path)
		symbols->debug = scope_take(elf);
}

static bool try_file(struct module_symbols *symbols, const struct module *module, const char *path)
{
	SCOPED(elf) struct elf_file *elf = NULL;
	size_t count = symbols->table_count;
	struct stat status;

	if (open_file(path, &elf, &status, NULL) < 0 || !is_match(module, elf, &status))
		return false;
	if (!add_table(symbols, elf) || symbols->table_count == count)
		return false;
	keep_debug(symbols, &elf, path);
	return true;
}

static bool try_in_directory(struct module_symbols *symbols, const struct module *module,
			     const char *directory, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	char hex[2 * BUILD_ID_MAX + 1];
	char place[PATH_MAX];
	const char *const names[] = {base, path};

	build_id_format(&module->build_id, hex);
	if (module->build_id.size > 1 &&
	    snprintf(place, sizeof(place), "%s/.build-id/%.2s/%s.debug", directory, hex, hex + 2) <
		    PATH_MAX &&
	    try_file(symbols, module, place))
		return true;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(names); i++) {
		if (snprintf(place, sizeof(place), "%s/%s%s", directory, names[i / 2],
			     i % 2 ? ".debug" : "") < PATH_MAX &&
		    try_file(symbols, module, place))
			return true;
	}
	return false;
}

/* Looks for a file with a full symbol table, the person's own places first. */
static bool find_elsewhere(struct module_symbols *symbols, const struct module *module,
			   const char *path, const struct symbol_search *search)
{
	for (size_t i = 0; i < search->path_count; i++)
		if (try_file(symbols, module, search->paths[i]) ||
		    try_in_directory(symbols, module, search->paths[i], path))
			return true;
	return module->build_id.size > 1 &&
	       try_in_directory(symbols, module, DEBUG_DIRECTORY, path);
}

static void init_file(struct module_symbols *symbols, const struct module *module,
		      const struct symbol_search *search)
{
	SCOPED(elf) struct elf_file *elf = NULL;
	SCOPED(mem) char *path = strdup(module->path);
	size_t suffix = strlen(DELETED_SUFFIX);
	size_t size;

	if (!path) {
		set_problem(symbols, "out of memory");
		return;
	}
	/* The kernel appends it; the same file may stand there again. */
	size = strlen(path);
	if (size > suffix && strcmp(path + size - suffix, DELETED_SUFFIX) == 0)
		path[size - suffix] = '\0';
	elf = open_own_file(symbols, module, path);
	if ((!elf || !has_symtab(elf)) && find_elsewhere(symbols, module, path, search)) {
		symbols->problem[0] = '\0';
		if (elf)
			(void)add_table(symbols, elf); /* a bonus: the other file has more */
		return;
	}
	if (!elf || !add_table(symbols, elf))
		return;
	if (!has_names(symbols))
		set_problem(symbols, "stripped: no symbols");
	else if (!has_symtab(elf) && !elf_section_find(elf, ".gnu_debugdata"))
		set_problem(symbols, "stripped: exported symbols only");
	keep_debug(symbols, &elf, path);
}

/* The image ends with its segments or with its section headers. */
static size_t vdso_size(const Elf64_Ehdr *header)
{
	const uint8_t *image = (const uint8_t *)header;
	uint64_t end = header->e_shoff + (uint64_t)header->e_shnum * sizeof(Elf64_Shdr);

	for (size_t i = 0; i < header->e_phnum; i++) {
		Elf64_Phdr phdr;

		memcpy(&phdr, image + header->e_phoff + i * sizeof(phdr), sizeof(phdr));
		if (phdr.p_type == PT_LOAD && phdr.p_offset + phdr.p_filesz > end)
			end = phdr.p_offset + phdr.p_filesz;
	}
	return end;
}

/* The kernel maps the same vdso into us as into every process of this boot. */
static void init_vdso(struct module_symbols *symbols, const struct module *module)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	SCOPED(elf) struct elf_file *elf = NULL;
	struct error err = {0};

	if (!header) {
		set_problem(symbols, "the kernel shows no vdso");
		return;
	}
	if (elf_open_memory(header, vdso_size(header), "vdso", &elf, &err) < 0) {
		set_problem(symbols, err.text);
		return;
	}
	if (module->build_id.size > 0 && elf_build_id(elf)->size > 0 &&
	    !build_id_equal(&module->build_id, elf_build_id(elf))) {
		set_problem(symbols, "recorded under another kernel (build id differs)");
		return;
	}
	if (add_table(symbols, elf) && symbols->table_count == 0)
		set_problem(symbols, "stripped: no symbols");
}

void module_symbols_init(struct module_symbols *symbols, const struct module *module,
			 const struct symbol_search *search)
{
	*symbols = (struct module_symbols){0};
	switch (module->kind) {
	case MODULE_FILE:
		init_file(symbols, module, search);
		break;
	case MODULE_VDSO:
		init_vdso(symbols, module);
		break;
	case MODULE_OTHER_FILE:
		set_problem(symbols, "not an ELF file");
		break;
	case MODULE_ANONYMOUS:
		set_problem(symbols, "code without a file");
		break;
	case MODULE_KERNEL:
	case MODULE_KERNEL_MODULE:
	default:
		break;
	}
}

void module_symbols_fini(struct module_symbols *symbols)
{
	for (size_t i = 0; i < symbols->table_count; i++)
		elf_symbols_free(symbols->tables[i]);
	elf_close(symbols->debug);
	free(symbols->debug_path);
	*symbols = (struct module_symbols){0};
}
