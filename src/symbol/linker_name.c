/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/linker_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/vec.h"
#include "symbol/demangle.h"

#define BPF_TAG_DIGITS 16

/* Suffixes of a part or copy of a function; ".avx2" and "._omp_fn.0" are not. */
static const struct clone {
	const char *word;
	bool may_lack_number;
} clones[] = {
	{".cold", true},       {".part", false},      {".isra", false},
	{".constprop", false}, {".llvm", false},      {".__uniq", false},
	{".lto_priv", false},  {".localalias", true}, {".clone", false},
};

static bool has_word(const char *name, size_t from, size_t to, bool has_number)
{
	for (size_t i = 0; i < ARRAY_SIZE(clones); i++)
		if (to - from == strlen(clones[i].word) &&
		    memcmp(name + from, clones[i].word, to - from) == 0)
			return has_number || clones[i].may_lack_number;
	return false;
}

/* Where the part that begins with the last '.' before end begins; 0 without one. */
static size_t last_part(const char *name, size_t end)
{
	while (end > 0 && name[end - 1] != '.')
		end--;
	return end > 0 ? end - 1 : 0;
}

size_t linker_name_without_clone(const char *name, size_t size)
{
	size_t part;

	while ((part = last_part(name, size)) > 0) {
		size_t digits = strspn(name + part + 1, "0123456789");
		bool is_number = digits > 0 && part + 1 + digits == size;
		size_t word = is_number ? last_part(name, part) : part;

		if (word == 0 || !has_word(name, word, is_number ? part : size, is_number))
			break;
		size = word;
	}
	return size;
}

/* A suffix that is not a version, or "". */
static const char *kept_suffix(const char *suffix)
{
	return strcmp(suffix, "@plt") == 0 || strcmp(suffix, "@ifunc") == 0 ? suffix : "";
}

static char *join(const char *text, size_t size, const char *suffix)
{
	char *joined = malloc(size + strlen(suffix) + 1);

	if (!joined)
		return NULL;
	memcpy(joined, text, size);
	memcpy(joined + size, suffix, strlen(suffix) + 1);
	return joined;
}

/* The name of the BPF program with that symbol, NULL if it is not a program's. */
static const char *bpf_program(const char *name)
{
	static const char prefix[] = "bpf_prog_";
	const char *tag = name + sizeof(prefix) - 1;

	if (strncmp(name, prefix, sizeof(prefix) - 1) != 0 ||
	    strspn(tag, "0123456789abcdef") < BPF_TAG_DIGITS)
		return NULL;
	if (tag[BPF_TAG_DIGITS] == '_' && tag[BPF_TAG_DIGITS + 1])
		return tag + BPF_TAG_DIGITS + 1;
	return tag[BPF_TAG_DIGITS] ? NULL : tag; /* it has no name */
}

char *linker_name_show_kernel(const char *name, struct linker_name_style style)
{
	const char *program = bpf_program(name);

	return program ? join("bpf:", 4, program) : linker_name_show(name, style);
}

char *linker_name_show(const char *name, struct linker_name_style style)
{
	/* .symtab says "memcpy@@GLIBC_2.17" where .dynsym says "memcpy". */
	size_t size = strcspn(name, "@");
	const char *suffix = size > 0 ? kept_suffix(name + size) : "";
	SCOPED(mem) char *plain = NULL;
	SCOPED(mem) char *text = NULL;

	if (size == 0)
		size = strlen(name);
	if (style.merge_clones)
		size = linker_name_without_clone(name, size);
	plain = strndup(name, size);
	if (!plain)
		return NULL;
	text = style.demangle ? demangle(plain) : NULL;
	return text ? join(text, strlen(text), suffix) : join(plain, size, suffix);
}
