/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/manpage.h"

#include <ctype.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/config.h"
#include "cli/help.h"
#include "cli/option_value.h"
#include "cli/text/wick.h"
#include "proc/own_program.h"

/*
 * Escapes text for roff: a plain hyphen would become a typographic one, so that options could not
 * be copied; a backslash is an escape; a dot or quote at the start of a line is a request.
 */
static void put_text_n(struct bytes *out, const char *text, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		bool at_start = i == 0 || text[i - 1] == '\n';

		if (at_start && (text[i] == '.' || text[i] == '\''))
			bytes_printf(out, "\\&");
		if (text[i] == '-')
			bytes_printf(out, "\\-");
		else if (text[i] == '\\')
			bytes_printf(out, "\\e");
		else
			bytes_put_u8(out, (uint8_t)text[i]);
	}
}

static void put_text(struct bytes *out, const char *text)
{
	put_text_n(out, text, strlen(text));
}

static void put_bold(struct bytes *out, const char *text, size_t n)
{
	bytes_printf(out, "\\fB");
	put_text_n(out, text, n);
	bytes_printf(out, "\\fR");
}

static void put_head(struct bytes *out, const char *name, const char *summary)
{
	const char *at;

	bytes_printf(out, ".\\\" Written by scripts/update-man from the option tables and "
			  "src/cli/text; do not edit.\n");
	bytes_printf(out, ".TH \"");
	for (at = name; *at; at++) {
		if (*at == '-')
			bytes_printf(out, "\\-");
		else
			bytes_put_u8(out, (uint8_t)toupper((unsigned char)*at));
	}
	bytes_printf(out, "\" 1 \"\" \"wick %s\" \"wick manual\"\n.SH NAME\n", WICK_VERSION);
	put_text(out, name);
	bytes_printf(out, " \\- ");
	put_text(out, summary);
	bytes_put_u8(out, '\n');
}

static void put_synopsis(struct bytes *out, const struct command *command)
{
	const char *line = command->synopsis ? command->synopsis : "";

	bytes_printf(out, ".SH SYNOPSIS\n.nf\n");
	do {
		size_t n = strcspn(line, "\n");

		put_bold(out, "wick ", 5);
		put_bold(out, command->name, strlen(command->name));
		if (n > 0)
			bytes_put_u8(out, ' ');
		put_text_n(out, line, n);
		bytes_put_u8(out, '\n');
		line += n;
		line += *line == '\n';
	} while (*line);
	bytes_printf(out, ".fi\n");
}

/* Text with {GROUP} and {CAPABILITIES} replaced. */
static void put_filled(struct bytes *out, const char *text)
{
	static const struct {
		const char *name;
		const char *value;
	} fields[] = {{"{GROUP}", OWN_PROGRAM_GROUP}, {"{CAPABILITIES}", OWN_PROGRAM_ALL}};

	while (*text) {
		size_t n = strcspn(text + 1, "{") + 1; /* up to the next field */
		size_t i = 0;

		while (i < ARRAY_SIZE(fields) &&
		       strncmp(text, fields[i].name, strlen(fields[i].name)) != 0)
			i++;
		if (i < ARRAY_SIZE(fields)) {
			put_text(out, fields[i].value);
			text += strlen(fields[i].name);
		} else {
			put_text_n(out, text, n);
			text += n;
		}
	}
}

/* Items of a list are indented and have their own lines. */
static void put_paragraphs(struct bytes *out, const char *const *paragraphs)
{
	bool in_list = false;

	for (size_t i = 0; paragraphs && paragraphs[i]; i++) {
		bool is_item = help_is_item(paragraphs[i]);

		if (in_list && !is_item)
			bytes_printf(out, ".RE\n");
		if (i > 0 && !(in_list && is_item))
			bytes_printf(out, ".PP\n");
		if (is_item)
			bytes_printf(out, in_list ? ".br\n" : ".RS 4\n");
		put_filled(out, is_item ? paragraphs[i] + 1 : paragraphs[i]);
		bytes_put_u8(out, '\n');
		in_list = is_item;
	}
	if (in_list)
		bytes_printf(out, ".RE\n");
}

static void put_section(struct bytes *out, const char *heading, const char *const *paragraphs)
{
	bytes_printf(out, ".SH %s\n", heading);
	put_paragraphs(out, paragraphs);
}

static void put_description(struct bytes *out, const struct command *command)
{
	put_section(out, "DESCRIPTION", command->description);
	if (command->argument_help) {
		bytes_printf(out, ".PP\n");
		put_text(out, command->argument_help);
		bytes_put_u8(out, '\n');
	}
}

/* Names in bold, the argument in italics. */
static void put_names(struct bytes *out, const struct option_entry *entry)
{
	struct bytes names = {0};
	const char *text;
	size_t n;

	help_put_names(&names, entry);
	if (names.failed) {
		out->failed = true;
		bytes_fini(&names);
		return;
	}
	text = (const char *)names.data;
	for (n = 0; n < names.size && text[n] != '='; n++)
		;
	put_bold(out, text, n);
	if (n < names.size) {
		bytes_printf(out, "=\\fI");
		put_text_n(out, text + n + 1, names.size - n - 1);
		bytes_printf(out, "\\fR");
	}
	bytes_fini(&names);
}

