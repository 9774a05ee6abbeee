/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/path.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/commands/parts/draw_flame.h"
#include "cli/debuginfod.h"
#include "cli/options/load_options.h"
#include "cli/text/diff.h"
#include "load/load.h"
#include "model/profile.h"
#include "view/diff/diff.h"
#include "view/diff/diff_gate.h"
#include "view/page/flame_page.h"
#include "view/report/missing_names.h"
#include "view/report/report_text.h"

enum diff_by { DIFF_BY_NOTHING, DIFF_BY_PROCESS };
enum diff_colors { DIFF_COLORS_RED_BLUE, DIFF_COLORS_CVD };

struct diff_command_options {
	const char *output;
	enum diff_format format;
	enum diff_sort sort;
	uint64_t limit;
	bool absolute;
	bool normalized;
	bool all;
	struct option_list gates;
	double confidence_percent;
	const char *title;
	enum diff_by by;
	enum diff_colors colors;
	bool icicle;
	bool inverted;
	uint64_t width_px;
	double min_width_px;
	struct cli_load_options look;
};

/* Everything that one comparison owns. */
struct comparison {
	struct profile *sides[2];
	struct diff diff;
	struct diff_gate *gates;
	struct diff_verdict *verdicts;
	size_t gate_count;
};

static void comparison_fini(struct comparison *comparison)
{
	size_t i;

	diff_fini(&comparison->diff);
	for (i = 0; i < comparison->gate_count; i++)
		diff_gate_fini(&comparison->gates[i]);
	free(comparison->gates);
	free(comparison->verdicts);
	profile_free(comparison->sides[0]);
	profile_free(comparison->sides[1]);
}

/* Reports mistakes on the command line before any file is read. */
static int check(const struct command_context *context, const struct diff_command_options *options,
		 char **files)
{
	int i;

	if (options->absolute && options->normalized)
		return command_misused(context,
				       "--absolute and --normalized cannot be used together");
	if (strcmp(files[0], "-") == 0 && strcmp(files[1], "-") == 0)
		return command_misused(context, "only one of the two files can be standard input");
	if (options->output && draw_flame_refuses(options->output))
		return command_misused(context, "%s: %s", options->output,
				       draw_flame_refuses(options->output));
	for (i = 0; options->output && i < 2; i++) {
		int status = cli_load_check_output(context, files[i], options->output, "-o FILE");

		if (status != COMMAND_DONE)
			return status;
	}
	return COMMAND_DONE;
}

static int parse_gates(const struct command_context *context,
		       const struct diff_command_options *options, struct comparison *comparison)
{
	struct error err = {0};
	size_t i;

	comparison->gates = calloc(options->gates.count + 1, sizeof(*comparison->gates));
	comparison->verdicts = calloc(options->gates.count + 1, sizeof(*comparison->verdicts));
	if (!comparison->gates || !comparison->verdicts) {
		(void)error_set(&err, -ENOMEM, "out of memory");
		return command_failed(context, &err);
	}
	for (i = 0; i < options->gates.count; i++) {
		struct diff_gate *gate = &comparison->gates[i];

		if (diff_gate_init(gate, options->gates.items[i], &err) < 0)
			return command_refused(context, &err);
		comparison->gate_count++;
		if (gate->points && options->absolute)
			return command_misused(context,
					       "%s: percentage points (pp) need shares, but "
					       "--absolute compares amounts",
					       gate->text);
	}
	return COMMAND_DONE;
}

static int load(struct comparison *comparison, const struct diff_command_options *options,
		const struct load_options *load_options, char **files, struct error *err)
{
	const char *names[2];
	int i;

	for (i = 0; i < 2; i++) {
		int r = load_profile(files[i], load_options, &comparison->sides[i], err);

		if (r < 0)
			return r;
		names[i] = strcmp(files[i], "-") ? files[i] : "standard input";
	}
	return diff_init(&comparison->diff, (const struct profile *const *)comparison->sides, names,
			 options->absolute     ? DIFF_AMOUNTS
			 : options->normalized ? DIFF_SHARES
					       : DIFF_USUAL,
			 err);
}

