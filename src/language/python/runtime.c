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
#include "language/runtime_files.h"
#include "unwind/python_walk.h"

#define RODATA_MAX (64u << 20)

/* What a file has, as ELF vaddrs. */
struct python_file {
	uint64_t runtime;
	uint64_t code_type;
	uint32_t version; /* PY_VERSION_HEX, as far as it is known */
	struct language_range loops[LOOP_RANGES];
	size_t loop_count;
};

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

static bool read_file(struct elf_file *elf, const char *path, void *ret_facts)
{
	struct python_file *ret = ret_facts;
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
		return false;
	ret->code_type = found[2].found ? found[2].vaddr : 0;
	ret->version = find_version(elf, &found[1], path);
	ret->loop_count = loop_code_find(elf, "_PyEval_EvalFrameDefault", ret->loops);
	return true;
}

const struct runtime_kind python_runtime_kind = {
	.word = "python",
	.fact_bytes = sizeof(struct python_file),
	.read = read_file,
};

static int refuse(const struct python_file *file, const char *why, struct error *err)
{
	return error_advise(err,
			    error_set(err, -ENOTSUP, "the interpreter of Python %u.%u: %s",
				      file->version >> 24, file->version >> 16 & 0xff, why),
			    "its own functions are shown; Python 3.9 to 3.14 can be read");
}

static int describe(const struct python_reader *reader, const struct python_file *file,
		    uint64_t bias, struct python_runtime *ret, struct error *err)
{
	const char *why = file->loop_count == 0 ? "its main loop has no symbol" : NULL;

	if (why || python_structs_find(file->version, file->runtime + bias, reader, &ret->structs,
				       &why) < 0)
		return refuse(file, why, err);
	if (file->code_type)
		ret->structs.frames.code_type = file->code_type + bias;
	ret->loop_count = file->loop_count;
	for (size_t i = 0; i < file->loop_count; i++)
		ret->loops[i] = language_range_moved(&file->loops[i], bias);
	return 0;
}

int python_runtime_find(struct runtime_files *files, pid_t pid, const struct maps *maps,
			struct python_runtime *ret, struct error *err)
{
	struct python_reader reader;
	const void *file;
	uint64_t bias;
	int r = runtime_files_find(files, pid, maps, &file, &bias);

	if (r == -ENOMEM)
		return error_set(err, r, "out of memory");
	if (r < 0)
		return r;
	reader = runtime_files_reader(files, pid);
	return describe(&reader, file, bias, ret, err);
}
