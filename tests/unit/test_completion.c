/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/completion.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/options/load_options.h"
#include "cli/table.h"
#include "export/export.h"

struct demo_options {
	unsigned int shade;
	struct cli_load_options look;
};

static const struct option_spec demo_table[] = {
	{"shade", 0, OPTION_ENUM(struct demo_options, shade, "red", "green", "grey"),
	 .help = "a word"},
	{OPTION_GROUP(struct demo_options, look, look_option_table), .help = "Filters"},
	OPTION_END,
};

static const struct command demo = {
	.name = "demo",
	.summary = "it's: a [demonstration]",
	.options = demo_table,
	.options_size = sizeof(struct demo_options),
	.argument_offer = OPTION_OFFER_FILE,
};

static const struct command *const commands[] = {&demo, NULL};

static char *script(const char *shell, struct bytes *text)
{
	assert_int_equal(completion_put(text, shell, commands, NULL), 0);
	bytes_put_u8(text, 0);
	assert_false(text->failed);
	return (char *)text->data;
}

static void each_script_offers_options_and_words(void **state)
{
	static const struct {
		const char *shell;
		const char *parts[4];
	} cases[] = {
		{"bash", {"--no-kernel", "--symbol-path) _wick_reply -d", "'red green grey'"}},
		{"zsh", {"'--no-kernel[", "_files -/'", ":(red green grey)'", "it'\\''s\\: a"}},
		{"fish", {"-l no-kernel", "__fish_complete_directories", "-a 'red green grey'"}},
	};
	size_t i;
	size_t j;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bytes text = {0};
		const char *found = script(cases[i].shell, &text);

		for (j = 0; j < ARRAY_SIZE(cases[i].parts) && cases[i].parts[j]; j++)
			assert_non_null(strstr(found, cases[i].parts[j]));
		bytes_fini(&text);
	}
}

static void an_unknown_shell_is_refused(void **state)
{
	struct bytes text = {0};
	struct error err = {0};

	assert_int_equal(completion_put(&text, "tcsh", commands, &err), -EINVAL);
	assert_string_equal(err.text, "tcsh is not one of bash, zsh, fish");
	bytes_fini(&text);
}

/* Runs the generated function with a command line and prints what it offers. */
static void assert_bash_offers(const char *words, const char *offer)
{
	struct bytes text = {0};
	char answer[256] = "";
	char path[] = "/tmp/test_completion.XXXXXX";
	int fd = mkstemp(path);
	FILE *file = fdopen(fd, "w");
	char command[512];
	FILE *bash;

	assert_non_null(file);
	(void)fprintf(file,
		      "%sCOMP_WORDS=(%s)\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_wick\n"
		      "echo -n \"${COMPREPLY[*]}\"\n",
		      script("bash", &text), words);
	(void)fclose(file);
	(void)snprintf(command, sizeof(command), "bash --norc %s 2>&1", path);
	bash = popen(command, "r");
	assert_non_null(bash);
	assert_true(fread(answer, 1, sizeof(answer) - 1, bash) == strlen(offer));
	assert_int_equal(pclose(bash), 0);
	(void)unlink(path);
	assert_string_equal(answer, offer);
	bytes_fini(&text);
}

static void bash_completes_what_was_begun(void **state)
{
	if (system("command -v bash >/dev/null 2>&1") != 0)
		skip();
	assert_bash_offers("wick de", "demo");
	assert_bash_offers("wick demo --no-k", "--no-kernel");
	assert_bash_offers("wick demo --shade ''", "red green grey");
	assert_bash_offers("wick demo --shade = gree", "green");
	assert_bash_offers("wick demo --comm ''", "");
	assert_bash_offers("wick --config x demo --sho", "--short-names");
}

/* The names stand in both tables: one is of constants. */
static void all_formats_are_offered_for_export(void **state)
{
	const char *const *words = command_export.options[0].words;
	size_t i;

	assert_string_equal(command_export.options[0].name, "format");
	for (i = 0; exporters[i]; i++) {
		size_t at = 0;

		while (words[at] && strcmp(words[at], exporters[i]->name) != 0)
			at++;
		assert_non_null(words[at]);
	}
	assert_null(words[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_script_offers_options_and_words),
		cmocka_unit_test(all_formats_are_offered_for_export),
		cmocka_unit_test(an_unknown_shell_is_refused),
		cmocka_unit_test(bash_completes_what_was_begun),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
