/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include "cli/command.h"
#include "cli/commands/write_merged.h"

struct merge_options {
	const char *output;
};

static int run(const struct command_context *context, void *values, int argc, char **argv)
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
	.summary = "make one recording of many",
	.synopsis = "-o OUT.wick FILE...",
	.description =
		(const char *const[]){
			"All files must measure the same, such as CPU time in nanoseconds. They "
			"may be of "
			"any format that wick import takes. Where all know the time of day, "
			"samples "
			"keep "
			"their distances in time; else the files begin together. Recordings of "
			"the heap are merged as well: the result has the blocks of all.",
			NULL,
		},
	.examples =
		(const struct command_example[]){
			{"wick merge -o all.wick monday.wick tuesday.wick", "two days in one"},
			{"wick merge -o old.wick old-1.wick old-2.wick old-3.wick",
			 "several runs for one side of wick diff: less noise"},
			{NULL, NULL},
		},
	.options = table,
	.options_size = sizeof(struct merge_options),
	.defaults = &(const struct merge_options){0},
	.min_arguments = 1,
	.max_arguments = 10000,
	.argument_help = "FILE: a recording or a profile of another format",
	.argument_offer = OPTION_OFFER_FILE,
	.run = run,
};
