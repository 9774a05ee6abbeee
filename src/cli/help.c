/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/help.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/commit.h"
#include "cli/option_value.h"
#include "cli/text/wick.h"

#define MIN_WIDTH 40
#define LEFT_WIDTH 30 /* width of the column with the names */

const struct help_status help_statuses[] = {
	{"0", "done"},
	{"1", "failed"},
	{"2", "wrong usage or configuration"},
	{NULL, NULL},
};

const struct help_status help_gate_statuses[] = {
	{"3", "a gate given on the command line tripped"},
	{NULL, NULL},
};

const struct help_status help_program_statuses[] = {
	{"126", "the program is not executable"},
	{"127", "the program was not found"},
	{"128+N", "the program was killed by signal N"},
	{"other", "the program's own exit status"},
	{NULL, NULL},
};

const struct help_variable help_variables[] = {
	{"WICK_LOG",
	 "how much to print to standard error, or to append to a file (LEVEL:FILE). LEVEL is error "
	 "(errors only), warn (also notes; the default), info (also what wick chose), debug (also "
	 "what it found) or trace (also what it tried). Summaries do not depend on it: --quiet "
	 "leaves them out"},
	{"WICK_PLUGINS", "plug-ins: a colon-separated list of directories or files; see wick list"},
	{"DEBUGINFOD_URLS", "where --debuginfod downloads debug files from"},
	{"NO_COLOR", "if set, wick uses no colours"},
	{NULL, NULL},
};

bool help_is_item(const char *paragraph)
{
	return paragraph[0] == '\t';
}

int help_width(FILE *file)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t width = 80;

	if (fileno(file) >= 0 && ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		width = size.ws_col;
	else if (columns && (number_parse_u64(columns, &width) < 0 || width == 0))
		width = 80;
	if (width > HELP_MAX_WIDTH)
		return HELP_MAX_WIDTH;
	return width < MIN_WIDTH ? MIN_WIDTH : (int)width;
}

static int columns_of(const char *word, size_t n)
{
	size_t used = 0;
	int columns = 0;

	while (used < n) {
		uint32_t ignored;

		used += text_decode_utf8(word + used, &ignored);
		columns++;
	}
	return columns;
}

/* Fills lines with words; column is the current column, indent the one where new lines begin. */
static void put_wrapped(struct bytes *out, const char *text, int column, int indent, int width)
{
	bool fresh = true;

	while (*text) {
		size_t n = strcspn(text, " ");
		int columns = columns_of(text, n);

		if (!fresh && column + 1 + columns > width) {
			bytes_printf(out, "\n%*s", indent, "");
			column = indent;
			fresh = true;
		}
		if (!fresh) {
			bytes_put_u8(out, ' ');
			column++;
		}
		bytes_put(out, text, n);
		column += columns;
		fresh = false;
		text += n + strspn(text + n, " ");
	}
	bytes_put_u8(out, '\n');
}

/* Blank lines go between paragraphs, but not between the items of a list. */
static void put_paragraphs(struct bytes *out, const char *const *paragraphs, int width)
{
	for (size_t i = 0; paragraphs && paragraphs[i]; i++) {
		bool is_item = help_is_item(paragraphs[i]);

		if (i > 0 && !(is_item && help_is_item(paragraphs[i - 1])))
			bytes_put_u8(out, '\n');
		if (is_item) {
			bytes_printf(out, "  ");
			put_wrapped(out, paragraphs[i] + 1, 2, 5, width);
		} else {
			put_wrapped(out, paragraphs[i], 0, 0, width);
		}
	}
}

/* A row of two columns; a long left side pushes the right one to the next line. */
static void put_row(struct bytes *out, const char *left, const char *right, int left_width,
		    int width)
{
	int used = 2 + columns_of(left, strlen(left));

	bytes_printf(out, "  %s", left);
	if (used + 2 > left_width)
		bytes_printf(out, "\n%*s", left_width, "");
	else
		bytes_printf(out, "%*s", left_width - used, "");
	put_wrapped(out, right, left_width, left_width, width);
}

