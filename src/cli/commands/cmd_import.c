/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include "cli/command.h"
#include "cli/commands/parts/write_merged.h"
#include "cli/text/import.h"

struct import_options {
	const char *output;
};

static int run_import(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct import_options *options = values;

	return write_merged(context, argv, 1, options->output);
}

static const struct option_spec table[] = {
	{"output", 'o', OPTION_STRING(struct import_options, output), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .help = "the recording to write"},
	OPTION_END,
};

const struct command command_import = {
	.name = "import",
	.summary = "convert another profiler's file to a recording",
	.synopsis = "-o OUT.wick FILE",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct import_options),
	.defaults = &(const struct import_options){0},
	.min_arguments = 1,
	.max_arguments = 1,
	.argument_help = "FILE: a profile in another format, or - for standard input",
	.argument_offer = OPTION_OFFER_FILE,
	.run = run_import,
};
