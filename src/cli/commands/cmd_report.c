/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/debuginfod.h"
#include "cli/newest_recording.h"
#include "cli/options/load_options.h"
#include "cli/text/report.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "load/load.h"
#include "model/profile.h"
#include "plugin/plugins.h"
#include "view/function_match.h"
#include "view/heap/site_report.h"
#include "view/report/analyser.h"
#include "view/report/missing_names.h"
#include "view/view.h"

enum report_format { REPORT_FORMAT_TEXT, REPORT_FORMAT_JSON };

/* One above the severities of findings, because 0 is off. */
enum report_fail_on { FAIL_ON_OFF, FAIL_ON_NOTE, FAIL_ON_WARNING, FAIL_ON_ERROR };
#define FAIL_ON_WORDS "off", "note", "warning", "error"
_Static_assert((int)FAIL_ON_NOTE == (int)FINDING_NOTE + 1 &&
		       (int)FAIL_ON_ERROR == (int)FINDING_ERROR + 1,
	       "findings are compared with what is asked for");

struct report_command_options {
	const char *value;
	const char *by;
	enum report_sort sort;
	const char *analyse; /* NULL: not given */
	enum report_fail_on fail_on;
	enum report_format format;
	bool missing;
	const char *focus; /* NULL: not given */
	bool tree;
	bool inverted;
	uint64_t limit;
	uint64_t interval_ms; /* 0: not given */
	double min_percent;
	uint64_t max_depth;
	struct cli_load_options look;
};

/* Warns, once for each module, that many samples there have no name. */
static void warn(const struct command_context *context, const struct profile *profile,
		 const char *path)
{
	struct bytes text = {0};

	missing_names_put_warnings(profile, &text);
	if (text.size > 0) {
		bytes_printf(&text, "      see what would help: wick report --missing ");
		text_put_shell(&text, path);
		bytes_put_u8(&text, '\n');
	}
	command_note_text(context, &text);
	bytes_fini(&text);
}

/* Runs the analysers of a list whose name matches, even if one fails. Returns an exit status. */
static int ask(const struct command_context *context, const struct analyser_ops *const *list,
	       const char *name, const struct profile *profile, struct findings *findings)
{
	int status = COMMAND_DONE;

	for (; *list; list++) {
		struct error err = {0};

		if (strcmp(name, ANALYSERS_ALL) != 0 && strcmp(name, (*list)->name) != 0)
			continue;
		if (analyser_run(*list, profile, findings, &err) < 0)
			status = command_failed(context, &err);
	}
	return status;
}

static int gate(const struct command_context *context, const struct findings *findings,
		enum report_fail_on fail_on)
{
	static const char *const words[] = {FAIL_ON_WORDS};
	size_t count = 0;
	size_t i;

	for (i = 0; i < findings->items.count; i++)
		count += fail_on != FAIL_ON_OFF &&
			 (int)findings->items.items[i].severity + 1 >= (int)fail_on;
	if (count == 0)
		return COMMAND_DONE;
	(void)fprintf(context->err, "wick: %zu finding%s of severity %s or worse (--fail-on)\n",
		      count, count == 1 ? "" : "s", words[fail_on]);
	return COMMAND_GATE;
}

static int analyse(const struct command_context *context,
		   const struct report_command_options *options, const struct profile *profile)
{
	struct findings findings = {0};
	struct bytes text = {0};
	int own = ask(context, analysers, options->analyse, profile, &findings);
	int status = ask(context, plugins_analysers(context->plugins), options->analyse, profile,
			 &findings);

	if (status == COMMAND_DONE)
		status = own;
	if (options->format == REPORT_FORMAT_JSON)
		findings_put_json(&findings, &text);
	else if (status == COMMAND_DONE || findings.items.count > 0)
		findings_put_text(&findings, &text); /* its failure was printed */
	if (command_print(context, &text) != COMMAND_DONE)
		status = COMMAND_FAILED;
	else if (gate(context, &findings, options->fail_on) == COMMAND_GATE)
		status = COMMAND_GATE;
	bytes_fini(&text);
	findings_fini(&findings);
	return status;
}

