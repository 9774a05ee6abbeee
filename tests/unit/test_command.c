/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"

/* The linker sends calls of realloc() here. */
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool memory_is_gone;

void *__wrap_realloc(void *old, size_t size)
{
	return memory_is_gone ? NULL : __real_realloc(old, size);
}

struct demo_options {
	uint64_t frequency_hz;
};

static const struct option_spec demo_table[] = {
	{"frequency", 'F', OPTION_U64(struct demo_options, frequency_hz), .min = 10, .max = 10000,
	 .key = "sampling.frequency_hz", .help = "rate"},
	OPTION_END,
};

static int run_demo(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct demo_options *options = values;
	struct error err = {0};
	int i;

	if (strcmp(argv[0], "fail") == 0 || strcmp(argv[0], "starve") == 0) {
		memory_is_gone = strcmp(argv[0], "starve") == 0;
		(void)error_set(&err, -EPERM, "cannot read \033[31m");
		error_remedy(&err, "run as root");
		return command_failed(context, &err);
	}
	if (strcmp(argv[0], "pipe") == 0) {
		(void)error_set(&err, -EPIPE, "broken pipe");
		return command_failed(context, &err);
	}
	(void)fprintf(context->out, "%d %s", (int)options->frequency_hz,
		      option_source_name(option_source_of(context->set, &options->frequency_hz)));
	for (i = 0; i < argc; i++)
		(void)fprintf(context->out, " %s", argv[i]);
	return 7;
}

static const struct command demo = {
	.name = "demo",
	.program = "demonstrate",
	.summary = "a demonstration",
	.synopsis = "[OPTIONS] WORD\n[OPTIONS] WORD WORD",
	.options = demo_table,
	.options_size = sizeof(struct demo_options),
	.defaults = &(const struct demo_options){.frequency_hz = 997},
	.min_arguments = 1,
	.max_arguments = 2,
	.run = run_demo,
};

static const struct command *const commands[] = {&demo, NULL};

struct result {
	int status;
	char *out;
	char *err;
};

static struct result run(const char *line)
{
	struct result result = {0};
	char copy[256];
	char *argv[16] = {NULL};
	char *rest = copy;
	size_t sizes[2];
	FILE *out = open_memstream(&result.out, &sizes[0]);
	FILE *err = open_memstream(&result.err, &sizes[1]);
	int argc = 0;

	(void)snprintf(copy, sizeof(copy), "%s", line);
	while (rest && argc < 15)
		argv[argc++] = strsep(&rest, " ");
	result.status = command_main(commands, argc, argv, out, err);
	(void)fclose(out);
	(void)fclose(err);
	return result;
}

static void a_command_gets_its_values_and_arguments(void **state)
{
	static const struct {
		const char *line;
		int status;
		const char *out;
		const char *err;
	} cases[] = {
		{"wick demo x", 7, "997 default x", ""},
		{"wick demo x -F 50 y", 7, "50 command line x y", ""},
		{"wick demo -- -F", 7, "997 default -F", ""},
		{"/usr/bin/demonstrate x -F 50", 7, "50 command line x", ""},
		{"demonstrate", 2, "",
		 "wick: demo is missing an argument\n"
		 "      usage: wick demo [OPTIONS] WORD; see wick demo --help\n"},
		{"wick demo -F 5 x", 2, "",
		 "wick: -F 5 is out of range (10 to 10000)\n      see wick demo --help\n"},
		{"wick demo", 2, "",
		 "wick: demo is missing an argument\n"
		 "      usage: wick demo [OPTIONS] WORD; see wick demo --help\n"},
		{"wick demo a b c", 2, "",
		 "wick: demo was given too many arguments\n"
		 "      usage: wick demo [OPTIONS] WORD; see wick demo --help\n"},
		{"wick dmo", 2, "",
		 "wick: unknown command dmo\n      did you mean wick demo? see wick --help\n"},
		{"wick --hlep", 2, "", "wick: unknown option --hlep\n      see wick --help\n"},
		{"wick --config /nonexistent/x demo x", 2, "",
		 "wick: cannot read configuration /nonexistent/x: no such file or directory\n"
		 "      check the spelling of the path, and the directory it is relative to\n"},
		{"wick demo fail", 1, "", "wick: cannot read \\x1b[31m\n      run as root\n"},
		{"wick demo pipe", COMMAND_BROKEN_PIPE, "", ""},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct result result = run(cases[i].line);

		assert_string_equal(result.out, cases[i].out);
		assert_string_equal(result.err, cases[i].err);
		assert_int_equal(result.status, cases[i].status);
		free(result.out);
		free(result.err);
	}
}

static void an_error_is_told_without_memory(void **state)
{
	struct result result = run("wick demo starve");

	memory_is_gone = false;
	assert_int_equal(result.status, 1);
	assert_string_equal(result.err, "wick: cannot read ?[31m\n      run as root\n");
	free(result.out);
	free(result.err);
}

static void help_is_a_result_and_its_lack_a_complaint(void **state)
{
	struct result asked = run("wick --help");
	struct result missing = run("wick");
	struct result own = run("wick demo -F 50 --help");

	assert_int_equal(asked.status, 0);
	assert_non_null(strstr(asked.out, "a demonstration"));
	assert_int_equal(missing.status, 2);
	assert_string_equal(missing.out, "");
	assert_string_equal(missing.err, asked.out);
	assert_int_equal(own.status, 0);
	assert_non_null(strstr(own.out, "wick demo [OPTIONS] WORD WORD"));
	free(asked.out);
	free(asked.err);
	free(missing.out);
	free(missing.err);
	free(own.out);
	free(own.err);
}

static void the_version_names_the_commit(void **state)
{
	struct result result = run("wick --version");

	assert_int_equal(result.status, 0);
	assert_memory_equal(result.out, "wick ", 5);
	assert_non_null(strstr(result.out, "\ncommit "));
	assert_non_null(strstr(result.out, "\noptional parts:"));
	free(result.out);
	free(result.err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_gets_its_values_and_arguments),
		cmocka_unit_test(an_error_is_told_without_memory),
		cmocka_unit_test(help_is_a_result_and_its_lack_a_complaint),
		cmocka_unit_test(the_version_names_the_commit),
	};

	(void)setenv("HOME", "/nonexistent", 1); /* no configuration of the person who tests */
	(void)unsetenv("XDG_CONFIG_HOME");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
