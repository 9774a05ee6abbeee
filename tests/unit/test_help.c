/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/help.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/manpage.h"
#include "cli/option_value.h"
#include "cli/options/load_options.h"
#include "cli/table.h"

struct demo_options {
	uint64_t frequency_hz;
	struct cli_load_options look;
};

static const struct option_spec demo_table[] = {
	{"frequency", 'F', OPTION_U64(struct demo_options, frequency_hz), .argument = "HZ",
	 .min = 10, .max = 10000, .key = "sampling.frequency_hz", .help = "samples a second"},
	{"rate", 'r', OPTION_ALIAS("frequency")},
	{OPTION_GROUP(struct demo_options, look, look_option_table), .help = "Filters"},
	OPTION_END,
};

static const struct command demo = {
	.name = "demo",
	.summary = "show what a table gives",
	.synopsis = "[OPTIONS] FILE\n[OPTIONS] -- PROGRAM",
	.description =
		(const char *const[]){
			"A description that is long enough to be wrapped at every width that a "
			"terminal "
			"may have, and \\ a backslash.",
			".starts with a dot",
			"\tfirst: an item of a list",
			"\tsecond: an item that is long enough to be wrapped at every width that a "
			"terminal may have, as the description is",
			NULL,
		},
	.examples =
		(const struct command_example[]){{"wick demo -F 99 x", "an example"}, {NULL, NULL}},
	.options = demo_table,
	.options_size = sizeof(struct demo_options),
	.defaults = &(const struct demo_options){.frequency_hz = 997, .look = LOOK_OPTIONS_DEFAULT},
	.runs_program = true,
};

static char *finish(struct bytes *text)
{
	bytes_put_u8(text, 0);
	assert_false(text->failed);
	return (char *)text->data;
}

static void assert_mentions_all(const struct command *command, const char *text)
{
	struct command_values values;
	size_t i;

	assert_int_equal(command_values_init(&values, command, NULL), 0);
	for (i = 0; i < values.set.count; i++) {
		struct bytes names = {0};

		if (values.set.entries[i].spec->hidden)
			continue;
		help_put_names(&names, &values.set.entries[i]);
		assert_non_null(strstr(text, finish(&names)));
		assert_non_null(values.set.entries[i].spec->help);
		bytes_fini(&names);
	}
	command_values_fini(&values);
}

static void every_help_mentions_every_option(void **state)
{
	size_t i;

	for (i = 0; command_table[i]; i++) {
		struct bytes text = {0};

		assert_int_equal(help_put_command(&text, command_table[i], 100, NULL), 0);
		assert_mentions_all(command_table[i], finish(&text));
		bytes_fini(&text);
	}
}

static void an_option_shows_names_range_and_default(void **state)
{
	struct bytes text = {0};
	const char *help;

	assert_int_equal(help_put_command(&text, &demo, 100, NULL), 0);
	help = finish(&text);
	assert_non_null(strstr(help, "Usage: wick demo [OPTIONS] FILE\n"
				     "       wick demo [OPTIONS] -- PROGRAM\n"));
	assert_non_null(strstr(help, "  -F, --frequency=HZ          samples a second (10 to 10000, "
				     "default 997)\n"));
	assert_non_null(strstr(help, "--[no-]kernel"));
	assert_non_null(strstr(help, "\nFilters:\n"));
	assert_non_null(strstr(help, "\nSymbols:\n"));
	assert_null(strstr(help, "--rate"));
	assert_non_null(strstr(help, "\n\n  first: an item of a list\n  second: an item"));
	assert_mentions_all(&demo, help);
	bytes_fini(&text);
}

static void no_line_is_wider_than_the_terminal(void **state)
{
	static const int widths[] = {60, 80, 100};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(widths); i++) {
		struct bytes text = {0};
		char *rest;
		char *line;

		assert_int_equal(help_put_command(&text, &demo, widths[i], NULL), 0);
		help_put_overview(&text, command_table, widths[i]);
		rest = finish(&text);
		while ((line = strsep(&rest, "\n")) != NULL)
			assert_true(strlen(line) <= (size_t)widths[i]);
		bytes_fini(&text);
	}
}

/* Whether the text behind a backslash is an escape that we use. */
static bool is_known_escape(const char *at)
{
	static const char *const known[] = {"-", "e", "&", "fB", "fI", "fR", "\""};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		if (strncmp(at, known[i], strlen(known[i])) == 0)
			return true;
	}
	return false;
}

static void assert_well_formed(const char *page)
{
	static const char *const sections[] = {"\n.TH \"",         "\n.SH NAME\n",
					       "\n.SH SYNOPSIS\n", "\n.SH DESCRIPTION\n",
					       "\n.SH OPTIONS\n",  "\n.SH EXIT STATUS\n"};
	const char *at = page;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		at = strstr(at, sections[i]);
		assert_non_null(at);
	}
	for (at = page; (at = strchr(at, '\\')) != NULL; at++)
		assert_true(is_known_escape(at + 1) && at++);
	assert_int_equal(page[strlen(page) - 1], '\n');
}