static int run_sites(const struct command_context *context,
		     const struct report_command_options *options, const struct load_options *load,
		     const char *path)
{
	struct site_report_options view = {
		.json = options->format == REPORT_FORMAT_JSON,
		.limit = cli_load_row_limit(context, &options->limit,
					    options->format == REPORT_FORMAT_JSON),
		.from_ns = load->from_ns};
	struct load_options of_heap = *load;
	struct heap_profile heap;
	struct bytes text = {0};
	struct error err = {0};
	int status;

	of_heap.heap_step_ns = options->interval_ms * NS_PER_MS;
	of_heap.heap_usual_step_ns =
		HEAP_FINE_STEP_NS; /* short runs have spikes and steps as well */
	if (options->tree) {
		(void)error_set(&err, -EINVAL, "--by site cannot be used with --tree");
		error_remedy(&err, "remove one of them; --tree --value inuse_space shows who "
				   "calls the code that allocates");
		return command_refused(context, &err);
	}
	if (load_heap(path, &of_heap, &heap, &err) < 0)
		return command_failed(context, &err);
	status = site_report_write(&heap, &view, &text, &err) < 0 ? command_failed(context, &err)
								  : command_print(context, &text);
	bytes_fini(&text);
	heap_profile_fini(&heap);
	return status;
}

static bool sorts(const struct command_context *context,
		  const struct report_command_options *options)
{
	return option_source_of(context->set, &options->sort) != OPTION_FROM_DEFAULT;
}

/* Refuses --tree and --sort for views that do not support them. */
static int check_view(const struct command_context *context,
		      const struct report_command_options *options, const struct view_ops *view)
{
	if (view->plugin && options->tree)
		return command_misused(
			context, "--by %s is a view of a plug-in and cannot be used with --tree",
			options->by);
	if (view->plugin && sorts(context, options))
		return command_misused(
			context, "--by %s is a view of a plug-in and cannot be used with --sort",
			options->by);
	if (view->plugin)
		return COMMAND_DONE;
	if (view->by == REPORT_BY_SITE && sorts(context, options))
		return command_misused(context,
				       "--by site cannot be used with --sort: it always lists the "
				       "place that held most at the peak first");
	if (view->by == REPORT_BY_LOCK && options->tree)
		return command_misused(context, "--by lock cannot be used with --tree");
	if (options->tree && (view->by == REPORT_BY_MODULE || view->by == REPORT_BY_STATE ||
			      view->by == REPORT_BY_LINE || view->by == REPORT_BY_LANGUAGE))
		return command_misused(
			context,
			"--by %s cannot be used with --tree; use --by function, thread or process",
			options->by);
	return COMMAND_DONE;
}

/* Checks for conflicting options before anything is read. */
static int check(const struct command_context *context,
		 const struct report_command_options *options, const struct view_ops *view)
{
	if (!view)
		return command_misused(context, "unknown view %s; see: wick list views",
				       options->by);
	if (options->analyse && strcmp(options->analyse, ANALYSERS_ALL) != 0 &&
	    !plugins_find_analyser(context->plugins, options->analyse))
		return command_misused(context, "unknown analyser %s; see: wick list analysers",
				       options->analyse);
	if (options->focus &&
	    (options->tree || options->missing || options->analyse || view->plugin ||
	     view->by != REPORT_BY_FUNCTION || sorts(context, options)))
		return command_misused(context, "--focus cannot be used with --by, --sort, --tree, "
						"--missing or --analyse");
	if (options->fail_on != FAIL_ON_OFF && !options->analyse)
		return command_misused(context,
				       "--fail-on needs --analyse, for example --analyse all");
	return check_view(context, options, view);
}

