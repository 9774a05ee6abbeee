/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/debuginfod.h"
#include "cli/options/leak_options.h"
#include "cli/options/load_options.h"
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

static int run(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct leaks_options *options = values;
	struct suppressions rules;
	struct debuginfod server;
	struct load_options load;
	int status = leak_options_read(context, &options->leaks, &rules);

	if (status == COMMAND_DONE)
		status = cli_load_to_load(context, &options->look, &server, &load);
	/* Rules have names as they were written down. */
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
	 .help = "the callers of each place as a tree below it"},
	{"all", 0, OPTION_FLAG(struct leaks_options, all),
	 .help = "also blocks that lost ones lead to, and those that are still reachable"},
	{"limit", 'n', OPTION_U64(struct leaks_options, limit), .argument = "ROWS", .max = 1000000,
	 .key = "view.limit", .help = "rows of the table; 0 shows all, as JSON does unless told"},
	{"format", 0, OPTION_ENUM(struct leaks_options, format, "text", "json"),
	 .help = "how to print"},
	{OPTION_GROUP(struct leaks_options, leaks, leak_option_table), .help = "Leaks"},
	{OPTION_GROUP(struct leaks_options, look, look_option_table), .help = "Filters"},
	OPTION_END,
};

const struct command command_leaks = {
	.name = "leaks",
	.summary = "show what a recorded heap has lost: class, confidence, evidence, place",
	.synopsis = "[OPTIONS] FILE",
	.description =
		(const char *const[]){
			"Lists the blocks that leak scans of a recording found to be lost, by the "
			"places that allocated them, each with how sure it is that it is a leak (0 "
			"to 1) and why. Scans are made by wick heap --leaks.",
			"Classes: definite: nothing points to it. indirect: only lost blocks lead "
			"to it; its bytes are shown with those. probable: only what is no longer "
			"in use points to it, freed memory or a dead part of a stack. possible: "
			"pointers lead into it, none to where it begins. reachable: the program "
			"can still get there; lifetime: of these, what was allocated in the first "
			"fifth of the run. growth: it is reachable or was not scanned, and its "
			"place grows without bound. unscanned: not freed, by a process without a "
			"scan, one that was killed for example.",
			"Stacks are one row when they agree in the line that allocates, allocators "
			"passed over, and in the functions of its three next callers; those that "
			"were cut off before, in what there is of them. Of each process the last "
			"scan counts.",
			"Rules of suppression are in docs/user/suppressions.md; files of "
			"LeakSanitizer "
			"and of valgrind are read as they are. What each rule suppressed is told, "
			"and which ones matched nothing.",
			"The exit status is 3 when --fail-on or --max-leak has tripped, and 1 when "
			"they cannot be judged because there was no scan, or a process that has "
			"not freed all of its blocks was not scanned.",
			NULL,
		},
	.examples =
		(const struct command_example[]){
			{"wick leaks app.wick", "what is lost, the surest and largest first"},
			{"wick leaks --tree app.wick", "with the stacks"},
			{"wick leaks --gen-suppressions app.wick > known.supp",
			 "rules for all that is known by now"},
			{"wick leaks --suppressions known.supp --fail-on definite app.wick",
			 "a test that fails on new leaks"},
			{NULL, NULL},
		},
	.options = table,
	.options_size = sizeof(struct leaks_options),
	.defaults = &(const struct leaks_options){.limit = 30, .look = LOOK_OPTIONS_DEFAULT},
	.min_arguments = 1,
	.max_arguments = 1,
	.argument_help = "FILE: a recording, or - for standard input",
	.argument_offer = OPTION_OFFER_FILE,
	.has_gates = true,
	.run = run,
};
