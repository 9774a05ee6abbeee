/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/path.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/commands/parts/top_terminal.h"
#include "cli/options/attach_options.h"
#include "cli/options/load_options.h"
#include "cli/text/top.h"
#include "live/live_profile.h"
#include "live/live_session.h"
#include "load/load.h"
#include "model/profile.h"
#include "proc/cgroup_folder.h"
#include "proc/process_info.h"
#include "view/report/report.h"
#include "view/top/top_screen.h"
#include "view/top/top_state.h"
#include "view/top/top_view.h"

#define RATE_HZ 97       /* a prime: no lock-step with timers of the program */
#define PLAIN_COLUMNS 80 /* width of tables printed as text */
#define PLAIN_ROWS 33    /* 18 functions, 12 rows of the flame graph, and their headings */
#define NOTE_NS (10 * NS_PER_SEC)
#define TASK_COMM_BYTES                                                                            \
	16 /* bytes that the kernel keeps of a program's name, with the final zero */
#define BACKGROUND_NS                                                                              \
	(200 * NS_PER_MS) /* how often a background job checks whether it has the terminal */

enum top_format { TOP_FORMAT_TEXT, TOP_FORMAT_JSON };

struct top_options {
	enum engine_mode mode;
	enum top_format format;
	uint64_t frequency_hz;
	const char *engine;
	double overhead_percent;
	uint64_t depth;
	bool kernel;
	enum engine_python python;
	bool gil;
	bool children;
	bool all;
	struct attach_options attach;
	struct option_numbers tids;
	const char *cgroup;
	uint64_t window_ns;
	uint64_t interval_ns;
	uint64_t count;
	bool once;
	enum top_pane pane;
	enum top_sort sort;
	enum cli_load_names names;
	struct symbol_options symbols;
};

struct top {
	const struct command_context *context;
	const struct top_options *options;
	struct pid_list ids;
	struct load_options load;
	char title[256];
	const char *program;         /* that wick started; NULL: none */
	char comm[PROCESS_COMM_MAX]; /* name of the first process, when last read */
	char cgroup[PATH_MAX];       /* directory of the control group, if one is watched */
	struct live_profile *live;
	struct live_session *watch;
	struct top_terminal *terminal; /* NULL: not open yet, or tables are printed */
	bool in_front;                 /* we have the terminal: draw to it and read keys */
	struct top_state state;
	struct top_model model;
	struct top_screen screen;
	const struct profile *profile;
	char note[320];
	uint64_t note_end_ns; /* until when it is shown */
	bool ended;           /* the target has ended */
	bool still;           /* the view is frozen since: */
	uint64_t still_ns;
	bool shows_start; /* the profile covers everything since the start */
};

/* What is wrong with the combination of options; NULL if nothing is. */
static const char *conflict(const struct command_context *context,
			    const struct top_options *options, int argc)
{
	int targets = attach_is_asked(&options->attach) + (options->tids.count > 0) + options->all +
		      (options->cgroup != NULL);

	if (targets > 1)
		return "-p (or --name), -t, -a and --cgroup cannot be used together";
	if (attach_conflict(context, &options->attach))
		return attach_conflict(context, &options->attach);
	if (targets > 0 && argc > 0)
		return "give either -p, --name, -t, -a or --cgroup, or a program to run";
	if (targets == 0 && argc == 0)
		return "nothing to watch: give a program, -p PID, --name NAME, -t TID, -a or "
		       "--cgroup";
	if (options->format == TOP_FORMAT_JSON && options->count == 0 && !options->once)
		return "--format json needs --once or --count N";
	return NULL;
}

static void name_process(struct top *top, pid_t id)
{
	(void)snprintf(top->title, sizeof(top->title), "%s (%s %d%s)", top->comm,
		       top->options->tids.count > 0 ? "thread" : "process", (int)id,
		       top->ids.count > 1 ? ", ..." : "");
}

