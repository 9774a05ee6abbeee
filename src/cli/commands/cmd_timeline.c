/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/bytes.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/debuginfod.h"
#include "cli/options/load_options.h"
#include "cli/text/timeline.h"
#include "export/export.h"
#include "heap/heap_profile.h"
#include "heap/values.h"
#include "load/load.h"
#include "model/profile.h"
#include "view/heap/heap_timeline.h"
#include "view/timeline/timeline.h"

#define COLUMNS 60u /* if the width of a line is unknown */
#define FEWEST_COLUMNS 20u
#define MOST_COLUMNS 240u
#define BESIDE 48u /* other columns of a line: numbers before, names after */

struct timeline_command_options {
	enum timeline_by by;
	enum timeline_format format;
	uint64_t step_ns;
	uint64_t limit;
	struct cli_load_options look;
};

/* What the samples are turned into. */
struct gathering {
	struct timeline *timeline;
	struct bytes text;
	bool any;     /* gauges, which have tracks of their own */
	bool is_heap; /* without samples and gauges */
};

static int take_sample(void *self, const struct profile *profile,
		       const struct export_sample *sample, struct error *err)
{
	struct gathering *gathering = self;

	gathering->any = gathering->any || (sample && sample->kind == SCHEMA_GAUGE);
	if (sample)
		return timeline_add(gathering->timeline, profile, sample, err);
	gathering->is_heap =
		!gathering->any && heap_value_find(profile->value_types[0].name) != ID_NONE;
	return timeline_write(gathering->timeline, profile, &gathering->text, err);
}

/* As many columns as fit the terminal. */
static uint32_t columns_of(const struct command_context *context)
{
	struct winsize size;

	if (ioctl(fileno(context->out), TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return COLUMNS;
	if (size.ws_col < BESIDE + FEWEST_COLUMNS)
		return FEWEST_COLUMNS;
	return size.ws_col - BESIDE < MOST_COLUMNS ? size.ws_col - BESIDE : MOST_COLUMNS;
}

/* Live memory is known at the end of each step: a column needs several steps. */
#define HEAP_STEPS_NS (100 * NS_PER_US)

static int run_heap(const struct command_context *context, const struct timeline_options *view,
		    const struct load_options *load, const char *path)
{
	struct load_options of_heap = *load;
	struct heap_profile heap;
	struct bytes text = {0};
	struct error err = {0};
	int status;

	of_heap.damaged = NULL; /* already reported */
	of_heap.heap_step_ns = view->step_ns;
	of_heap.heap_usual_step_ns = HEAP_STEPS_NS;
	of_heap.heap_addresses = true;
	if (load_heap(path, &of_heap, &heap, &err) < 0)
		return command_failed(context, &err);
	status = heap_timeline_write(&heap, view, &text, &err) < 0 ? command_failed(context, &err)
								   : command_print(context, &text);
	bytes_fini(&text);
	heap_profile_fini(&heap);
	return status;
}

static int run_timeline(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct timeline_command_options *options = values;
	struct timeline_options view = {
		.by = options->by,
		.format = options->format,
		.from_ns = options->look.from_ns,
		.step_ns = options->step_ns,
		.columns = columns_of(context),
		.limit = cli_load_row_limit(context, &options->limit,
					    options->format != TIMELINE_TEXT),
		.color = context->color_out,
	};
	struct gathering gathering = {0};
	struct debuginfod server;
	struct load_options load;
	struct error err;
	int status = cli_load_to_load(context, &options->look, &server, &load);

	if (status != COMMAND_DONE)
		return status;
	/* Names matter only to filters. */
	if (load.only_count == 0 && load.ignore_count == 0)
		load.symbols = SYMBOLS_NAMES;
	if (options->format != TIMELINE_TEXT)
		cli_load_prefer_full_names(context, &options->look, &load);
	load.told = true;
	load.tracks = true;
	load.heap_usual_step_ns = HEAP_STEPS_NS;
	gathering.timeline = timeline_new(&view);
	if (!gathering.timeline)
		return command_failed(context, &(struct error){.text = "out of memory"});
	if (load_samples(argv[0], &load, take_sample, &gathering, &err) < 0)
		status = command_failed(context, &err);
	else if (gathering.is_heap && strcmp(argv[0], "-") != 0) /* it was read already */
		status = run_heap(context, &view, &load, argv[0]);
	else
		status = command_print(context, &gathering.text);
	timeline_free(gathering.timeline);
	bytes_fini(&gathering.text);
	return status;
}

static const struct option_spec table[] = {
	{"by", 0, OPTION_ENUM(struct timeline_command_options, by, "thread", "process", "nothing"),
	 .help = "what a row shows"},
	{"step", 0, OPTION_DURATION(struct timeline_command_options, step_ns), .argument = "TIME",
	 .min = 1, .help = "length of a step",
	 .default_help = "the time shown divided by 60, or by as many columns as fit the terminal"},
	{"limit", 'n', OPTION_U64(struct timeline_command_options, limit), .argument = "ROWS",
	 .max = 1000000, .key = "view.limit",
	 .help = "rows, the busiest first; 0 shows all, which is the default for JSON and CSV"},
	{"format", 0, OPTION_ENUM(struct timeline_command_options, format, "text", "json", "csv"),
	 .help = "output format"},
	{OPTION_GROUP(struct timeline_command_options, look, look_option_table), .help = "Filters"},
	OPTION_END,
};

const struct command command_timeline = {
	.name = "timeline",
	.summary = "show what threads did over time",
	.synopsis = "[OPTIONS] FILE",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct timeline_command_options),
	.defaults =
		&(const struct timeline_command_options){.limit = 30, .look = LOOK_OPTIONS_DEFAULT},
	.min_arguments = 1,
	.max_arguments = 1,
	.argument_help = "FILE: a recording, or - for standard input",
	.argument_offer = OPTION_OFFER_FILE,
	.run = run_timeline,
};