static void put_option(struct bytes *out, const struct option_entry *entry)
{
	struct bytes text = {0};
	char variable[128];

	bytes_printf(out, ".TP\n");
	put_names(out, entry);
	bytes_put_u8(out, '\n');
	help_put_text(&text, entry);
	bytes_put_u8(&text, 0);
	if (text.failed)
		out->failed = true;
	else
		put_text(out, (const char *)text.data);
	bytes_printf(out, ".\n");
	if (entry->spec->key) {
		config_variable_name(entry->spec->key, variable, sizeof(variable));
		bytes_printf(out, "Configuration: ");
		put_bold(out, entry->spec->key, strlen(entry->spec->key));
		bytes_printf(out, ", ");
		put_bold(out, variable, strlen(variable));
		bytes_printf(out, ".\n");
	}
	bytes_fini(&text);
}

static void put_options(struct bytes *out, const struct option_set *set)
{
	const char *group = NULL;
	size_t i;

	bytes_printf(out, ".SH OPTIONS\n");
	for (i = 0; i < set->count; i++) {
		const struct option_entry *entry = &set->entries[i];

		if (entry->spec->hidden)
			continue;
		if (entry->group && (!group || strcmp(group, entry->group) != 0)) {
			group = entry->group;
			bytes_printf(out, ".SS ");
			put_text(out, group);
			bytes_put_u8(out, '\n');
		}
		put_option(out, entry);
	}
}

static void put_examples(struct bytes *out, const struct command_example *example)
{
	if (!example)
		return;
	bytes_printf(out, ".SH EXAMPLES\n");
	for (; example->line; example++) {
		bytes_printf(out, ".TP\n");
		put_bold(out, example->line, strlen(example->line));
		bytes_put_u8(out, '\n');
		put_text(out, example->purpose);
		bytes_printf(out, "\n");
	}
}

static void put_statuses(struct bytes *out, const struct help_status *statuses)
{
	for (; statuses->status; statuses++) {
		bytes_printf(out, ".TP\n");
		put_bold(out, statuses->status, strlen(statuses->status));
		bytes_put_u8(out, '\n');
		put_text(out, statuses->meaning);
		bytes_put_u8(out, '\n');
	}
}

int manpage_put_command(struct bytes *out, const struct command *command, struct error *err)
{
	struct command_values values;
	struct bytes name = {0};
	int r;

	r = command_values_init(&values, command, err);
	if (r < 0)
		return r;
	bytes_printf(&name, "wick-%s", command->name);
	bytes_put_u8(&name, 0);
	put_head(out, name.failed ? "wick" : (const char *)name.data, command->summary);
	bytes_fini(&name);
	put_synopsis(out, command);
	put_description(out, command);
	put_options(out, &values.set);
	put_examples(out, command->examples);
	bytes_printf(out, ".SH EXIT STATUS\n");
	put_statuses(out, help_statuses);
	if (command->has_gates)
		put_statuses(out, help_gate_statuses);
	if (command->runs_program)
		put_statuses(out, help_program_statuses);
	bytes_printf(out, ".SH SEE ALSO\n.BR wick (1)\n");
	command_values_fini(&values);
	return 0;
}

static void put_variables(struct bytes *out)
{
	bytes_printf(out, ".SH ENVIRONMENT\n");
	for (const struct help_variable *variable = help_variables; variable->name; variable++) {
		bytes_printf(out, ".TP\n");
		put_bold(out, variable->name, strlen(variable->name));
		bytes_put_u8(out, '\n');
		put_text(out, variable->meaning);
		bytes_printf(out, ".\n");
	}
}

void manpage_put_overview(struct bytes *out, const struct command *const *commands)
{
	const struct option_spec *spec;
	size_t i;

	put_head(out, "wick", "a profiler for the time and memory of Linux programs");
	bytes_printf(out, ".SH SYNOPSIS\n\\fBwick\\fR COMMAND [OPTIONS] [ARGUMENTS]\n");
	put_section(out, "DESCRIPTION", help_description);
	bytes_printf(out, ".SH COMMANDS\n");
	for (i = 0; commands[i]; i++) {
		if (commands[i]->hidden)
			continue;
		bytes_printf(out, ".TP\n.BR wick\\-%s (1)\n", commands[i]->name);
		put_text(out, commands[i]->summary);
		bytes_put_u8(out, '\n');
	}
	bytes_printf(out, ".SH OPTIONS\n");
	for (spec = global_option_table; spec->kind != OPTION_KIND_END; spec++) {
		const char *unset = NULL;
		const struct option_entry entry = {.spec = spec, .place = &unset};

		put_option(out, &entry);
	}
	put_section(out, "CONFIGURATION", help_configuration);
	put_variables(out);
	/* Messages refer to this section: OWN_PROGRAM_REMEDY. */
	put_section(out, "WITHOUT ROOT", help_without_root);
	put_examples(out, help_examples);
	bytes_printf(out, ".SH EXIT STATUS\n");
	put_statuses(out, help_statuses);
}