void help_put_names(struct bytes *out, const struct option_entry *entry)
{
	const struct option_spec *spec = entry->spec;

	if (spec->letter)
		bytes_printf(out, "-%c", spec->letter);
	if (spec->letter && spec->name)
		bytes_printf(out, ", ");
	if (spec->name)
		bytes_printf(out, spec->kind == OPTION_KIND_TOGGLE ? "--[no-]%s" : "--%s",
			     spec->name);
	if (!option_takes_value(spec))
		return;
	bytes_put_u8(out, spec->name ? '=' : ' ');
	if (spec->argument)
		bytes_printf(out, "%s", spec->argument);
	else if (spec->words)
		option_put_words(out, spec, "|");
	else
		bytes_printf(out, "VALUE");
}

/* Whether the default should be shown: not if it is "nothing" or "no". */
static bool has_default(const struct option_entry *entry)
{
	if (entry->spec->default_help)
		return entry->spec->default_help[0] != '\0';
	switch (entry->spec->kind) {
	case OPTION_KIND_TOGGLE:
	case OPTION_KIND_ENUM:
		return true;
	case OPTION_KIND_U64:
	case OPTION_KIND_DURATION:
	case OPTION_KIND_SIZE:
		return *(const uint64_t *)entry->place != UINT64_MAX &&
		       (*(const uint64_t *)entry->place != 0 || entry->spec->off);
	case OPTION_KIND_DOUBLE:
		return *(const double *)entry->place != 0 || entry->spec->off;
	case OPTION_KIND_STRING:
		return *(const char *const *)entry->place != NULL;
	case OPTION_KIND_FLAG:
	case OPTION_KIND_LIST:
	case OPTION_KIND_PAIRS:
	case OPTION_KIND_NUMBERS:
	case OPTION_KIND_END:
	case OPTION_KIND_IGNORED:
	case OPTION_KIND_ALIAS:
	case OPTION_KIND_GROUP:
		break;
	}
	return false;
}

void help_put_text(struct bytes *out, const struct option_entry *entry)
{
	const struct option_spec *spec = entry->spec;
	struct bytes notes = {0};

	bytes_printf(out, "%s", spec->help);
	if (spec->words && spec->argument)
		option_put_words(&notes, spec, "|");
	else if (spec->kind != OPTION_KIND_NUMBERS)
		option_put_range(&notes, spec);
	if (option_is_repeatable(spec))
		bytes_printf(&notes, "%srepeatable", notes.size > 0 ? ", " : "");
	if (has_default(entry)) {
		bytes_printf(&notes, "%sdefault", notes.size > 0 ? ", " : "");
		if (spec->default_help) {
			bytes_printf(&notes, ": %s", spec->default_help);
		} else {
			bytes_put_u8(&notes, ' ');
			option_put_value(&notes, entry);
		}
	}
	if (notes.failed)
		out->failed = true;
	else if (notes.size > 0)
		bytes_printf(out, " (%.*s)", (int)notes.size, (const char *)notes.data);
	bytes_fini(&notes);
}

static void put_option(struct bytes *out, const struct option_entry *entry, int width)
{
	struct bytes left = {0};
	struct bytes right = {0};

	if (!entry->spec->letter)
		bytes_printf(&left, "    "); /* aligns the long names */
	help_put_names(&left, entry);
	bytes_put_u8(&left, 0);
	help_put_text(&right, entry);
	bytes_put_u8(&right, 0);
	if (left.failed || right.failed)
		out->failed = true;
	else
		put_row(out, (const char *)left.data, (const char *)right.data, LEFT_WIDTH, width);
	bytes_fini(&left);
	bytes_fini(&right);
}