static void name_target(struct top *top, int argc, char **argv)
{
	if (argc > 0) {
		top->program = argv[0];
		(void)snprintf(top->title, sizeof(top->title), "%s", argv[0]);
		/* As the kernel will name it. */
		(void)snprintf(top->comm, TASK_COMM_BYTES, "%s", path_base_name(argv[0]));
	} else if (top->options->all) {
		(void)snprintf(top->title, sizeof(top->title), "whole machine");
	} else if (top->options->cgroup) {
		(void)snprintf(top->title, sizeof(top->title), "control group %s",
			       top->options->cgroup);
	} else {
		pid_t id = top->ids.items[0];

		/* If the process does not exist, the engine reports that. */
		if (process_thread_comm(id, id, top->comm, sizeof(top->comm)) < 0)
			(void)snprintf(top->comm, sizeof(top->comm), "process");
		name_process(top, id);
	}
}

/* If the process has executed another program, its name has changed. */
static void look_at_name(struct top *top)
{
	pid_t id = live_session_first_id(top->watch);
	char comm[PROCESS_COMM_MAX];

	if (id == 0 || process_thread_comm(id, id, comm, sizeof(comm)) < 0 ||
	    strcmp(comm, top->comm) == 0)
		return;
	(void)snprintf(top->comm, sizeof(top->comm), "%s", comm);
	if (top->program)
		(void)snprintf(top->title, sizeof(top->title), "%s, now %s", top->program, comm);
	else
		name_process(top, id);
}

/* Shows a note: on the screen for a while, or as a line on standard error. */
static void take_note(void *self, const char *text)
{
	struct top *top = self;

	if (!text[0])
		return;
	if (top->options->count > 0)
		command_note(top->context, "%s", text);
	(void)snprintf(top->note, sizeof(top->note), "%s", text);
	top->note_end_ns = clock_monotonic_ns() + NOTE_NS;
}

/* Whether the rate is fixed: its option has a stronger source than that of the budget. */
static bool keeps_rate(const struct top *top)
{
	return option_source_of(top->context->set, &top->options->frequency_hz) >
	       option_source_of(top->context->set, &top->options->overhead_percent);
}

/* JSON has full names unless --names short is given. */
static bool wants_short_names(const struct top *top)
{
	bool is_chosen =
		option_source_of(top->context->set, &top->options->names) != OPTION_FROM_DEFAULT;

	return top->options->names == LOOK_NAMES_SHORT &&
	       (is_chosen || top->options->format != TOP_FORMAT_JSON);
}

static int open_live(struct top *top, struct error *err)
{
	struct live_profile_config config = {
		.options = &top->load,
		.title = top->title,
		.kallsyms = "/proc/kallsyms",
		.start_ns = clock_monotonic_ns(),
	};

	top->load = (struct load_options)LOAD_OPTIONS_DEFAULT;
	/* A live view does not wait for a debuginfod server. */
	cli_load_set_symbols(top->context, &top->options->symbols, NULL, &top->load);
	top->load.kernel = top->options->kernel;
	top->load.short_names = wants_short_names(top);
	return live_profile_new(&config, &top->live, err);
}

static enum target_kind kind_of_target(const struct top_options *options)
{
	if (options->all)
		return TARGET_MACHINE;
	if (options->cgroup)
		return TARGET_CGROUP;
	if (options->tids.count > 0)
		return TARGET_THREADS;
	return attach_is_asked(&options->attach) ? TARGET_PROCESSES : TARGET_COMMAND;
}