/* Whether a gate can judge a side; to compare amounts, the recording must be complete. */
static int check_side(const struct comparison *comparison, size_t side, struct error *err)
{
	const struct profile_quality *quality = &comparison->sides[side]->quality;
	const char *why = quality->in_file == 0 ? "has no samples"
			  : quality->incomplete && comparison->diff.absolute
				  ? "was cut off, or is still being written"
				  : NULL;

	if (!why)
		return 0;
	return error_advise(
		err,
		error_set(err, -ENODATA, "%s %s: no gate can be checked",
			  comparison->diff.names[side], why),
		"record it again; wick info --check FILE shows what a recording contains");
}

static int judge(struct comparison *comparison, const struct diff_command_options *options,
		 struct error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; i < 2 && comparison->gate_count > 0 && r == 0; i++)
		r = check_side(comparison, i, err);
	for (i = 0; i < comparison->gate_count && r == 0; i++)
		r = diff_gate_check(&comparison->gates[i], &comparison->diff,
				    options->confidence_percent / 100, &comparison->verdicts[i],
				    err);
	return r;
}

/* Whether a profile covers a whole run of a program that wick started: it can be repeated. */
static bool is_run(const struct profile *profile)
{
	bool has_command = false;
	bool has_engine = false;
	size_t i;

	for (i = 0; i < profile->facts.count; i++) {
		const char *key = profile_text(profile, profile->facts.items[i].key);

		has_command |= strcmp(key, "command") == 0;
		has_engine |= strcmp(key, "engine") == 0; /* files of perf have a command too */
	}
	return has_command && has_engine;
}

/* For people, the table shows amounts if it can; gates and programs always get shares. */
static bool shows_amounts(const struct diff_command_options *options,
			  const struct comparison *comparison)
{
	if (options->format != DIFF_TEXT || options->normalized)
		return comparison->diff.absolute;
	return comparison->diff.absolute ||
	       (is_run(comparison->sides[0]) && is_run(comparison->sides[1]));
}

static int print_table(const struct command_context *context,
		       const struct diff_command_options *options,
		       const struct comparison *comparison)
{
	struct diff_options view = {
		.format = options->format,
		.sort = options->sort,
		.color = context->color_out,
		.all = options->all,
		.limit = cli_load_row_limit(context, &options->limit, options->format != DIFF_TEXT),
		.verdicts = comparison->verdicts,
		.verdict_count = comparison->gate_count,
	};
	struct diff shown = comparison->diff; /* borrows */
	struct bytes text = {0};
	struct error err;
	int status;

	shown.absolute = shows_amounts(options, comparison);
	status = diff_write(&shown, &view, &text, &err) < 0 ? command_failed(context, &err)
							    : command_print(context, &text);
	bytes_fini(&text);
	/* Gates are reported after the table has been written. */
	if (status == COMMAND_DONE && fflush(context->out) != 0) {
		(void)outfile_stdout_failed(-errno, &err);
		status = command_failed(context, &err);
	}
	return status;
}

static int draw(const struct command_context *context, const struct diff_command_options *options,
		const struct comparison *comparison)
{
	const char *before = path_base_name(comparison->diff.names[0]);
	const char *after = path_base_name(comparison->diff.names[1]);
	struct flame_page_options view = {.graph = FLAME_OPTIONS_DEFAULT};
	struct bytes title = {0};
	int status;

	if (strcmp(before, after) == 0) { /* files of the same name in two directories */
		before = comparison->diff.names[0];
		after = comparison->diff.names[1];
	}
	bytes_printf(&title, "%s → %s", before, after);
	bytes_put_u8(&title, '\0');
	view.sides[0] = before;
	view.sides[1] = after;
	view.graph.title = title.failed ? "" : (const char *)title.data;
	if (options->title)
		view.graph.title = options->title;
	view.graph.width_px = (uint32_t)options->width_px;
	view.graph.min_width_px = options->min_width_px;
	view.graph.colors = options->colors == DIFF_COLORS_CVD ? FLAME_COLORS_ORANGE_BLUE
							       : FLAME_COLORS_RED_BLUE;
	view.graph.group = options->by == DIFF_BY_PROCESS ? CALL_TREE_BY_PROCESS : CALL_TREE_WHOLE;
	view.graph.icicle = options->icicle;
	view.graph.inverted = options->inverted;
	view.graph.collapse_recursion = options->look.collapse_recursion;
	view.graph.pair = true;
	view.graph.sides[0] = comparison->sides[0];
	view.graph.sides[1] = comparison->sides[1];
	view.graph.absolute = comparison->diff.absolute;
	status = draw_flame_of(context, comparison->diff.pair.both, &view, options->output,
			       "-o FILE");
	bytes_fini(&title);
	return status;
}