static bool same_group(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static void put_options(struct bytes *out, const struct option_set *set, int width)
{
	const char *group = "";
	size_t i;

	for (i = 0; i < set->count; i++) {
		const struct option_entry *entry = &set->entries[i];

		if (entry->spec->hidden)
			continue;
		if (!same_group(group, entry->group)) {
			group = entry->group;
			bytes_printf(out, "\n%s:\n", group ? group : "Options");
		}
		put_option(out, entry, width);
	}
}

static void put_synopsis(struct bytes *out, const struct command *command)
{
	const char *line = command->synopsis ? command->synopsis : "";
	const char *lead = "Usage:";

	do {
		size_t n = strcspn(line, "\n");

		bytes_printf(out, "%s wick %s%s%.*s\n", lead, command->name, n > 0 ? " " : "",
			     (int)n, line);
		lead = "      ";
		line += n;
		line += *line == '\n';
	} while (*line);
}

static void put_examples(struct bytes *out, const struct command_example *example, int width)
{
	if (!example)
		return;
	bytes_printf(out, "\nExamples:\n");
	for (; example->line; example++) {
		bytes_printf(out, "  %s\n      ", example->line);
		put_wrapped(out, example->purpose, 6, 6, width);
	}
}

int help_put_command(struct bytes *out, const struct command *command, int width, struct error *err)
{
	struct command_values values;
	int r;

	r = command_values_init(&values, command, err);
	if (r < 0)
		return r;
	put_synopsis(out, command);
	bytes_put_u8(out, '\n');
	put_paragraphs(out, command->description, width);
	if (command->argument_help) {
		bytes_printf(out, "\nArguments:\n  ");
		put_wrapped(out, command->argument_help, 2, 2, width);
	}
	put_options(out, &values.set, width);
	put_examples(out, command->examples, width);
	command_values_fini(&values);
	return 0;
}

void help_put_overview(struct bytes *out, const struct command *const *commands, int width)
{
	const struct help_variable *variable;
	const struct option_spec *spec;

	bytes_printf(out, "Usage: wick COMMAND [OPTIONS] [ARGUMENTS]\n\n");
	put_wrapped(out, help_description[0], 0, 0, width);
	bytes_printf(out, "\nCommands:\n");
	for (; *commands; commands++) {
		if (!(*commands)->hidden)
			put_row(out, (*commands)->name, (*commands)->summary, 16, width);
	}
	bytes_printf(out, "\nOptions:\n");
	for (spec = global_option_table; spec->kind != OPTION_KIND_END; spec++) {
		const char *unset = NULL;
		const struct option_entry entry = {.spec = spec, .place = &unset};

		put_option(out, &entry, width);
	}
	bytes_printf(out, "\nEnvironment:\n");
	for (variable = help_variables; variable->name; variable++)
		put_row(out, variable->name, variable->meaning, 19, width);
	put_examples(out, help_examples, width);
	bytes_printf(out, "\nSee wick COMMAND --help for the options of a command.\n");
}

/* Optional parts; the build defines a macro for each that it found. */
const struct help_part help_parts[] = {
	{
#ifdef HAVE_LIBBPF
		.built = true,
#endif
		.name = "ebpf",
		.gives = "the eBPF engine, --mode wall and offcpu, heap -p",
		.needs = "libbpf-dev clang bpftool",
	},
	{
#ifdef HAVE_CAIRO
		.built = true,
#endif
		.name = "cairo",
		.gives = "flame graphs as PNG",
		.needs = "libcairo2-dev",
	},
	{
#ifdef HAVE_NCURSES
		.built = true,
#endif
		.name = "ncurses",
		.gives = "wick top as a live view",
		.needs = "libncurses-dev",
	},
	{.name = NULL},
};

void help_put_version(struct bytes *out)
{
	const struct help_part *part;
	size_t size;

	bytes_printf(out, "wick %s\ncommit %s\noptional parts:", WICK_VERSION, commit_built_from);
	size = out->size;
	for (part = help_parts; part->name; part++)
		if (part->built)
			bytes_printf(out, " %s", part->name);
	bytes_printf(out, out->size > size ? "\n" : " none\n");
}