static int open_watch(struct top *top, int argc, char **argv, int *ret_exec, struct error *err)
{
	const struct top_options *options = top->options;
	struct live_session_config config = {
		.sampling = {.mode = options->mode,
			     .may_fall_back = strcmp(options->engine, "auto") == 0,
			     .event = "cpu-clock",
			     .frequency_hz = (uint32_t)options->frequency_hz,
			     .rate_given =
				     option_source_of(top->context->set, &options->frequency_hz) !=
				     OPTION_FROM_DEFAULT,
			     .depth = (uint32_t)options->depth,
			     .stack_bytes = ENGINE_STACK_BYTES,
			     .kernel = options->kernel,
			     .python = options->python,
			     .holders_only = options->gil},
		.target = {.kind = kind_of_target(options),
			   .ids = top->ids.items,
			   .count = top->ids.count,
			   .cgroup = options->cgroup ? top->cgroup : NULL,
			   .children = options->children,
			   .program = argc > 0 ? argv[0] : NULL},
		.command = argc > 0 ? argv : NULL,
		.silent = options->count == 0,
		.pace = {.budget = options->overhead_percent / 100,
			 .keeps_rate = keeps_rate(top),
			 .notice = take_note,
			 .self = top},
		.sink = live_profile_sink(top->live),
	};
	int r;

	if (options->cgroup &&
	    cgroup_folder_find(options->cgroup, top->cgroup, sizeof(top->cgroup), err) < 0)
		return err->code;
	config.engine = engine_find(options->engine, &config.target, err);
	if (!config.engine)
		return err->code;
	r = live_session_open(&config, &top->watch, ret_exec, err);
	if (r == 0) {
		/* Another engine may have replaced the first. */
		live_profile_set_cover(top->live,
				       sample_cover_side_of(live_session_engine(top->watch)));
		take_note(top, live_session_notice(top->watch));
	}
	return r;
}

/*
 * Updates the profile if it is time to, or if another window is wanted. While the view is paused,
 * and after the target has ended, it stays as it was.
 */
static int refresh_profile(struct top *top, bool due)
{
	bool still = top->state.paused || top->ended;
	bool other = still != top->still || top->shows_start != top->state.since_start;
	uint64_t now_ns = clock_monotonic_ns();

	if (still && !top->still)
		top->still_ns = now_ns;
	top->still = still;
	if (top->state.restart)
		live_profile_restart(top->live, now_ns);
	else if (top->profile && !other && (still || !due))
		return 0;
	top->state.restart = false;
	top->shows_start = top->state.since_start;
	return live_profile_refresh(
		top->live, still ? top->still_ns : now_ns,
		top->state.since_start ? 0 : (uint32_t)(top->options->window_ns / NS_PER_SEC),
		&top->profile);
}

static void explain(struct top *top)
{
	int status = live_session_child_status(top->watch);

	if (top->ended && status >= 0)
		(void)snprintf(top->note, sizeof(top->note),
			       "the program has ended with status %d: q quits", status);
	else if (top->ended)
		(void)snprintf(top->note, sizeof(top->note), "the process has ended: q quits");
	else if (clock_monotonic_ns() >= top->note_end_ns)
		top->note[0] = '\0';
}

/* Lays out the view on a screen of this size. Returns 0 or -ENOMEM. */
static int compose(struct top *top, uint32_t columns, uint32_t rows)
{
	struct top_facts facts = {
		.title = top->title,
		.engine = live_session_engine(top->watch),
		.rate_hz = live_session_rate_hz(top->watch),
		.at_switches = top->options->mode == ENGINE_MODE_OFFCPU,
		.window_s = (uint32_t)(top->options->window_ns / NS_PER_SEC),
		.forgotten = (int64_t)live_profile_forgotten(top->live).weight,
		.note = top->terminal ? top->note : "",
		.plain = !top->terminal,
	};
	int r = top_model_make(&top->model, top->profile, &top->state,
			       top_view_flame(&top->state, columns, rows));

	if (r < 0)
		return r;
	top_screen_clear(&top->screen, columns, rows);
	top_view_put(&top->screen, &top->model, &top->state, &facts);
	return top->screen.text.failed ? -ENOMEM : 0;
}

