/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/language.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "model/profile.h"

struct hint {
	const char *text;
	enum language language;
};

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);
	size_t tail = strlen(end);

	return length >= tail && strcmp(text + length - tail, end) == 0;
}

static enum language by_file(const char *file)
{
	static const struct hint ends[] = {
		{".c", LANGUAGE_C},        {".cc", LANGUAGE_CPP},     {".cpp", LANGUAGE_CPP},
		{".cxx", LANGUAGE_CPP},    {".C", LANGUAGE_CPP},      {".hpp", LANGUAGE_CPP},
		{".hh", LANGUAGE_CPP},     {".hxx", LANGUAGE_CPP},    {".tcc", LANGUAGE_CPP},
		{".rs", LANGUAGE_RUST},    {".go", LANGUAGE_GO},      {".py", LANGUAGE_PYTHON},
		{".js", LANGUAGE_SCRIPT},  {".mjs", LANGUAGE_SCRIPT}, {".ts", LANGUAGE_SCRIPT},
		{".s", LANGUAGE_ASSEMBLY}, {".S", LANGUAGE_ASSEMBLY}, {".asm", LANGUAGE_ASSEMBLY},
		{".rb", LANGUAGE_RUBY},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends_with(file, ends[i].text))
			return ends[i].language;
	return LANGUAGE_UNKNOWN;
}

/* Recognises names in the style of Go: path/package.name. */
static bool is_go(const char *name)
{
	const char *dot = strchr(name, '.');
	const char *slash = strchr(name, '/');

	if (!dot || strchr(name, ' ') || strstr(name, "::"))
		return false;
	return strncmp(name, "runtime.", 8) == 0 || strncmp(name, "main.", 5) == 0 ||
	       strstr(name, ".(*") || (slash && slash > name && slash < dot);
}

static bool is_rust(const char *name)
{
	static const char *const starts[] = {
		"core::", "alloc::", "std::rt::", "std::sys::", "<alloc::", "<core::"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++)
		if (strncmp(name, starts[i], strlen(starts[i])) == 0)
			return true;
	return strstr(name, "{{closure}}") || strstr(name, "{closure#") ||
	       (*name == '<' && strstr(name, " as "));
}

static enum language by_name(const char *name)
{
	static const struct hint ends[] = {
		{"_avx2", LANGUAGE_ASSEMBLY},      {"_evex", LANGUAGE_ASSEMBLY},
		{"_avx512", LANGUAGE_ASSEMBLY},    {"_sse2", LANGUAGE_ASSEMBLY},
		{"_erms", LANGUAGE_ASSEMBLY},      {"_ssse3", LANGUAGE_ASSEMBLY},
		{"_mops", LANGUAGE_ASSEMBLY},      {"_asimd", LANGUAGE_ASSEMBLY},
		{"_unaligned", LANGUAGE_ASSEMBLY}, {"_aarch64", LANGUAGE_ASSEMBLY},
	};
	size_t i;

	if (strncmp(name, "py::", 4) == 0)
		return LANGUAGE_PYTHON;
	if (is_rust(name))
		return LANGUAGE_RUST;
	if (strstr(name, "::") || strncmp(name, "operator", 8) == 0 || strpbrk(name, "(<"))
		return is_go(name) ? LANGUAGE_GO : LANGUAGE_CPP;
	if (is_go(name))
		return LANGUAGE_GO;
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		if (ends_with(name, ends[i].text))
			return ends[i].language;
	return LANGUAGE_C;
}

/* Of code without a usual file: exec'd or built in, from the command line, or a script. */
static enum language by_interpreted(const char *name, const char *file)
{
	static const char *const files[] = {"<internal:", "(eval"};
	static const char *const names[] = {"block in ", "block (",  "rescue in ", "ensure in ",
					    "<class:",   "<module:", "<main>",     "<top "};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++)
		if (strncmp(file, files[i], strlen(files[i])) == 0)
			return LANGUAGE_RUBY;
	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return LANGUAGE_RUBY;
	return strcmp(file, "-e") == 0 ? LANGUAGE_RUBY : LANGUAGE_PYTHON;
}

const char *language_name(enum language language)
{
	static const char *const names[LANGUAGES] = {
		[LANGUAGE_UNKNOWN] = "[unknown]",
		[LANGUAGE_C] = "C",
		[LANGUAGE_CPP] = "C++",
		[LANGUAGE_RUST] = "Rust",
		[LANGUAGE_GO] = "Go",
		[LANGUAGE_PYTHON] = "Python",
		[LANGUAGE_RUBY] = "Ruby",
		[LANGUAGE_SCRIPT] = "JavaScript or JIT",
		[LANGUAGE_ASSEMBLY] = "assembly",
		[LANGUAGE_KERNEL] = "kernel",
	};

	return names[language];
}

enum language language_of_word(const char *word)
{
	static const struct hint words[] = {{"cpp", LANGUAGE_CPP},
					    {"javascript", LANGUAGE_SCRIPT},
					    {"jit", LANGUAGE_SCRIPT},
					    {"unknown", LANGUAGE_UNKNOWN}};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(word, words[i].text) == 0)
			return words[i].language;
	for (i = 0; i < LANGUAGES && strcasecmp(word, language_name(i)) != 0; i++)
		continue;
	return i;
}

enum language language_of(const struct profile *profile, const struct profile_function *function)
{
	const char *name = profile_text(profile, function->name);
	enum language told = by_file(profile_text(profile, function->file));

	if (function->origin == ORIGIN_KERNEL)
		return LANGUAGE_KERNEL;
	if (function->origin == ORIGIN_UNKNOWN || function->origin == ORIGIN_TRUNCATED)
		return LANGUAGE_UNKNOWN;
	if (told != LANGUAGE_UNKNOWN)
		return told;
	if (function->origin == ORIGIN_INTERPRETED)
		return by_interpreted(name, profile_text(profile, function->file));
	if (function->origin == ORIGIN_JIT)
		return strncmp(name, "py::", 4) == 0 ? LANGUAGE_PYTHON : LANGUAGE_SCRIPT;
	return by_name(name);
}