/* Reports modules of either side that have no names: their functions cannot be matched. */
static void warn(const struct command_context *context, const struct comparison *comparison)
{
	struct bytes text = {0};
	int i;

	for (i = 0; i < 2; i++) {
		size_t size = text.size;

		missing_names_put_warnings(comparison->sides[i], &text);
		if (text.size == size)
			continue;
		bytes_printf(&text, "      in ");
		text_put_terminal(&text, comparison->diff.names[i]);
		bytes_printf(&text,
			     "; give the directory of the old program with --symbol-path DIR\n");
	}
	command_note_text(context, &text);
	bytes_fini(&text);
}

/* Returns COMMAND_GATE if one tripped, COMMAND_FAILED if one cannot be judged. */
static int print_verdicts(const struct command_context *context,
			  const struct comparison *comparison)
{
	int status = COMMAND_DONE;
	size_t i;

	for (i = 0; i < comparison->gate_count; i++) {
		const struct diff_verdict *verdict = &comparison->verdicts[i];
		struct bytes line = {0};

		bytes_printf(&line, "wick: ");
		diff_verdict_put(verdict, &line);
		bytes_put_u8(&line, '\n');
		if (!diff_verdict_is_judged(verdict))
			bytes_printf(&line, "      check the spelling against wick report; if "
					    "names are missing, use --symbol-path DIR\n");
		if (!line.failed) /* the exit status shows it too */
			(void)fwrite(line.data, 1, line.size, context->err);
		bytes_fini(&line);
		if (verdict->tripped)
			status = COMMAND_GATE;
		else if (status == COMMAND_DONE && !diff_verdict_is_judged(verdict))
			status = COMMAND_FAILED;
	}
	return status;
}

/* Whether a gate names a function with its arguments. */
static bool has_full_gates(const struct comparison *comparison)
{
	size_t i;

	for (i = 0; i < comparison->gate_count; i++)
		if (comparison->gates[i].subject == GATE_FUNCTION &&
		    cli_load_pattern_is_full(comparison->gates[i].name,
					     comparison->gates[i].is_expression))
			return true;
	return false;
}

static int compare(const struct command_context *context,
		   const struct diff_command_options *options, struct comparison *comparison,
		   char **files)
{
	struct debuginfod server;
	struct load_options load_options;
	struct error err = {0};
	int status = cli_load_to_load(context, &options->look, &server, &load_options);
	int gates;

	if (status != COMMAND_DONE)
		return status;
	if (options->format != DIFF_TEXT || has_full_gates(comparison))
		cli_load_prefer_full_names(context, &options->look, &load_options);
	load_options.slices = true;
	if (load(comparison, options, &load_options, files, &err) < 0 ||
	    judge(comparison, options, &err) < 0)
		return command_failed(context, &err);
	/* Standard output gets either the graph or the table. */
	if (!options->output || strcmp(options->output, "-") != 0)
		status = print_table(context, options, comparison);
	if (options->output && status == COMMAND_DONE)
		status = draw(context, options, comparison);
	if (options->format == DIFF_TEXT)
		warn(context, comparison);
	gates = print_verdicts(context, comparison);
	return gates == COMMAND_GATE || status == COMMAND_DONE ? gates : status;
}

static int run_diff(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct diff_command_options *options = values;
	struct comparison comparison = {0};
	int status = check(context, options, argv);

	if (status == COMMAND_DONE)
		status = parse_gates(context, options, &comparison);
	if (status == COMMAND_DONE)
		status = compare(context, options, &comparison, argv);
	comparison_fini(&comparison);
	return status;
}