static int draw(struct top *top, bool due, struct error *err)
{
	uint32_t columns;
	uint32_t rows;

	explain(top);
	if (due)
		look_at_name(top);
	top_terminal_size(top->terminal, &columns, &rows);
	if (refresh_profile(top, due) < 0 || compose(top, columns, rows) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	top_terminal_draw(top->terminal, &top->screen);
	return 0;
}

static void take_keys(struct top *top)
{
	uint32_t columns;
	uint32_t rows;
	uint32_t key;

	top_terminal_size(top->terminal, &columns, &rows);
	while ((key = top_terminal_key(top->terminal)) != 0)
		top_state_key(&top->state, &top->model, key, top_view_page(&top->state, rows));
}

/* Stops this program on Ctrl-Z and leaves the terminal to the shell. */
static int stand_by(struct top *top, struct error *err)
{
	if (top->in_front)
		top_terminal_leave(top->terminal);
	top->in_front = false; /* it may be continued in the background */
	return live_session_stand_by(top->watch, err);
}

/* Opens the terminal when this program is in the foreground; in the background the shell has it. */
static int look_for_terminal(struct top *top, struct error *err)
{
	bool was_in_front = top->in_front;
	int r = 0;

	top->in_front = top_terminal_is_ours();
	if (!top->in_front || was_in_front)
		return 0;
	if (top->terminal)
		top_terminal_return(top->terminal);
	else
		r = top_terminal_open(top->context->color_out, &top->terminal, err);
	return r;
}

/* Handles events; returns whether the view must be drawn again. */
static int heed(struct top *top, uint32_t events, bool *ret_redraw, struct error *err)
{
	int r = 0;

	if (events & WATCH_SUSPEND)
		r = stand_by(top, err);
	if (top->in_front && (events & WATCH_RESIZED))
		top_terminal_resize(top->terminal);
	if (top->in_front && (events & WATCH_INPUT))
		take_keys(top);
	*ret_redraw = events & (WATCH_RESIZED | WATCH_INPUT);
	if ((events & WATCH_ENDED) && !top->ended) {
		/* Shows the last profile, and keeps it. */
		if (refresh_profile(top, true) < 0)
			return error_set(err, -ENOMEM, "out of memory");
		top->ended = *ret_redraw = true;
	}
	return r;
}

static int show(struct top *top, struct error *err)
{
	uint64_t next_ns = 0;
	int r = 0;

	while (r == 0 && !top->state.quit) {
		uint64_t now_ns = clock_monotonic_ns();
		uint32_t events = 0;
		bool redraw = false;

		r = look_for_terminal(top, err);
		if (!top->in_front) {
			next_ns = 0; /* it is drawn once it is visible */
		} else if (r == 0 && now_ns >= next_ns) {
			r = draw(top, true, err);
			next_ns = now_ns + top->options->interval_ns;
		}
		if (r == 0)
			r = live_session_turn(top->watch, top->in_front ? STDIN_FILENO : -1,
					      top->in_front ? next_ns : now_ns + BACKGROUND_NS,
					      &events, err);
		if (events & WATCH_STOP)
			break;
		if (r == 0)
			r = heed(top, events, &redraw, err);
		if (r == 0 && redraw && top->in_front)
			r = draw(top, false, err);
	}
	return r;
}

/* Prints what wick report would print. */
static int put_json(struct top *top, struct bytes *text, struct error *err)
{
	struct report_options options = REPORT_OPTIONS_DEFAULT;

	options.json = true;
	options.limit = 0;
	options.by = top->state.pane == TOP_THREADS ? REPORT_BY_THREAD : REPORT_BY_FUNCTION;
	options.tree = top->state.pane == TOP_FLAME;
	return report_write(top->profile, &options, text, err);
}

static int put_table(struct top *top, struct bytes *text)
{
	int r;

	look_at_name(top);
	r = compose(top, PLAIN_COLUMNS, PLAIN_ROWS);
	if (r == 0) {
		top_screen_print(&top->screen, text);
		bytes_put_u8(text, '\n');
	}
	return r;
}

static int print_one(struct top *top, struct error *err)
{
	struct bytes text = {0};
	int r = refresh_profile(top, true);

	if (r == 0)
		r = top->options->format == TOP_FORMAT_JSON ? put_json(top, &text, err)
							    : put_table(top, &text);
	if (r < 0 || text.failed)
		r = error_set(err, -ENOMEM, "out of memory");
	else if (fwrite(text.data, 1, text.size, top->context->out) != text.size ||
		 fflush(top->context->out) != 0)
		r = error_file(err, -errno, "cannot write the result");
	bytes_fini(&text);
	return r;
}

static int print(struct top *top, struct error *err)
{
	uint64_t next_ns = clock_monotonic_ns() + top->options->interval_ns;
	uint64_t printed = 0;
	int r = 0;

	while (r == 0 && printed < top->options->count) {
		uint32_t events = 0;

		r = live_session_turn(top->watch, -1, next_ns, &events, err);
		if (r == 0 && (events & WATCH_SUSPEND))
			r = live_session_stand_by(top->watch, err);
		if (r == 0 &&
		    ((events & (WATCH_ENDED | WATCH_STOP)) || clock_monotonic_ns() >= next_ns)) {
			r = print_one(top, err);
			printed++;
			next_ns += top->options->interval_ns;
		}
		if (events & (WATCH_ENDED | WATCH_STOP))
			break;
	}
	return r;
}

static int watch_target(struct top *top, int argc, char **argv, int *ret_exec, struct error *err)
{
	int r = open_live(top, err);
	pid_t left;

	if (r == 0)
		r = open_watch(top, argc, argv, ret_exec, err);
	if (r == 0)
		r = top->options->count == 0 ? show(top, err) : print(top, err);
	/* First, so that messages can be read. */
	top_terminal_close(top->terminal);
	left = live_session_close(top->watch);
	if (left > 0)
		command_note(top->context,
			     "%s did not end on SIGTERM and keeps running as process %d: to end "
			     "it, run kill -KILL %d",
			     top->program, (int)left, (int)left);
	live_profile_free(top->live);
	top_model_fini(&top->model);
	top_screen_fini(&top->screen);
	return r;
}

static int status_of(int r, int exec_code)
{
	if (exec_code < 0)
		return exec_code == -ENOENT ? 127 : 126;
	return r == -EINVAL ? COMMAND_USAGE : COMMAND_FAILED;
}

static int run_top(const struct command_context *context, void *values, int argc, char **argv)
{
	struct top_options *options = values;
	struct top top = {.context = context, .options = options};
	const char *wrong = conflict(context, options, argc);
	struct error err = {0};
	int exec_code = 0;
	int r = 0;

	if (wrong)
		return command_misused(context, "%s", wrong);
	if (options->once)
		options->count = 1;
	if (options->count == 0 && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))) {
		(void)error_set(&err, -ENOTTY, "wick top needs a terminal");
		error_remedy(&err, "print tables with --count N, or use wick record and then wick "
				   "report");
		return command_refused(context, &err);
	}
	if (options->count == 0 && top_terminal_check(&err) < 0)
		return command_failed(context, &err);
	top.state.pane = options->pane;
	top.state.sort = options->sort;
	r = attach_find(context, &options->attach, options->children, &top.ids, &err);
	for (size_t i = 0; i < options->tids.count && r == 0; i++)
		if (vec_push(&top.ids, (pid_t)options->tids.items[i]) < 0)
			r = error_set(&err, -ENOMEM, "out of memory");
	if (r == 0) {
		name_target(&top, argc, argv);
		r = watch_target(&top, argc, argv, &exec_code, &err);
	}
	vec_fini(&top.ids);
	if (r == 0)
		return COMMAND_DONE;
	(void)command_failed(context, &err);
	return status_of(r, exec_code);
}