/* 0 if it is not a terminal, or its width is unknown. */
static uint32_t terminal_columns(FILE *file)
{
	struct winsize size;

	return ioctl(fileno(file), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int show(const struct command_context *context, const struct report_command_options *options,
		const struct view_ops *by, const struct profile *profile, const char *path,
		const struct function_matches *focus)
{
	struct report_options view = REPORT_OPTIONS_DEFAULT;
	struct bytes text = {0};
	struct error err = {0};
	int status;
	int r;

	view.value_name = options->value;
	view.json = options->format == REPORT_FORMAT_JSON;
	view.tree = options->tree;
	view.focus = focus;
	view.sort = sorts(context, options) ? options->sort : REPORT_SORT_USUAL;
	view.inverted = options->inverted;
	view.color = context->color_out;
	view.limit =
		cli_load_row_limit(context, &options->limit, options->format == REPORT_FORMAT_JSON);
	view.columns = terminal_columns(context->out);
	view.min_percent = options->min_percent;
	view.max_depth = (uint32_t)options->max_depth;
	view.collapse_recursion = options->look.collapse_recursion;
	r = options->missing ? missing_names_write(profile, view.json, &text)
			     : view_write(by, profile, &view, &text, &err);
	if (r < 0 && options->missing)
		(void)error_errno(&err, r, "cannot list modules of the recording");
	status = r < 0 ? command_failed(context, &err) : command_print(context, &text);
	bytes_fini(&text);
	/* Notes are printed after the report has been written. */
	if (status == COMMAND_DONE && fflush(context->out) != 0) {
		(void)outfile_stdout_failed(-errno, &err);
		status = command_failed(context, &err);
	}
	if (status == COMMAND_DONE && !options->missing && !view.json)
		warn(context, profile, path);
	return status;
}

static int show_focus(const struct command_context *context,
		      const struct report_command_options *options, const struct view_ops *by,
		      const struct profile *profile, const char *path)
{
	struct function_matches found = {0};
	struct error err = {0};
	int status;
	int r = function_matches_find(profile, profile->main_value, options->focus, &found, &err);

	if (r == 0 && found.count == 0)
		r = function_matches_none(path, options->focus, &err);
	if (r == -EINVAL)
		status = command_refused(context, &err);
	else if (r < 0)
		status = command_failed(context, &err);
	else
		status = show(context, options, by, profile, path, &found);
	function_matches_fini(&found);
	return status;
}

static int run_on(const struct command_context *context,
		  const struct report_command_options *options, const char *path)
{
	const struct view_ops *view = plugins_find_view(context->plugins, options->by);
	struct debuginfod server;
	struct load_options load;
	struct profile *profile;
	struct error err = {0};
	int status = check(context, options, view);

	if (status == COMMAND_DONE)
		status = cli_load_to_load(context, &options->look, &server, &load);
	if (status != COMMAND_DONE)
		return status;
	if (options->format == REPORT_FORMAT_JSON)
		cli_load_prefer_full_names(context, &options->look, &load);
	if (view->by == REPORT_BY_SITE && !options->missing && !options->analyse)
		return run_sites(context, options, &load, path);
	if (options->format == REPORT_FORMAT_TEXT && !options->analyse && !options->missing)
		load.damaged = NULL; /* the report shows it */
	if (load_profile(path, &load, &profile, &err) < 0)
		return command_failed(context, &err);
	if (options->analyse)
		status = analyse(context, options, profile);
	else if (options->focus)
		status = show_focus(context, options, view, profile, path);
	else
		status = show(context, options, view, profile, path, NULL);
	profile_free(profile);
	return status;
}

static int run_report(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct report_command_options *options = values;
	char *newest = NULL;
	struct error err = {0};
	int status;

	if (argc > 0)
		return run_on(context, options, argv[0]);
	status = check(context, options, plugins_find_view(context->plugins, options->by));
	if (status != COMMAND_DONE)
		return status;
	if (newest_recording(".", &newest, &err) < 0)
		return command_refused(context, &err);
	command_note(context, "using %s, the newest recording in this directory", newest);
	status = run_on(context, options, newest);
	free(newest);
	return status;
}

static const struct option_spec table[] = {
	{"by", 0, OPTION_STRING(struct report_command_options, by),
	 .words = (const char *const[]){"function", "module", "thread", "process", "state", "line",
					"site", "lock", "language", NULL},
	 .more_words = true,
	 .help = "what a row shows: function, module, thread, process; state: what threads were "
		 "doing (on CPU, sleeping, waiting for a CPU …); line: a source line; site: a "
		 "place that allocates (wick heap); lock: what threads waited for (--mode offcpu "
		 "and wall); language: Python, C, kernel …; or a view of a plug-in, see: wick list "
		 "views"},
	{"sort", 0, OPTION_ENUM(struct report_command_options, sort, "self", "total", "samples"),
	 .help = "what to list first: the largest self, total or number of samples; in a tree, "
		 "this sorts siblings, and total is the default"},
	{"missing", 0, OPTION_FLAG(struct report_command_options, missing),
	 .help = "list modules without names or lines, by the samples affected, and what would "
		 "help"},
	{"analyse", 0, OPTION_STRING(struct report_command_options, analyse), .argument = "NAME",
	 .words = (const char *const[]){ANALYSERS_ALL, "missing", NULL}, .more_words = true,
	 .help = "show the findings of one analyser, or of all, instead of a table; see: wick list "
		 "analysers"},
	{"analyze", 0, OPTION_ALIAS("analyse")},
	{"fail-on", 0, OPTION_ENUM(struct report_command_options, fail_on, FAIL_ON_WORDS),
	 .help = "with --analyse: exit with status 3 if there is a finding of this severity or "
		 "worse"},
	{"focus", 0, OPTION_STRING(struct report_command_options, focus), .argument = "FUNCTION",
	 .help = "show who calls this function and what it calls, with the cost of each; /RE/ "
		 "chooses functions by a regular expression"},
	{"tree", 0, OPTION_FLAG(struct report_command_options, tree),
	 .help = "show the call tree instead of a table; with --by thread or process, one tree for "
		 "each"},
	{"inverted", 0, OPTION_FLAG(struct report_command_options, inverted),
	 .help = "with --tree: start at the hot functions and show their callers"},
	{"value", 0, OPTION_STRING(struct report_command_options, value), .argument = "NAME",
	 .help = "what to add up: samples, cpu …, as named in the first lines of the report "
		 "(default: the main value)"},
	{"limit", 'n', OPTION_U64(struct report_command_options, limit), .argument = "ROWS",
	 .max = 1000000, .key = "view.limit",
	 .help = "rows of the table; 0 shows all, which is the default for JSON"},
	{"interval", 0, OPTION_U64(struct report_command_options, interval_ms), .argument = "MS",
	 .min = 1, .max = HEAP_INTERVAL_MAX_MS,
	 .help = "with --by site: time step of the analysis of growth, in milliseconds",
	 .default_help = "the --interval of wick heap, else 1, and more for long recordings"},
	{"min-percent", 0, OPTION_DOUBLE(struct report_command_options, min_percent),
	 .argument = "PCT", .max = 100, .key = "view.min_percent",
	 .help = "with --tree: count smaller parts in one line at the end instead of showing them"},
	{"max-depth", 0, OPTION_U64(struct report_command_options, max_depth), .argument = "N",
	 .max = 100000, .key = "view.max_depth",
	 .help = "with --tree: count deeper parts instead of showing them; 0 shows all"},
	{"format", 0, OPTION_ENUM(struct report_command_options, format, "text", "json"),
	 .help = "output format"},
	{OPTION_GROUP(struct report_command_options, look, look_option_table), .help = "Filters"},
	OPTION_END,
};

const struct command command_report = {
	.name = "report",
	.summary = "show where the time went: functions, call tree, modules, threads",
	.synopsis = "[OPTIONS] [FILE]",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct report_command_options),
	.defaults = &(const struct report_command_options){.by = "function",
							   .limit = 30,
							   .min_percent = 0.5,
							   .max_depth = 60,
							   .look = LOOK_OPTIONS_DEFAULT},
	.min_arguments = 0,
	.max_arguments = 1,
	.argument_help = "FILE: a recording, or - for standard input (default: the newest .wick "
			 "file in this directory)",
	.argument_offer = OPTION_OFFER_FILE,
	.has_gates = true,
	.run = run_report,
};