static void manual_pages_are_well_formed(void **state)
{
	struct bytes text = {0};
	size_t i;

	manpage_put_overview(&text, command_table);
	assert_well_formed(finish(&text));
	bytes_fini(&text);
	for (i = 0; command_table[i]; i++) {
		assert_int_equal(manpage_put_command(&text, command_table[i], NULL), 0);
		assert_well_formed(finish(&text));
		bytes_fini(&text);
	}
}

static void a_page_lists_the_statuses_that_the_command_can_end_with(void **state)
{
	struct command gated = demo;
	struct bytes text = {0};

	gated.has_gates = true;
	assert_int_equal(manpage_put_command(&text, &gated, NULL), 0);
	assert_non_null(strstr(finish(&text), "\\fB3\\fR\n"));
	bytes_fini(&text);
	assert_int_equal(manpage_put_command(&text, &command_record, NULL), 0);
	assert_null(strstr(finish(&text), "\\fB3\\fR\n"));
	assert_non_null(strstr((char *)text.data, "\\fB127\\fR\n"));
	bytes_fini(&text);
}

static void what_is_not_there_yet_is_not_promised(void **state)
{
	struct bytes text = {0};

	help_put_overview(&text, command_table, 80);
	assert_null(strstr(finish(&text), "store copy"));
	bytes_fini(&text);
}

static void a_page_escapes_what_roff_would_misread(void **state)
{
	struct bytes text = {0};
	const char *page;

	assert_int_equal(manpage_put_command(&text, &demo, NULL), 0);
	page = finish(&text);
	assert_well_formed(page);
	assert_non_null(strstr(page, "and \\e a backslash"));
	assert_non_null(strstr(page, "\n\\&.starts with a dot\n"));
	assert_non_null(strstr(page, "\n.RS 4\nfirst: an item of a list\n.br\nsecond: an item"));
	assert_non_null(strstr(page, "\\fB\\-F, \\-\\-frequency\\fR=\\fIHZ\\fR\n"));
	assert_non_null(strstr(page, "\\fBWICK_SAMPLING_FREQUENCY_HZ\\fR"));
	assert_non_null(strstr(page, "\\fB127\\fR"));
	bytes_fini(&text);
}

/* Feeds a page to groff, which warns about anything odd on stderr. */
static void groff_has_no_complaints(void **state)
{
	struct bytes text = {0};
	const char *page;
	FILE *groff;
	int status;

	if (system("command -v groff >/dev/null 2>&1") != 0)
		skip();
	assert_int_equal(manpage_put_command(&text, &demo, NULL), 0);
	page = finish(&text);
	groff = popen("test -z \"$(groff -man -Tutf8 -ww -z 2>&1)\"", "w");
	assert_non_null(groff);
	assert_true(fputs(page, groff) >= 0);
	status = pclose(groff);
	assert_int_equal(status, 0);
	bytes_fini(&text);
}

static const struct option_entry *find_key(struct command_values *values, size_t n, const char *key)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (option_set_find_key(&values[i].set, key))
			return option_set_find_key(&values[i].set, key);
	}
	return NULL;
}

static void a_key_means_the_same_in_every_command(void **state)
{
	struct command_values values[64];
	size_t n;
	size_t i;

	for (n = 0; command_table[n]; n++) {
		assert_int_equal(command_values_init(&values[n], command_table[n], NULL), 0);
		for (i = 0; i < values[n].set.count; i++) {
			const struct option_spec *spec = values[n].set.entries[i].spec;
			const struct option_entry *other =
				spec->key ? find_key(values, n, spec->key) : NULL;

			assert_true(!spec->key || strchr(spec->key, '.'));
			if (!other)
				continue;
			assert_int_equal(other->spec->kind, spec->kind);
			assert_true(other->spec->min == spec->min && other->spec->max == spec->max);
		}
	}
	for (i = 0; i < n; i++)
		command_values_fini(&values[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_help_mentions_every_option),
		cmocka_unit_test(an_option_shows_names_range_and_default),
		cmocka_unit_test(no_line_is_wider_than_the_terminal),
		cmocka_unit_test(manual_pages_are_well_formed),
		cmocka_unit_test(a_page_lists_the_statuses_that_the_command_can_end_with),
		cmocka_unit_test(what_is_not_there_yet_is_not_promised),
		cmocka_unit_test(a_page_escapes_what_roff_would_misread),
		cmocka_unit_test(groff_has_no_complaints),
		cmocka_unit_test(a_key_means_the_same_in_every_command),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