static const struct option_spec table[] = {
	{OPTION_GROUP(struct top_options, attach, attach_option_table)},
	{"tid", 't', OPTION_NUMBERS(struct top_options, tids), .argument = "TID[,TID...]", .min = 1,
	 .max = INT32_MAX, .help = "watch these threads only"},
	{"all", 'a', OPTION_FLAG(struct top_options, all), .help = "watch the whole machine"},
	{"cgroup", 0, OPTION_STRING(struct top_options, cgroup), .argument = "PATH",
	 .offer = OPTION_OFFER_FILE,
	 .help = "watch all processes of a control group: its directory, or its name as in "
		 "/proc/PID/cgroup"},
	{"mode", 0, OPTION_ENUM(struct top_options, mode, "cpu", "wall", "offcpu"),
	 .help = "which time to show: cpu (on a CPU), offcpu (asleep or waiting for a CPU), or "
		 "wall (both)"},
	{"frequency", 'F', OPTION_U64(struct top_options, frequency_hz), .argument = "HZ",
	 .min = 10, .max = 10000, .help = "samples per second on each busy CPU"},
	{"engine", 0,
	 OPTION_WORD(struct top_options, engine, "auto", "ebpf", "perf", "signal", "ptrace"),
	 .key = "sampling.engine",
	 .help = "how to sample; wick list engines shows what each engine can do"},
	{"overhead", 0, OPTION_DOUBLE(struct top_options, overhead_percent), .argument = "PERCENT",
	 .min = 0.1, .max = 50, .off = "off", .key = "sampling.overhead_percent",
	 .help = "limit the cost of sampling to this share of the target's CPU time: the rate "
		 "drops if the cost is higher"},
	{"depth", 0, OPTION_U64(struct top_options, depth), .argument = "N", .min = 1, .max = 1024,
	 .key = "sampling.depth", .help = "how many frames of a stack to keep"},
	{"python", 0, OPTION_ENUM(struct top_options, python, "auto", "off", "only"),
	 .key = "sampling.python",
	 .help = "how to show Python code: auto: Python calls among native frames; only: Python "
		 "calls without native frames; off: the functions of the interpreter"},
	{"gil", 0, OPTION_FLAG(struct top_options, gil),
	 .help = "show threads only while they hold the global lock (GIL) of a Python interpreter"},
	{"kernel", 0, OPTION_TOGGLE(struct top_options, kernel), .key = "sampling.kernel",
	 .help = "also sample kernel frames"},
	{"children", 0, OPTION_TOGGLE(struct top_options, children), .key = "sampling.children",
	 .help = "also watch processes that the program starts"},
	{"window", 0, OPTION_DURATION(struct top_options, window_ns), .argument = "TIME",
	 .min = 1e9, .max = LIVE_WINDOW_MAX_S * 1e9, .key = "view.top_window",
	 .help = "how much of the past to show; the key w switches to everything since the start"},
	{"interval", 0, OPTION_DURATION(struct top_options, interval_ns), .argument = "TIME",
	 .min = 1e8, .max = 3600e9, .key = "view.top_interval",
	 .help = "how often to update the screen, or to print"},
	{"view", 0, OPTION_ENUM(struct top_options, pane, "functions", "threads", "flame"),
	 .help = "what to show first: functions with a small flame graph, threads, or only the "
		 "flame graph"},
	{"sort", 0, OPTION_ENUM(struct top_options, sort, "self", "total", "name"),
	 .help = "order of the functions"},
	{"names", 0, OPTION_ENUM(struct top_options, names, "short", "full"), .key = "view.names",
	 .help = "short leaves out arguments of functions and templates; full is the default for "
		 "JSON"},
	{"count", 0, OPTION_U64(struct top_options, count), .argument = "N", .min = 1, .max = 1e9,
	 .help = "print N tables as text, one after each interval, then exit; for scripts"},
	{"once", 0, OPTION_FLAG(struct top_options, once), .help = "the same as --count 1"},
	{"format", 0, OPTION_ENUM(struct top_options, format, "text", "json"),
	 .help = "output format; JSON is that of wick report: functions, or threads with --view "
		 "threads, or the call tree with --view flame"},
	{OPTION_GROUP(struct top_options, symbols, symbol_option_table), .help = "Symbols"},
	OPTION_END,
};

const struct command command_top = {
	.name = "top",
	.summary = "show live where a program, processes or the machine spend their time",
	.synopsis = "[OPTIONS] -p PID[,PID...]\n[OPTIONS] --name NAME\n[OPTIONS] -t "
		    "TID[,TID...]\n[OPTIONS] -a\n"
		    "[OPTIONS] --cgroup PATH\n[OPTIONS] [--] PROGRAM [ARGUMENTS]",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct top_options),
	.defaults = &(const struct top_options){.frequency_hz = RATE_HZ,
						.engine = "auto",
						.overhead_percent = 2,
						.depth = 512,
						.kernel = true,
						.children = true,
						.window_ns = 10 * NS_PER_SEC,
						.interval_ns = NS_PER_SEC,
						.symbols = {.demangle = true,
							    .detail = SYMBOLS_NAMES,
							    .files = SYMBOL_FILE_OPTIONS_DEFAULT}},
	.max_arguments = -1,
	.argument_help = "PROGRAM: the program to run and watch",
	.argument_offer = OPTION_OFFER_PROGRAM,
	.runs_program = true,
	.run = run_top,
};
