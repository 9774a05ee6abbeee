/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/demangle.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/bytes.h"

/*
 * libiberty's parser recurses as deep as the name nests. At this length the
 * worst name (nothing but "F") needs less than 4 MiB of stack; its printer has
 * a limit of its own.
 */
#define MAX_INPUT_BYTES (16u << 10)
/* With back references a short name can expand to an endless text. */
#define MAX_OUTPUT_BYTES (64u << 10)
#define MAX_D_INPUT_BYTES (4u << 10)
#define MAX_D_REFERENCES 12u
/* libiberty refuses names longer than half its recursion limit unless told otherwise. */
#define SHORT_NAME_BYTES (DEMANGLE_RECURSION_LIMIT / 2)

struct output {
	struct bytes text;
	jmp_buf full;
};

typedef int demangler(const char *, int, demangle_callbackref, void *);

/*
 * Called by libiberty with parts of the text. It cannot be told to stop and could print for hours,
 * so a longjmp leaves it. Its data is on its stack, except for the buffer of a Rust punycode name,
 * which leaks in that case.
 */
static void put_part(const char *part, size_t size, void *opaque)
{
	struct output *output = opaque;

	if (size > MAX_OUTPUT_BYTES - output->text.size)
		longjmp(output->full, 1);
	bytes_put(&output->text, part, size);
}

/*
 * The caller owns the output, because locals of the function that calls setjmp() are indeterminate
 * after the jump.
 */
static bool run(demangler *function, const char *name, int options, struct output *output)
{
	if (setjmp(output->full) != 0)
		return false;
	return function(name, options, put_part, output) && output->text.size > 0;
}

static char *demangle_with(demangler *function, const char *name, int options)
{
	struct output output = {0};

	if (run(function, name, options, &output))
		bytes_put_u8(&output.text, '\0');
	else
		output.text.failed = true;
	if (output.text.failed) {
		bytes_fini(&output.text);
		return NULL;
	}
	return (char *)output.text.data;
}

static bool has_prefix(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/*
 * libiberty's D demangler has no limits and returns its text in one piece. A back reference, "Q",
 * at most doubles the text before it: with few of them, a short name stays below 4 KiB << 12. The
 * nesting is bounded by the length.
 */
static char *demangle_d(const char *name)
{
	size_t size = strnlen(name, MAX_D_INPUT_BYTES + 1);
	size_t references = 0;
	char *text;

	for (const char *at = name; *at && at < name + size; at++)
		references += *at == 'Q';
	if (size > MAX_D_INPUT_BYTES || references > MAX_D_REFERENCES)
		return NULL;
	text = dlang_demangle(name, DMGL_PARAMS);
	if (text && strlen(text) > MAX_OUTPUT_BYTES) {
		free(text);
		return NULL;
	}
	return text;
}

static bool is_d(const char *name)
{
	return has_prefix(name, "_D") &&
	       ((name[2] >= '0' && name[2] <= '9') || strcmp(name, "_Dmain") == 0);
}

/* Writes a character as UTF-8 and returns its end. */
static char *put_character(char *at, unsigned long c)
{
	unsigned int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

	*at++ = more == 0 ? (char)c : (char)((0xf0 << (3 - more)) | (int)(c >> 6 * more));
	while (more-- > 0)
		*at++ = (char)(0x80 | ((c >> 6 * more) & 0x3f));
	return at;
}

static bool is_printable(unsigned long c)
{
	return (c >= 0x20 && c < 0x7f) || (c >= 0xa0 && c < 0xd800) ||
	       (c >= 0xe000 && c <= 0x10ffff);
}

/*
 * Older Rust names write letters beyond ASCII as "$u" hexadecimal digits "$"; libiberty knows only
 * a few of them. A letter takes fewer bytes than that.
 */
static void put_rust_letters(char *text)
{
	char *out = text;

	while (*text) {
		size_t digits = has_prefix(text, "$u") ? strspn(text + 2, "0123456789abcdef") : 0;
		bool is_letter = digits > 0 && digits <= 6 && text[2 + digits] == '$';
		unsigned long c = is_letter ? strtoul(text + 2, NULL, 16) : 0;

		if (is_printable(c)) {
			out = put_character(out, c);
			text += 2 + digits + 1;
		} else {
			*out++ = *text++;
		}
	}
	*out = '\0';
}

char *demangle(const char *name)
{
	int options = DMGL_PARAMS | DMGL_ANSI | DMGL_RET_DROP;
	bool is_itanium = has_prefix(name, "_Z") || has_prefix(name, "_GLOBAL_");
	size_t size;
	char *text;

	if (is_d(name))
		return demangle_d(name);
	if (!is_itanium && !has_prefix(name, "_R"))
		return NULL;
	size = strnlen(name, MAX_INPUT_BYTES + 1);
	if (size > MAX_INPUT_BYTES)
		return NULL;
	if (size > SHORT_NAME_BYTES)
		options |= DMGL_NO_RECURSE_LIMIT;
	/* Rust first: its older names are C++ names with a hash in disguise. */
	text = demangle_with(rust_demangle_callback, name, DMGL_NO_OPTS);
	if (text && is_itanium)
		put_rust_letters(text);
	if (text || !is_itanium)
		return text;
	return demangle_with(cplus_demangle_v3_callback, name, options);
}