static const struct option_spec graph_table[] = {
	{"title", 0, OPTION_STRING(struct diff_command_options, title), .argument = "TEXT",
	 .help = "heading (default: the names of the files)"},
	{"by", 0, OPTION_ENUM(struct diff_command_options, by, "nothing", "process"),
	 .help = "what the lowest row shows"},
	{"icicle", 0, OPTION_FLAG(struct diff_command_options, icicle),
	 .help = "draw the root at the top"},
	{"inverted", 0, OPTION_FLAG(struct diff_command_options, inverted),
	 .help = "start with the leaves and grow towards their callers"},
	{"colors", 0, OPTION_ENUM(struct diff_command_options, colors, "red-blue", "cvd"),
	 .key = "view.diff_colors",
	 .help = "growth is red or, for the colour-blind, orange; shrinking is blue"},
	{"width", 0, OPTION_U64(struct diff_command_options, width_px), .argument = "PX",
	 .min = 200, .max = 100000, .key = "view.width_px",
	 .help = "width of the picture; a browser fits it to its window"},
	{"min-width", 0, OPTION_DOUBLE(struct diff_command_options, min_width_px), .argument = "PX",
	 .max = 100, .key = "view.min_width_px",
	 .help = "leave out boxes narrower than this, and count them"},
	OPTION_END,
};

static const struct option_spec table[] = {
	{"output", 'o', OPTION_STRING(struct diff_command_options, output), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE,
	 .help = "also draw a differential flame graph: FILE.svg or FILE.png, or the page "
		 "FILE.html with both side by side; - writes the SVG to standard output instead of "
		 "the table"},
	{"absolute", 0, OPTION_FLAG(struct diff_command_options, absolute),
	 .help = "compare amounts, such as CPU time: for the same work done twice"},
	{"normalized", 0, OPTION_FLAG(struct diff_command_options, normalized),
	 .help = "compare shares of the whole, regardless of duration and rate (default for "
		 "profiles that count samples, except in the table if wick started both "
		 "programs: it then compares amounts)"},
	{"sort", 0,
	 OPTION_ENUM(struct diff_command_options, sort, "self", "total", "before", "after", "name"),
	 .help = "what to list first: the largest change of self or total, up or down; the largest "
		 "total before or after; or sort by name"},
	{"all", 0, OPTION_FLAG(struct diff_command_options, all),
	 .help = "also list functions whose change may be noise (less than 95 % sure)"},
	{"limit", 'n', OPTION_U64(struct diff_command_options, limit), .argument = "ROWS",
	 .max = 1000000, .key = "view.limit",
	 .help = "rows of the table; 0 shows all, which is the default for JSON and CSV"},
	{"format", 0, OPTION_ENUM(struct diff_command_options, format, "text", "json", "csv"),
	 .help = "output format of the table"},
	{"fail-if", 0, OPTION_LIST(struct diff_command_options, gates), .argument = "GATE",
	 .help = "exit with status 3 if something grew: 'FUNC>+5%', 'total>+3%' (see above)"},
	{"confidence", 0, OPTION_DOUBLE(struct diff_command_options, confidence_percent),
	 .argument = "PCT", .min = 50, .max = 99.9999,
	 .help = "how certain it must be that a gate's limit is exceeded"},
	/* Without an offset: its options are members of the same struct. */
	{.kind = OPTION_KIND_GROUP, .table = graph_table, .help = "Flame graph"},
	{OPTION_GROUP(struct diff_command_options, look, look_option_table), .help = "Filters"},
	OPTION_END,
};

const struct command command_diff = {
	.name = "diff",
	.summary = "compare two recordings, and fail when something became slower",
	.synopsis = "[OPTIONS] BEFORE AFTER",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct diff_command_options),
	.defaults = &(const struct diff_command_options){.limit = 30,
							 .confidence_percent = 99,
							 .width_px = 1200,
							 .min_width_px = 0.5,
							 .look = LOOK_OPTIONS_DEFAULT},
	.min_arguments = 2,
	.max_arguments = 2,
	.argument_help =
		"BEFORE, AFTER: recordings or profiles in other formats; - for standard input",
	.argument_offer = OPTION_OFFER_FILE,
	.has_gates = true,
	.run = run_diff,
};
