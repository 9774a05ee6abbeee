/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "cli/command.h"
#include "cli/commands/parts/draw_flame.h"
#include "cli/debuginfod.h"
#include "cli/default_name.h"
#include "cli/options/load_options.h"
#include "cli/text/heap_report.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "load/load.h"
#include "model/profile.h"
#include "view/heap/page/heap_page.h"

struct heap_report_options {
	const char *output;
	const char *title;
	uint64_t interval_ms; /* 0: not given */
	struct cli_load_options look;
};

static int write_page(const struct command_context *context,
		      const struct heap_report_options *options, const struct load_options *load,
		      const char *input, const char *output)
{
	struct heap_page_options view = {.title = options->title};
	struct heap_profile heap = {0};
	struct bytes text = {0};
	struct error err = {0};
	int r = load_heap(input, load, &heap, &err);

	if (r == 0)
		r = heap_page_write(&heap, &view, &text, &err);
	if (r == 0)
		r = outfile_write(output, "-o FILE", text.data, text.size, &err);
	if (r == 0 && strcmp(output, "-") != 0)
		draw_flame_print_written(context, output);
	if (r == 0 && heap.profile->entries.count == 0)
		command_note(
			context,
			"the page lists no places that allocate: the filters removed all of them");
	bytes_fini(&text);
	heap_profile_fini(&heap);
	return r < 0 ? command_failed(context, &err) : COMMAND_DONE;
}

static int run_heap_report(const struct command_context *context, void *values, int argc,
			   char **argv)
{
	const struct heap_report_options *options = values;
	char *name = options->output ? strdup(options->output) : default_name(argv[0], ".html");
	struct debuginfod server;
	struct load_options load;
	int status;

	if (!name)
		return command_failed(context, &(struct error){.text = "out of memory"});
	status = cli_load_check_output(context, argv[0], name, "-o FILE");
	if (status == COMMAND_DONE && strcmp(name, "-") != 0 && !draw_flame_is_page(name))
		status = command_misused(
			context, "%s: a heap report is an HTML page: use a name that ends in .html",
			name);
	if (status == COMMAND_DONE)
		status = cli_load_to_load(context, &options->look, &server, &load);
	if (status == COMMAND_DONE) {
		load.heap_step_ns = options->interval_ms * NS_PER_MS;
		load.heap_usual_step_ns = HEAP_FINE_STEP_NS;
		load.heap_addresses = true;
		status = write_page(context, options, &load, argv[0], name);
	}
	free(name);
	return status;
}

static const struct option_spec table[] = {
	{"output", 'o', OPTION_STRING(struct heap_report_options, output), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE,
	 .help = "where to write; - is standard output (default: the recording's name with .html)"},
	{"title", 0, OPTION_STRING(struct heap_report_options, title), .argument = "TEXT",
	 .help = "heading (default: what was recorded)"},
	{"interval", 0, OPTION_U64(struct heap_report_options, interval_ms), .argument = "MS",
	 .min = 1, .max = HEAP_INTERVAL_MAX_MS, .help = "step of the timeline in milliseconds",
	 .default_help = "the --interval of wick heap, else 1, and more for long recordings"},
	{OPTION_GROUP(struct heap_report_options, look, look_option_table), .help = "Filters"},
	OPTION_END,
};

const struct command command_heap_report = {
	.name = "heap-report",
	.summary = "write a page about a heap recording: peak, places, timeline",
	.synopsis = "[OPTIONS] FILE",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct heap_report_options),
	.defaults = &(const struct heap_report_options){.look = LOOK_OPTIONS_DEFAULT},
	.min_arguments = 1,
	.max_arguments = 1,
	.argument_help = "FILE: a recording, or - for standard input",
	.argument_offer = OPTION_OFFER_FILE,
	.run = run_heap_report,
};
