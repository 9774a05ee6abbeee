/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/look.h"
#include "export/export.h"
#include "model/profile.h"
#include "pipeline/load.h"

struct export_command_options {
	const char *format;
	const char *output;
	struct look_options look;
};

static int run(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct export_command_options *options = values;
	const struct export_config config = {.value = EXPORT_DEFAULT_VALUE};
	const struct exporter_ops *exporter;
	struct load_options load;
	struct profile *profile;
	struct bytes text = {0};
	struct error err;
	int r;

	if (!options->format)
		return command_misused(context,
				       "which format? give --format; see: wick list formats");
	exporter = exporter_find(options->format);
	if (!exporter)
		return command_misused(context,
				       "there is no format called %s; see: wick list formats",
				       options->format);
	r = look_check_output(context, argv[0], options->output);
	if (r != COMMAND_DONE)
		return r;
	r = look_to_load(context, &options->look, &load);
	if (r != COMMAND_DONE)
		return r;
	r = load_profile(argv[0], &load, &profile, &err);
	if (r < 0)
		return command_failed(context, &err);
	r = exporter_write(exporter, profile, &config, &text, &err);
	if (r == 0)
		r = outfile_write(options->output, text.data, text.size, &err);
	bytes_fini(&text);
	profile_free(profile);
	return r < 0 ? command_failed(context, &err) : COMMAND_DONE;
}

static const struct option_spec table[] = {
	{"format", 0, OPTION_STRING(struct export_command_options, format), .argument = "NAME",
	 .help = "folded: one line a stack, for flame graph tools (see: wick list formats)"},
	{"output", 'o', OPTION_STRING(struct export_command_options, output), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .help = "where to write; - is standard output"},
	{OPTION_GROUP(struct export_command_options, look, look_option_table), .help = "Filters"},
	OPTION_END,
};

const struct command command_export = {
	.name = "export",
	.summary = "write a recording in another format",
	.synopsis = "--format NAME [-o FILE] [OPTIONS] FILE",
	.description =
		(const char *const[]){
			"Folded stacks have one line for each stack: the functions from the root "
			"to the "
			"leaf with semicolons between them, the process name first, and the number "
			"of "
			"samples last.",
			NULL,
		},
	.examples =
		(const struct command_example[]){
			{"wick export --format folded app.wick -o app.folded",
			 "for flame graph tools and scripts"},
			{NULL, NULL},
		},
	.options = table,
	.options_size = sizeof(struct export_command_options),
	.defaults =
		&(const struct export_command_options){.output = "-", .look = LOOK_OPTIONS_DEFAULT},
	.min_arguments = 1,
	.max_arguments = 1,
	.argument_help = "FILE: a recording, or - for standard input",
	.argument_offer = OPTION_OFFER_FILE,
	.run = run,
};
