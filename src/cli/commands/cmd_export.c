/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file/outfile.h"
#include "cli/command.h"
#include "cli/debuginfod.h"
#include "cli/options/load_options.h"
#include "cli/text/export.h"
#include "export/export.h"
#include "load/convert/export_file.h"
#include "load/load.h"
#include "plugin/plugins.h"

struct export_command_options {
	const char *format;
	const char *output;
	bool marks;
	struct cli_load_options look;
};

static int refuse_format(const struct command_context *context, int r, struct error *err)
{
	(void)error_advise(err, r, "list the formats: wick list formats");
	return command_refused(context, err);
}

static int run_export(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct export_command_options *options = values;
	const struct export_config config = {.value = EXPORT_DEFAULT_VALUE,
					     .marks = options->marks};
	const struct exporter_ops *exporter;
	struct debuginfod server;
	struct load_options load;
	struct export_job job = {.config = &config,
				 .load = &load,
				 .input = argv[0],
				 .output = options->output,
				 .option = "-o FILE"};
	struct error err;
	int r;

	if (!options->format)
		return refuse_format(context, error_set(&err, -EINVAL, "export needs --format"),
				     &err);
	exporter = plugins_find_exporter(context->plugins, options->format);
	if (!exporter)
		return refuse_format(context,
				     error_set(&err, -EINVAL, "unknown format %s", options->format),
				     &err);
	if (exporter->binary && outfile_is_stdout(options->output) && isatty(STDOUT_FILENO)) {
		(void)error_set(&err, -EINVAL, "%s is a binary format: a terminal cannot show it",
				exporter->name);
		error_remedy(&err, "write it to a file: -o FILE.%s", exporter->extension);
		return command_refused(context, &err);
	}
	r = cli_load_check_output(context, argv[0], options->output, "-o FILE");
	if (r != COMMAND_DONE)
		return r;
	r = cli_load_to_load(context, &options->look, &server, &load);
	if (r != COMMAND_DONE)
		return r;
	load.told = true;
	load.collapse_recursion = options->look.collapse_recursion;
	job.exporter = exporter;
	r = export_file(&job, &err);
	return r < 0 ? command_failed(context, &err) : COMMAND_DONE;
}

static const struct option_spec table[] = {
	{"format", 0,
	 OPTION_WORD(struct export_command_options, format, "folded", "pprof", "speedscope",
		     "firefox", "perfetto", "otlp", "json", "samples"),
	 .argument = "NAME", .more_words = true,
	 .help = "the format: one of these, or one of a plug-in; see: wick list formats"},
	{"output", 'o', OPTION_STRING(struct export_command_options, output), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .help = "where to write; - is standard output"},
	{"marks", 0, OPTION_FLAG(struct export_command_options, marks),
	 .help = "folded: mark kernel frames with _[k], inlined frames with _[i], JIT code with "
		 "_[j]"},
	{OPTION_GROUP(struct export_command_options, look, look_option_table), .help = "Filters"},
	OPTION_END,
};

const struct command command_export = {
	.name = "export",
	.summary = "write a recording in another format",
	.synopsis = "--format NAME [-o FILE] [OPTIONS] FILE",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct export_command_options),
	.defaults = &(const struct export_command_options){.output = "-",
							   .look = LOOK_OPTIONS_DEFAULT,
							   .look.names = LOOK_NAMES_FULL},
	.min_arguments = 1,
	.max_arguments = 1,
	.argument_help = "FILE: a recording, or - for standard input",
	.argument_offer = OPTION_OFFER_FILE,
	.run = run_export,
};
