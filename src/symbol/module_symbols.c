/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/module_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/scope.h"
#include "elf/elf.h"
#include "model/entity.h"
#include "symbol/data_symbols.h"
#include "symbol/debug_file.h"
#include "symbol/elf_symbols.h"
#include "symbol/go/go_lines.h"

#define DELETED_SUFFIX " (deleted)"

static void scope_release_elf(struct elf_file **elf)
{
	elf_close(*elf);
}

static void set_problem(struct module_symbols *symbols, enum symbols_lack lack, const char *text)
{
	size_t size = strlen(text);

	symbols->lack = lack;
	if (size >= sizeof(symbols->problem))
		size = sizeof(symbols->problem) - 1;
	memcpy(symbols->problem, text, size);
	symbols->problem[size] = '\0';
}

static void clear_problem(struct module_symbols *symbols)
{
	symbols->problem[0] = '\0';
	symbols->lack = SYMBOLS_LACK_NOTHING;
}

/*
 * Adds the file's table unless it is empty. If it is damaged, returns false and sets the problem.
 */
static bool add_table(struct module_symbols *symbols, struct elf_file *elf, struct cache_dir *cache)
{
	struct elf_symbols *table = NULL;
	struct error err = {0};

	if (elf_symbols_read_cached(elf, cache, &table, &err) < 0) {
		set_problem(symbols, SYMBOLS_LACK_SENSE, err.text);
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

/* Opens the file that a live process has mapped; NULL if that is not possible. */
static struct elf_file *open_mapped_file(const struct module *module, uint32_t module_id,
					 const struct symbol_search *search)
{
	SCOPED(elf) struct elf_file *elf = NULL;

	if (!search->open || search->open(search->open_self, module_id, &elf) < 0)
		return NULL;
	if (module->build_id.size > 0 && !build_id_equal(&module->build_id, elf_build_id(elf)))
		return NULL;
	return scope_take(&elf);
}

/* Opens the module's own file; sets the problem and returns NULL without it. */
static struct elf_file *open_own_file(struct module_symbols *symbols, const struct module *module,
				      uint32_t module_id, const struct symbol_search *search,
				      const char *path)
{
	SCOPED(elf) struct elf_file *elf = open_mapped_file(module, module_id, search);
	struct error err = {0};
	struct stat status;
	const char *difference;
	int r;

	if (!elf && search->by_id) {
		set_problem(symbols, SYMBOLS_LACK_FILE, "there are no symbols of its build ID");
		return NULL;
	}
	if (elf) {
		symbols->writer.is_known = false; /* perhaps a container's root */
		return scope_take(&elf);
	}
	r = debug_file_open(path, &elf, &status, &err);
	if (r == -ENOENT || r == -ENOTDIR) {
		set_problem(symbols, SYMBOLS_LACK_FILE, "file is gone");
		return NULL;
	}
	if (r < 0) {
		set_problem(symbols, r == -EACCES ? SYMBOLS_LACK_FILE : SYMBOLS_LACK_SENSE,
			    err.text);
		return NULL;
	}
	difference = check_identity(module, elf, &status);
	if (difference) {
		set_problem(symbols, SYMBOLS_LACK_FILE, difference);
		return NULL;
	}
	return scope_take(&elf);
}

/* Keeps *elf if it has debug information and no earlier file had. */
static void keep_debug(struct module_symbols *symbols, struct elf_file **elf, const char *path)
{
	if (symbols->debug || !debug_file_has_lines(*elf))
		return;
	symbols->debug_path = strdup(path);
	if (symbols->debug_path)
		symbols->debug = scope_take(elf);
}

/* What was found in the files of a module. */
struct files_seen {
	bool has_symtab;
	bool is_cut;
};

/* Sets what is missing, after all files were searched. */
static void tell_lack(struct module_symbols *symbols, struct files_seen seen)
{
	if (!has_names(symbols) && !symbols->debug && seen.is_cut)
		set_problem(symbols, SYMBOLS_LACK_SENSE, "truncated: its end is missing");
	else if (!has_names(symbols) && !symbols->debug)
		set_problem(symbols, SYMBOLS_LACK_NAMES, "stripped: no symbols");
	else if (symbols->go)
		return; /* its names and lines come from the runtime */
	else if (!seen.has_symtab && !symbols->debug)
		set_problem(symbols, SYMBOLS_LACK_NAMES, "stripped: exported symbols only");
	else if (!symbols->debug)
		symbols->lack = SYMBOLS_LACK_LINES;
}

static void tell_writer(struct module_symbols *symbols, const struct elf_file *own,
			const struct debug_file *found)
{
	if (own)
		symbols->writer = symbol_writer_join(symbols->writer, symbol_writer_of(own));
	if (found->elf)
		symbols->writer = symbol_writer_join(symbols->writer, symbol_writer_of(found->elf));
	if (found->is_fetched && found->elf)
		symbols->writer.is_known = false;
}

/* The path of a module, which the caller frees. NULL without memory. */
static char *copy_path(const struct module *module)
{
	char *path = strdup(module->path);
	size_t size = path ? strlen(path) : 0;
	size_t suffix = strlen(DELETED_SUFFIX);

	/* The kernel appends it; the same file may be there again. */
	if (size > suffix && strcmp(path + size - suffix, DELETED_SUFFIX) == 0)
		path[size - suffix] = '\0';
	return path;
}

static void init_file(struct module_symbols *symbols, const struct module *module,
		      uint32_t module_id, const struct symbol_search *search)
{
	SCOPED(elf) struct elf_file *elf = NULL;
	SCOPED(elf) struct elf_file *other = NULL;
	SCOPED(mem) char *other_path = NULL;
	struct debug_file found = {0};
	SCOPED(mem) char *path = copy_path(module);
	struct files_seen seen;

	if (!path) {
		set_problem(symbols, SYMBOLS_LACK_FILE, "out of memory");
		return;
	}
	elf = open_own_file(symbols, module, module_id, search, path);
	if (elf && elf_type(elf) == ET_REL) {
		set_problem(symbols, SYMBOLS_LACK_NAMES,
			    "an object file: its functions have no addresses until it is linked");
		return;
	}
	seen.is_cut = elf && elf_is_cut(elf);
	seen.has_symtab =
		elf && (debug_file_has_symtab(elf) || elf_section_find(elf, ".gnu_debugdata"));
	if (debug_file_find(module, elf, path, search, &found) == 0) {
		other = found.elf;
		other_path = found.path;
		clear_problem(symbols);
		seen.has_symtab = seen.has_symtab || debug_file_has_symtab(other);
		(void)add_table(symbols, other, search->tables);
	}
	if (!elf && !other)
		return;
	tell_writer(symbols, elf, &found);
	if (elf && !add_table(symbols, elf, search->tables)) {
		if (!other)
			return;
		clear_problem(symbols); /* the other file has everything */
	}
	if (other)
		keep_debug(symbols, &other, other_path);
	if (elf)
		keep_debug(symbols, &elf, path);
	if (elf && !symbols->debug)
		symbols->go = go_lines_new(&elf);
	if (symbols->lack == SYMBOLS_LACK_NOTHING)
		tell_lack(symbols, seen);
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
		set_problem(symbols, SYMBOLS_LACK_FILE, "the kernel provides no vdso");
		return;
	}
	if (elf_open_memory(header, vdso_size(header), "vdso", &elf, &err) < 0) {
		set_problem(symbols, SYMBOLS_LACK_SENSE, err.text);
		return;
	}
	if (module->build_id.size > 0 && elf_build_id(elf)->size > 0 &&
	    !build_id_equal(&module->build_id, elf_build_id(elf))) {
		set_problem(symbols, SYMBOLS_LACK_FILE,
			    "recorded under another kernel (build id differs)");
		return;
	}
	if (add_table(symbols, elf, NULL) && symbols->table_count == 0)
		set_problem(symbols, SYMBOLS_LACK_NAMES, "stripped: no symbols");
}

static void tell(const struct module_symbols *symbols, const struct module *module)
{
	char hex[2 * BUILD_ID_MAX + 1];

	if (!log_wants(LOG_LEVEL_DEBUG))
		return;
	build_id_format(&module->build_id, hex);
	log_debug("module %s (build id %s): %zu symbol tables, debug information: %s%s%s",
		  module->path, hex[0] ? hex : "none", symbols->table_count,
		  symbols->debug_path ? symbols->debug_path : "none",
		  symbols->problem[0] ? "; " : "", symbols->problem);
}

void module_symbols_init(struct module_symbols *symbols, const struct module *module,
			 uint32_t module_id, const struct symbol_search *search)
{
	*symbols = (struct module_symbols){.writer = SYMBOL_WRITER_NONE};
	if (!search) {
		set_problem(symbols, SYMBOLS_LACK_NAMES, "reading its symbols failed");
		tell(symbols, module);
		return;
	}
	switch (module->kind) {
	case MODULE_FILE:
		if (search->no_files)
			set_problem(symbols, SYMBOLS_LACK_FILE, "its file is on another host");
		else
			init_file(symbols, module, module_id, search);
		break;
	case MODULE_VDSO:
		init_vdso(symbols, module);
		break;
	case MODULE_OTHER_FILE:
		set_problem(symbols, SYMBOLS_LACK_FILE, "not an ELF file");
		break;
	case MODULE_ANONYMOUS:
		set_problem(symbols, SYMBOLS_LACK_FILE, "code without a file");
		break;
	case MODULE_KERNEL:
	case MODULE_KERNEL_MODULE:
	default:
		break;
	}
	tell(symbols, module);
}

void module_symbols_read_data(const struct module *module, uint32_t module_id,
			      const struct symbol_search *search, struct data_symbols *ret)
{
	struct module_symbols symbols = {.writer = SYMBOL_WRITER_NONE};
	SCOPED(elf) struct elf_file *elf = NULL;
	SCOPED(elf) struct elf_file *other = NULL;
	SCOPED(mem) char *other_path = NULL;
	SCOPED(mem) char *path = module->kind == MODULE_FILE ? copy_path(module) : NULL;
	struct debug_file found = {0};

	if (!path)
		return;
	elf = open_own_file(&symbols, module, module_id, search, path);
	if (debug_file_find(module, elf, path, search, &found) == 0) {
		other = found.elf;
		other_path = found.path;
	}
	if ((elf && data_symbols_add(ret, elf) < 0) || (other && data_symbols_add(ret, other) < 0))
		data_symbols_fini(ret);
	data_symbols_sort(ret);
}

void module_symbols_fini(struct module_symbols *symbols)
{
	for (size_t i = 0; i < symbols->table_count; i++)
		elf_symbols_free(symbols->tables[i]);
	elf_close(symbols->debug);
	free(symbols->debug_path);
	go_lines_free(symbols->go);
	*symbols = (struct module_symbols){0};
}
