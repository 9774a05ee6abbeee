/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/debuginfod.h"
#include "cli/options/leak_options.h"
#include "cli/options/load_options.h"
#include "cli/text/leaks.h"
#include "heap/heap_profile.h"
#include "load/load.h"

enum leaks_format { LEAKS_FORMAT_TEXT, LEAKS_FORMAT_JSON };

struct leaks_options {
	bool tree;
	bool all;
	enum leaks_format format;
	uint64_t limit;
	struct leak_options leaks;
	struct cli_load_options look;
};

static int show(const struct command_context *context, const struct leaks_options *options,
		const struct suppressions *rules, const struct load_options *load, const char *path)
{
	struct leak_report_options view = {
		.form = LEAK_TEXT,
		.all = options->all,
		.color = context->color_out,
		.limit = cli_load_row_limit(context, &options->limit,
					    options->format == LEAKS_FORMAT_JSON),
		.from_ns = load->from_ns};
	struct heap_profile heap;
	struct error err = {0};
	int status;

	if (options->format == LEAKS_FORMAT_JSON)
		view.form = LEAK_JSON;
	else if (options->tree)
		view.form = LEAK_TREE;
	if (load_heap(path, load, &heap, &err) < 0)
		return command_failed(context, &err);
	status = leak_options_print(context, &options->leaks, rules, &heap, view, context->out);
	heap_profile_fini(&heap);
	return status;
}

static int run_leaks(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct leaks_options *options = values;
	struct suppressions rules;
	struct debuginfod server;
	struct load_options load;
	int status = leak_options_read(context, &options->leaks, &rules);

	if (status == COMMAND_DONE)
		status = cli_load_to_load(context, &options->look, &server, &load);
	/* Suppression rules contain full names. */
	if (status == COMMAND_DONE &&
	    (options->format == LEAKS_FORMAT_JSON || leak_options_have_rules(&options->leaks)))
		cli_load_prefer_full_names(context, &options->look, &load);
	if (status == COMMAND_DONE)
		status = show(context, options, &rules, &load, argv[0]);
	suppressions_fini(&rules);
	return status;
}

static const struct option_spec table[] = {
	{"tree", 0, OPTION_FLAG(struct leaks_options, tree),
	 .help = "show the callers of each place as a tree below it"},
	{"all", 0, OPTION_FLAG(struct leaks_options, all),
	 .help = "also list indirect leaks, and blocks that are still reachable"},
	{"limit", 'n', OPTION_U64(struct leaks_options, limit), .argument = "ROWS", .max = 1000000,
	 .key = "view.limit",
	 .help = "rows of the table; 0 shows all, which is the default for JSON"},
	{"format", 0, OPTION_ENUM(struct leaks_options, format, "text", "json"),
	 .help = "output format"},
	{OPTION_GROUP(struct leaks_options, leaks, leak_option_table), .help = "Leaks"},
	{OPTION_GROUP(struct leaks_options, look, look_option_table), .help = "Filters"},
	OPTION_END,
};

const struct command command_leaks = {
	.name = "leaks",
	.summary = "show the leaks in a heap recording: class, confidence, evidence, place",
	.synopsis = "[OPTIONS] FILE",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct leaks_options),
	.defaults = &(const struct leaks_options){.limit = 30, .look = LOOK_OPTIONS_DEFAULT},
	.min_arguments = 1,
	.max_arguments = 1,
	.argument_help = "FILE: a recording, or - for standard input",
	.argument_offer = OPTION_OFFER_FILE,
	.has_gates = true,
	.run = run_leaks,
};
