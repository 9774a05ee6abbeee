/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include "cli/command.h"
#include "cli/commands/parts/write_merged.h"
#include "cli/text/merge.h"

struct merge_options {
	const char *output;
};

static int run_merge(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct merge_options *options = values;

	return write_merged(context, argv, (size_t)argc, options->output);
}

static const struct option_spec table[] = {
	{"output", 'o', OPTION_STRING(struct merge_options, output), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .help = "the recording to write"},
	OPTION_END,
};

const struct command command_merge = {
	.name = "merge",
	.summary = "combine several recordings into one",
	.synopsis = "-o OUT.wick FILE...",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct merge_options),
	.defaults = &(const struct merge_options){0},
	.min_arguments = 1,
	.max_arguments = 10000,
	.argument_help = "FILE: a recording, or a profile in another format",
	.argument_offer = OPTION_OFFER_FILE,
	.run = run_merge,
};
