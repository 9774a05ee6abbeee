/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/annotate/disassembly.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/run_command.h"
#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "symbol/debug_file.h"
#include "symbol/elf_symbols.h"

#define LIMIT_NS (20 * (uint64_t)NS_PER_SEC)
#define MAX_OUTPUT_BYTES (32u << 20)
#define MAX_CODE_BYTES (1u << 20)

void disassembly_fini(struct disassembly *disassembly)
{
	free(disassembly->items);
	free(disassembly->text);
	*disassembly = (struct disassembly){0};
}

/* The bounds of the function that contains vaddr. */
static int find_function(const char *path, const struct build_id *id, uint64_t vaddr,
			 struct elf_symbol *ret, struct error *err)
{
	struct elf_file *elf = NULL;
	struct elf_symbols *symbols = NULL;
	struct stat status;
	uint32_t at = ELF_SYMBOL_NONE;
	int r = debug_file_open(path, &elf, &status, err);

	if (r < 0) {
		(void)error_prefix(err, r, "cannot read the code of %s", path);
		error_remedy(err, "check the file: ls -l %s; file %s", path, path);
		return r;
	}
	if (id->size == 0 || !build_id_equal(elf_build_id(elf), id))
		r = error_advise(err,
				 error_set(err, -ESTALE,
					   "cannot verify that %s is the file that was recorded",
					   path),
				 "give the directory of the recorded file with --symbol-path DIR");
	if (r == 0)
		r = elf_symbols_read(elf, &symbols, err);
	if (r == 0)
		at = elf_symbols_find(symbols, vaddr);
	if (r == 0 && at == ELF_SYMBOL_NONE)
		r = error_advise(
			err, error_set(err, -ENOENT, "%s has no symbol at 0x%" PRIx64, path, vaddr),
			"install its debug symbols, or build it without strip");
	if (r == 0)
		*ret = elf_symbols_at(symbols, at);
	elf_symbols_free(symbols);
	elf_close(elf);
	return r;
}

/* "  1139:\tpush %rbp": returns the instruction, NULL for other lines. */
static const char *parse_line(const char *line, uint64_t *ret_vaddr)
{
	char *end;

	line += strspn(line, " ");
	*ret_vaddr = strtoull(line, &end, 16);
	if (end == line || *end != ':')
		return NULL;
	end++;
	end += strspn(end, " \t");
	return *end ? end : NULL;
}

int disassembly_parse(char *text, uint64_t start, uint64_t end, struct disassembly *ret)
{
	VEC(struct instruction) items = {0};
	char *rest = text;
	char *line;

	while ((line = strsep(&rest, "\n"))) {
		struct instruction item;

		for (char *tab = line; (tab = strchr(tab, '\t'));)
			*tab = ' ';
		item.text = parse_line(line, &item.vaddr);
		if (!item.text || item.vaddr < start || item.vaddr >= end)
			continue;
		if (vec_push(&items, item) < 0) {
			vec_fini(&items);
			free(text);
			return -ENOMEM;
		}
	}
	*ret = (struct disassembly){items.items, items.count, text, end};
	return 0;
}

/* Runs the first program that is installed. */
static int run(const char *path, uint64_t start, uint64_t end, struct bytes *out, struct error *err)
{
	static const char *const programs[] = {"objdump", "llvm-objdump"};
	char from[64];
	char to[64];
	const char *argv[] = {NULL, "-d", "-C", "--no-show-raw-insn", from, to, path, NULL};
	int r = -ENOENT;
	size_t i;

	(void)snprintf(from, sizeof(from), "--start-address=0x%" PRIx64, start); /* they fit */
	(void)snprintf(to, sizeof(to), "--stop-address=0x%" PRIx64, end);
	for (i = 0; i < ARRAY_SIZE(programs) && r != 0; i++) {
		bytes_clear(out);
		argv[0] = programs[i];
		r = run_command(argv, LIMIT_NS, MAX_OUTPUT_BYTES, out);
	}
	if (r == -ENOENT || r == -EACCES) {
		(void)error_set(err, r, "cannot disassemble: objdump is not installed");
		error_remedy(err, "install the package binutils, or llvm");
		return r;
	}
	if (r != 0)
		return error_advise(
			err,
			error_set(err, r < 0 ? r : -EIO, "objdump cannot disassemble %s", path),
			"to see its error, run: objdump -d %s", path);
	return 0;
}

int disassembly_read(const char *path, const struct build_id *id, uint64_t vaddr,
		     struct disassembly *ret, struct error *err)
{
	struct elf_symbol function;
	char *text = NULL;
	struct bytes out = {0};
	int r = -ENOENT;

	/* A relative name could be parsed as an option. */
	if (*path != '/')
		return error_advise(err,
				    error_set(err, r, "the code of %s is not in a file",
					      *path ? path : "no module"),
				    "choose a function in a program or library");
	r = find_function(path, id, vaddr, &function, err);
	if (r < 0)
		return r;
	if (function.size > MAX_CODE_BYTES)
		return error_advise(err,
				    error_set(err, -EFBIG,
					      "a function of %" PRIu64 " bytes is too large",
					      function.size),
				    "disassemble the whole file: objdump -d %s", path);
	r = run(path, function.start, function.start + function.size, &out, err);
	bytes_put_u8(&out, '\0');
	if (r == 0) {
		text = out.failed ? NULL : strdup((char *)out.data);
		r = text ? disassembly_parse(text, function.start, function.start + function.size,
					     ret)
			 : -ENOMEM;
		if (r < 0)
			(void)error_set(err, r, "out of memory");
	}
	bytes_fini(&out);
	return r;
}
