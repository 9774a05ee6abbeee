/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "base/bytes.h"
#include "heap/heap_profile.h"
#include "model/profile.h"
#include "view/heap/leak_report.h"

/*
 * Suppression rules for the leaks found. Each matches what the stacks of its row have in common, so
 * that applied to the same recording they suppress everything.
 */

#define LONGEST_PATTERN 1000u

struct sheet {
	const struct profile *profile;
	const struct leak_rows *rows;
	struct bytes *out;
};

/* A pattern that matches a name: characters that a line cannot hold become wildcards. */
static void put_pattern(struct bytes *out, const char *text)
{
	size_t size = strlen(text);

	for (size_t i = 0; i < size && i < LONGEST_PATTERN; i++) {
		unsigned char c = (unsigned char)text[i];
		bool is_edge = i == 0 || i + 1 == size;

		bytes_put_u8(out, c < ' ' || c == 0x7f || (is_edge && c == ' ') ? '?' : c);
	}
	if (size > LONGEST_PATTERN)
		bytes_put_u8(out, '*');
	if (size == 0)
		bytes_put_u8(out, '*');
}

static const char *name_of(const struct sheet *sheet, uint32_t function)
{
	return profile_text(sheet->profile, sheet->profile->functions.items[function].name);
}

static void put_own(const struct sheet *sheet, const struct leak_row *row)
{
	const struct leak_key *key = &sheet->rows->keys.items[row->key];
	const char *file = profile_text(sheet->profile, key->file);
	struct bytes *out = sheet->out;

	bytes_printf(out, "rule %s of ", leak_row_class(row));
	put_pattern(out, name_of(sheet, key->function));
	bytes_printf(out, "\n    kinds %s\n", row->is_lifetime ? "reachable" : leak_row_class(row));
	if (*file && key->line > 0) {
		bytes_printf(out, "    at ");
		put_pattern(out, file);
		bytes_printf(out, ":%u\n", key->line);
	}
	bytes_printf(out, "    function ");
	put_pattern(out, name_of(sheet, key->function));
	for (size_t i = 0; i < key->certain && key->callers[i] != ID_NONE; i++) {
		bytes_printf(out, "\n    function ");
		put_pattern(out, name_of(sheet, key->callers[i]));
	}
	bytes_printf(out, "\nend\n");
}

/* valgrind uses linker names; ours are the same if they are plain. */
static bool is_plain(const char *name)
{
	return *name && name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					  "0123456789_.$@")] == '\0';
}

static void put_valgrind_frame(const struct sheet *sheet, uint32_t function)
{
	const struct profile_function *it = &sheet->profile->functions.items[function];
	const char *name = profile_text(sheet->profile, it->name);
	const char *module = profile_text(sheet->profile, it->module);

	if (is_plain(name)) {
		bytes_printf(sheet->out, "   fun:%s\n", name);
	} else {
		bytes_printf(sheet->out, "   obj:");
		put_pattern(sheet->out, module);
		bytes_printf(sheet->out, "\n");
	}
}

/* valgrind's stacks do not have the callers of main(). */
static bool is_main(const struct sheet *sheet, uint32_t function)
{
	return strcmp(name_of(sheet, function), "main") == 0;
}

static void put_valgrind(const struct sheet *sheet, const struct leak_row *row)
{
	static const char *const kinds[LEAK_KINDS] = {
		[LEAK_DEFINITE] = "definite",   [LEAK_INDIRECT] = "indirect",
		[LEAK_PROBABLE] = "definite",   [LEAK_POSSIBLE] = "possible",
		[LEAK_REACHABLE] = "reachable", [LEAK_GROWTH] = NULL,
		[LEAK_UNSCANNED] = NULL,
	};
	const struct leak_key *key = &sheet->rows->keys.items[row->key];
	uint32_t last = key->function;

	bytes_printf(sheet->out, "{\n   %s of ", leak_row_class(row));
	put_pattern(sheet->out, name_of(sheet, key->function));
	bytes_printf(sheet->out, "\n   Memcheck:Leak\n");
	if (kinds[row->kind])
		bytes_printf(sheet->out, "   match-leak-kinds: %s\n", kinds[row->kind]);
	bytes_printf(sheet->out, "   ...\n");
	put_valgrind_frame(sheet, key->function);
	for (size_t i = 0; i < key->certain && key->callers[i] != ID_NONE && !is_main(sheet, last);
	     i++) {
		last = key->callers[i];
		put_valgrind_frame(sheet, last);
	}
	bytes_printf(sheet->out, "}\n");
}

void leak_report_put_rules(const struct heap_profile *heap, const struct leak_rows *rows,
			   const struct leak_report_options *options, struct bytes *out)
{
	const struct sheet sheet = {heap->profile, rows, out};

	for (size_t i = 0; i < rows->items.count; i++) {
		const struct leak_row *row = &rows->items.items[i];

		if (!options->all && !leak_row_is_shown(row))
			continue;
		if (options->form == LEAK_VALGRIND_RULES)
			put_valgrind(&sheet, row);
		else
			put_own(&sheet, row);
	}
}
