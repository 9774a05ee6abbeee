/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <stdlib.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/commands/parts/draw_flame.h"
#include "cli/debuginfod.h"
#include "cli/default_name.h"
#include "cli/options/load_options.h"
#include "cli/text/flame.h"
#include "load/load.h"
#include "view/page/flame_page.h"
#include "view/source_file.h"

enum flame_by { FLAME_BY_PROCESS, FLAME_BY_THREAD, FLAME_BY_NOTHING };

struct flame_command_options {
	const char *value;
	const char *output;
	const char *title;
	uint64_t width_px;
	double min_width_px;
	enum flame_colors colors;
	enum flame_by by;
	bool icicle;
	bool inverted;
	bool source;
	struct source_options sources;
	struct cli_load_options look;
};

static int draw(const struct command_context *context, const struct flame_command_options *options,
		const char *input, const char *output)
{
	static const enum call_tree_group groups[] = {
		CALL_TREE_BY_PROCESS,
		CALL_TREE_BY_THREAD,
		CALL_TREE_WHOLE,
	};
	struct flame_page_options view = {.graph = FLAME_OPTIONS_DEFAULT};
	struct source_search sources = cli_load_to_search(
		context, &options->sources, cli_load_asks_source(context, &options->source));
	struct debuginfod server;
	struct load_options load;
	int status = cli_load_to_load(context, &options->look, &server, &load);

	if (status != COMMAND_DONE)
		return status;
	view.graph.title = options->title;
	view.graph.width_px = (uint32_t)options->width_px;
	view.graph.min_width_px = options->min_width_px;
	view.graph.colors = options->colors;
	view.graph.value_name = options->value;
	view.graph.group = groups[options->by];
	view.graph.icicle = options->icicle;
	view.graph.inverted = options->inverted;
	view.graph.collapse_recursion = options->look.collapse_recursion;
	if (options->source)
		view.sources = &sources;
	return draw_flame(context, &load, &view, input, output, "-o FILE");
}

static int run_flame(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct flame_command_options *options = values;
	char *name = NULL;
	int status;

	if (!options->output) {
		name = default_name(argv[0], ".svg");
		if (!name)
			return command_failed(context, &(struct error){.text = "out of memory"});
	}
	status = draw(context, options, argv[0], name ? name : options->output);
	free(name);
	return status;
}

static const struct option_spec table[] = {
	{"output", 'o', OPTION_STRING(struct flame_command_options, output), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE,
	 .help = "where to write: FILE.svg, FILE.png, or FILE.html for the page; - writes SVG to "
		 "standard output (default: the recording's name with .svg)"},
	{"title", 0, OPTION_STRING(struct flame_command_options, title), .argument = "TEXT",
	 .help = "heading (default: what was recorded)"},
	{"by", 0, OPTION_ENUM(struct flame_command_options, by, "process", "thread", "nothing"),
	 .key = "view.flame_by", .help = "what the lowest row shows"},
	{"icicle", 0, OPTION_FLAG(struct flame_command_options, icicle),
	 .help = "draw the root at the top"},
	{"inverted", 0, OPTION_FLAG(struct flame_command_options, inverted),
	 .help = "start with the leaves and grow towards their callers"},
	{"value", 0, OPTION_STRING(struct flame_command_options, value), .argument = "NAME",
	 .help = "what the widths mean: samples, cpu …, as named in the first lines of wick report "
		 "(default: the main value)"},
	{"colors", 0,
	 OPTION_ENUM(struct flame_command_options, colors, "category", "module", "hash", "heat",
		     "cvd", "contrast", "language"),
	 .key = "view.colors",
	 .help = "what colours mean; heat shows self time, cvd is for the colour-blind, contrast "
		 "adds patterns"},
	{"width", 0, OPTION_U64(struct flame_command_options, width_px), .argument = "PX",
	 .min = 200, .max = 100000, .key = "view.width_px",
	 .help = "width of the picture; a browser fits it to its window"},
	{"min-width", 0, OPTION_DOUBLE(struct flame_command_options, min_width_px),
	 .argument = "PX", .max = 100, .key = "view.min_width_px",
	 .help = "leave out boxes narrower than this, and count them"},
	{"source", 0, OPTION_TOGGLE(struct flame_command_options, source), .key = "view.source",
	 .help = "include source lines around samples in the page (x.html)",
	 .default_help = "only if recording, program, debug information and source all belong to "
			 "you or root"},
	{OPTION_GROUP(struct flame_command_options, sources, source_option_table)},
	{OPTION_GROUP(struct flame_command_options, look, look_option_table), .help = "Filters"},
	OPTION_END,
};

const struct command command_flame = {
	.name = "flame",
	.summary = "draw an interactive flame graph",
	.synopsis = "[OPTIONS] FILE",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct flame_command_options),
	.defaults = &(const struct flame_command_options){.width_px = 1200,
							  .min_width_px = 0.5,
							  .source = true,
							  .look = LOOK_OPTIONS_DEFAULT},
	.min_arguments = 1,
	.max_arguments = 1,
	.argument_help = "FILE: a recording, or - for standard input",
	.argument_offer = OPTION_OFFER_FILE,
	.run = run_flame,
};
