/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/scope.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/commands/parts/draw_flame.h"
#include "cli/commands/parts/live_page.h"
#include "cli/commands/parts/page_url.h"
#include "cli/commands/parts/record_output.h"
#include "cli/commands/parts/record_summary.h"
#include "cli/debuginfod.h"
#include "cli/default_name.h"
#include "cli/options/attach_options.h"
#include "cli/options/listen_option.h"
#include "cli/options/load_options.h"
#include "cli/text/record.h"
#include "load/load.h"
#include "proc/cgroup_folder.h"
#include "proc/process_info.h"
#include "record/flight_recorder.h"
#include "record/record.h"
#include "view/page/flame_page.h"
#include "view/source_file.h"

#define RATE_HZ 997 /* primes avoid lock-step with timers of the program */
#define RATE_MACHINE_HZ 97
#define DEFAULT_EVENT "cpu-clock"

/* Which samples are lost when a buffer is full. */
enum overflow { OVERFLOW_DROP_NEW, OVERFLOW_OVERWRITE_OLD };

#define HEAP_ENGINE "signal" /* the one that runs inside the program */

struct record_options {
	uint64_t frequency_hz;
	uint64_t period;
	uint64_t duration_ns;
	uint64_t delay_ns;
	double overhead_percent;
	double breaker_percent;
	uint64_t last_ns;
	const char *output;
	const char *engine;
	const char *event;
	bool heap;
	enum engine_mode mode;
	uint64_t least_away_ns;
	bool wakers;
	const char *cgroup;
	uint64_t depth;
	enum engine_unwind unwind;
	enum engine_python python;
	bool gil;
	uint64_t stack_bytes;
	enum overflow on_overflow;
	bool kernel;
	bool children;
	bool arguments;
	bool all;
	struct attach_options attach;
	struct option_numbers tids;
	struct option_list labels;
	const char *flame;
	const char *live; /* [ADDRESS:]PORT; NULL: no page */
	bool source;
	bool quiet;
	struct symbol_options symbols; /* for the summary and the flame graph */
};

struct recording {
	struct record_output messages; /* first: its callbacks receive this struct */
	const struct command_context *context;
	const struct record_options *options;
	struct record_config config;
	struct pid_list ids;
	char *output;
	char *written; /* the file that --last wrote most recently; NULL: none yet */
	char *title;
	char cgroup[PATH_MAX];   /* directory of the control group, if one is recorded */
	struct error why_lesser; /* why the first engine is not used */
	struct live_page page;
};

/* Which other option conflicts with --heap; NULL if none does. */
static const char *heap_conflict(const struct record_options *options, bool attaches)
{
	if (attaches)
		return "--heap needs a program that wick starts: remove the options that attach to "
		       "processes";
	if (strcmp(options->engine, "auto") != 0 && strcmp(options->engine, HEAP_ENGINE) != 0)
		return "--heap needs the signal engine: remove --engine";
	if (options->last_ns > 0)
		return "--last records only samples: remove --heap";
	return NULL;
}

/* Which options about the output conflict; NULL if none do. */
static const char *output_conflict(const struct record_options *options)
{
	bool to_stdout = options->output && outfile_is_stdout(options->output);

	if (options->flame && to_stdout)
		return "--flame reads the recording again: write it to a file with -o FILE";
	if (options->last_ns > 0 && to_stdout)
		return "--last writes whole files: name one with -o FILE";
	if (options->live && to_stdout)
		return "--live reads the recording while it is made: write it to a file with -o "
		       "FILE";
	if (options->live && options->last_ns > 0)
		return "--last writes nothing until it is asked to: remove --live";
	if (options->flame && options->output && strcmp(options->output, options->flame) == 0)
		return "-o and --flame name the same file";
	if (options->flame && draw_flame_refuses(options->flame))
		return draw_flame_refuses(options->flame);
	return NULL;
}

/* What is wrong with the combination of options; NULL if nothing is. */
static const char *conflict(const struct command_context *context,
			    const struct record_options *options, int argc)
{
	int targets = attach_is_asked(&options->attach) + (options->tids.count > 0) + options->all +
		      (options->cgroup != NULL);

	if (targets == 0 && argc == 0)
		return "nothing to record: give a program, -p PID, --name NAME, -t TID, -a or "
		       "--cgroup";
	if (targets > 1)
		return "-p (or --name), -t, -a and --cgroup cannot be used together";
	if ((attach_is_asked(&options->attach) || options->tids.count > 0) && argc > 0)
		return "give either -p, --name or -t to attach, or a program to run";
	if (attach_conflict(context, &options->attach))
		return attach_conflict(context, &options->attach);
	if (options->mode != ENGINE_MODE_CPU && strcmp(options->event, DEFAULT_EVENT) != 0)
		return "--mode wall and offcpu record time, not events: remove -e";
	if (options->least_away_ns > 0 && options->mode == ENGINE_MODE_CPU &&
	    option_source_of(context->set, &options->least_away_ns) == OPTION_FROM_COMMAND_LINE)
		return "--min-block needs --mode offcpu or --mode wall";
	if (options->gil && options->python == ENGINE_PYTHON_OFF)
		return "--gil does not work with --python off";
	if (options->wakers && options->mode == ENGINE_MODE_CPU &&
	    option_source_of(context->set, &options->wakers) == OPTION_FROM_COMMAND_LINE)
		return "--waker needs --mode offcpu or --mode wall";
	if (options->heap && heap_conflict(options, targets > 0))
		return heap_conflict(options, targets > 0);
	return output_conflict(options);
}

/* The processes or threads to attach to. */
static int set_ids(struct recording *recording, struct error *err)
{
	const struct record_options *options = recording->options;
	struct target *target = &recording->config.target;
	int r = attach_find(recording->context, &options->attach, options->children,
			    &recording->ids, err);

	for (size_t i = 0; i < options->tids.count && r == 0; i++)
		if (vec_push(&recording->ids, (pid_t)options->tids.items[i]) < 0)
			r = error_set(err, -ENOMEM, "out of memory");
	if (r < 0 || recording->ids.count == 0)
		return r;
	target->kind = options->tids.count > 0 ? TARGET_THREADS : TARGET_PROCESSES;
	target->ids = recording->ids.items;
	target->count = recording->ids.count;
	return 0;
}

static int set_cgroup(struct recording *recording, struct error *err)
{
	recording->config.target.kind = TARGET_CGROUP;
	recording->config.target.cgroup = recording->cgroup;
	return cgroup_folder_find(recording->options->cgroup, recording->cgroup,
				  sizeof(recording->cgroup), err);
}

/* Sets the title of the recording and the name of its file. */
static int name_recording(struct recording *recording, int argc, char **argv)
{
	const struct record_options *options = recording->options;
	struct process_info info = {.comm = "process"};
	const char *name = "machine";
	int n;

	if (options->all) {
		n = asprintf(&recording->title, "whole machine");
	} else if (options->cgroup) {
		n = asprintf(&recording->title, "control group %s", options->cgroup);
	} else if (argc > 0) {
		name = argv[0];
		n = asprintf(&recording->title, "%s", name);
	} else {
		/* If the process does not exist, the engine reports that. */
		(void)process_info_read(recording->ids.items[0], &info, NULL);
		name = info.comm;
		n = asprintf(&recording->title, "%s (%s %d%s)", info.comm,
			     options->tids.count == 0 ? "process" : "thread",
			     (int)recording->ids.items[0], recording->ids.count > 1 ? ", …" : "");
	}
	if (n < 0) {
		recording->title = NULL;
		return -ENOMEM;
	}
	recording->output =
		options->output ? strdup(options->output) : default_recording_name(name);
	return recording->output ? 0 : -ENOMEM;
}

/* Prints 1234567 as 1,234,567. */
static void print_count(FILE *out, uint64_t count)
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, count); /* it fits */

	for (int i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			(void)fputc(',', out);
		(void)fputc(digits[i], out);
	}
}

static void print_written(void *self, const struct flight_written *written)
{
	struct recording *recording = self;
	FILE *out = recording->context->err;

	record_output_erase(&recording->messages);
	(void)fprintf(out, "wick: wrote the last %.1f s (",
		      (double)written->covered_ns / NS_PER_SEC);
	print_count(out, written->samples);
	(void)fputs(" samples) to ", out);
	record_output_name(out, written->path);
	(void)fputc('\n', out);
	(void)fflush(out);
	free(recording->written);
	recording->written = strdup(written->path); /* if out of memory: no names in the summary */
}

static const char *result_path(const struct recording *recording)
{
	return recording->written ? recording->written : recording->output;
}

static void print_end(void *self, const struct record_result *result, const struct error *err)
{
	struct recording *recording = self;
	struct load_options names = LOAD_OPTIONS_DEFAULT;

	/* The summary does not wait for a debuginfod server. */
	cli_load_set_symbols(recording->context, &recording->options->symbols, NULL, &names);
	record_output_erase(&recording->messages);
	if (err) {
		record_output_failure(&recording->messages, err);
	} else if (!recording->options->quiet) {
		struct record_config shown = recording->config;

		shown.output = result_path(recording);
		record_summary_print(recording->context->err, &shown, result, &names);
	}
	record_output_waiting(&recording->messages, result);
	(void)fflush(recording->context->err);
}

/* Chooses an engine for wall time without eBPF: signal or ptrace. NULL if neither works. */
static const struct engine_ops *choose_for_wall(const struct record_options *options,
						const struct target *target)
{
	static const char *const names[] = {"signal", "ptrace"};

	for (size_t i = 0; i < ARRAY_SIZE(names) && !options->all && !options->cgroup; i++) {
		const struct engine_ops *engine = engine_find(names[i], target, NULL);

		if (engine && (!engine->suits || engine->suits(target, NULL) == 0) &&
		    engine->probe(NULL) == 0)
			return engine;
	}
	return NULL;
}

/* The requested engine; for "auto", the first that works, and why no better one does. */
static const struct engine_ops *choose_engine(struct recording *recording, const char *program,
					      struct error *err)
{
	const struct record_options *options = recording->options;
	bool attached = attach_is_asked(&options->attach) || options->tids.count > 0 ||
			options->all || options->cgroup;
	struct target target = {.kind = attached ? TARGET_PROCESSES : TARGET_COMMAND,
				.program = program};
	const char *name = options->heap ? HEAP_ENGINE : options->engine;
	const struct engine_ops *engine = engine_find(name, &target, err);

	if (!engine || options->heap || strcmp(options->engine, "auto") != 0 ||
	    engine == engine_table[0])
		return engine;
	if (engine_table[0]->probe(&recording->why_lesser) == 0 || options->mode == ENGINE_MODE_CPU)
		return engine;
	engine = options->mode == ENGINE_MODE_WALL && !options->wakers
			 ? choose_for_wall(options, &target)
			 : NULL;
	if (engine)
		return engine;
	*err = recording->why_lesser;
	(void)error_prefix(err, err->code, "%s needs eBPF",
			   options->wakers                     ? "--waker"
			   : options->mode == ENGINE_MODE_WALL ? "--mode wall"
							       : "--mode offcpu");
	return NULL;
}

/* Whether the rate is fixed: its option has a stronger source than that of the budget. */
static bool keeps_rate(const struct command_context *context, const struct record_options *options)
{
	return option_source_of(context->set, &options->frequency_hz) >
	       option_source_of(context->set, &options->overhead_percent);
}

static int prepare(struct recording *recording, int argc, char **argv, struct error *err)
{
	const struct record_options *options = recording->options;
	struct record_config *config = &recording->config;
	bool rate_given = option_source_of(recording->context->set, &options->frequency_hz) !=
			  OPTION_FROM_DEFAULT;

	*config = (struct record_config){
		.engine = choose_engine(recording, argc > 0 ? argv[0] : NULL, err),
		.sampling = {.mode = options->mode,
			     .least_away_ns = options->least_away_ns,
			     .wakers = options->wakers,
			     .may_fall_back = strcmp(options->engine, "auto") == 0,
			     .event = options->event,
			     .frequency_hz = (uint32_t)options->frequency_hz,
			     .rate_given = rate_given,
			     .period = options->period,
			     .depth = (uint32_t)options->depth,
			     .unwind = options->unwind,
			     .python = options->python,
			     .holders_only = options->gil,
			     .stack_bytes = (uint32_t)(options->stack_bytes & ~7ull),
			     .overwrite_old = options->on_overflow == OVERFLOW_OVERWRITE_OLD,
			     .kernel = options->kernel,
			     .heap = {.on = options->heap}},
		.target = {.kind = TARGET_COMMAND, .children = options->children},
		.command = argc > 0 ? argv : NULL,
		.arguments = options->arguments,
		.labels = options->labels.items,
		.label_count = options->labels.count,
		.duration_ns = options->duration_ns,
		.pace = {.budget = options->overhead_percent / 100,
			 .keeps_rate = keeps_rate(recording->context, options),
			 .breaker = options->breaker_percent / 100,
			 .delay_ns = options->delay_ns},
		.last_ns = options->last_ns,
		.wrote = print_written,
		.notice = record_output_notice,
		.finished = print_end,
		.progress = recording->context->progress ? record_output_progress : NULL,
		.self = recording,
	};
	if (!config->engine)
		return err->code;
	/* With --unwind, the user chose a way without eBPF: no note that it is missing. */
	if (recording->why_lesser.code < 0 && options->unwind == ENGINE_UNWIND_AUTO)
		config->sampling.why_lesser = recording->why_lesser.text;
	if (options->cgroup && set_cgroup(recording, err) < 0)
		return err->code;
	if (options->all || options->cgroup) {
		if (options->all)
			config->target.kind = TARGET_MACHINE;
		if (!rate_given)
			config->sampling.frequency_hz = RATE_MACHINE_HZ;
	}
	if (set_ids(recording, err) < 0)
		return err->code;
	if (name_recording(recording, argc, argv) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	config->output = recording->output;
	config->title = recording->title;
	return 0;
}

static int draw_recording(const struct recording *recording)
{
	struct load_options load = LOAD_OPTIONS_DEFAULT;
	struct flame_page_options view = {.graph = FLAME_OPTIONS_DEFAULT};
	struct source_search sources = {0};
	struct debuginfod server;

	cli_load_set_symbols(recording->context, &recording->options->symbols, &server, &load);
	load.short_names = true;
	view.graph.group = CALL_TREE_BY_PROCESS;
	sources.is_asked = cli_load_asks_source(recording->context, &recording->options->source);
	if (recording->options->source)
		view.sources = &sources;
	return draw_flame(recording->context, &load, &view, result_path(recording),
			  recording->options->flame, "--flame FILE");
}

/* Our own failure takes precedence over the program's exit status. */
static int exit_status(const struct record_result *result, int r)
{
	if (result->exec_code < 0)
		return result->exec_code == -ENOENT ? 127 : 126;
	if (r == -EINVAL && result->duration_ns == 0)
		return COMMAND_USAGE; /* an invalid event, engine or output */
	if (result->killed_early)
		return result->child_status;
	if (r < 0)
		return COMMAND_FAILED;
	return result->has_child ? result->child_status : COMMAND_DONE;
}

/* Before anything is recorded, so that a port that is taken stops everything. */
static int start_page(struct recording *recording, struct error *err)
{
	struct load_options load = LOAD_OPTIONS_DEFAULT;
	struct live_page_config config = {.path = recording->output, .load = &load};
	char address[128];
	uint16_t port;
	int r = listen_option_parse_port(recording->options->live, address, sizeof(address),
					 &config.port);

	if (r < 0) {
		r = error_set(err, r, "--live %s: expected [ADDRESS:]PORT",
			      recording->options->live);
		error_remedy(err, "for example --live 8080; 0 is any free port");
		return r;
	}
	/* The live view does not wait for a debuginfod server. */
	cli_load_set_symbols(recording->context, &recording->options->symbols, NULL, &load);
	load.short_names = true;
	config.address = address;
	r = live_page_start(&recording->page, &config, &port, err);
	if (r < 0)
		return r;
	(void)fputs("wick: live at ", recording->context->err);
	page_url_print(recording->context->err, address, port, false);
	return 0;
}

/* The page is not part of what was recorded, nor of its overhead. */
static void end_page(struct recording *recording)
{
	bool is_there = recording->page.pid != 0;
	uint64_t used_ns = live_page_end(&recording->page);

	if (is_there && !recording->options->quiet)
		command_note(recording->context,
			     "the live page used %.2f s of CPU time, at low priority",
			     (double)used_ns / NS_PER_SEC);
}

static int run_record(const struct command_context *context, void *values, int argc, char **argv)
{
	struct recording recording = {
		.messages = {.context = context}, .context = context, .options = values};
	const char *wrong = conflict(context, values, argc);
	struct record_result result = {0};
	struct error err = {0};
	int status;
	int r;

	if (wrong)
		return command_misused(context, "%s", wrong);
	r = prepare(&recording, argc, argv, &err);
	if (r == 0 && recording.options->live)
		r = start_page(&recording, &err);
	if (r == 0)
		r = record_run(&recording.config, &result, &err);
	record_output_erase(&recording.messages);
	end_page(&recording);
	if (r < 0)
		record_output_failure(&recording.messages, &err);
	status = exit_status(&result, r);
	if (r == 0 && recording.options->flame) {
		int drawn = draw_recording(&recording);

		status = drawn != COMMAND_DONE ? drawn : status;
	}
	vec_fini(&recording.ids);
	free(recording.output);
	free(recording.written);
	free(recording.title);
	return status;
}

static const struct option_spec table[] = {
	{"frequency", 'F', OPTION_U64(struct record_options, frequency_hz), .argument = "HZ",
	 .min = 10, .max = 10000, .key = "sampling.frequency_hz",
	 .help = "samples per second on each busy CPU; 97 with -a, --cgroup and --engine ptrace"},
	{"freq", 0, OPTION_ALIAS("frequency")},
	{"rate", 'r', OPTION_ALIAS("frequency")},
	{"duration", 'd', OPTION_DURATION(struct record_options, duration_ns), .argument = "TIME",
	 .min = NS_PER_MS,
	 .help = "stop recording after this time; a program that wick started keeps running"},
	{"delay", 0, OPTION_DURATION(struct record_options, delay_ns), .argument = "TIME",
	 .key = "sampling.delay", .max = 86400e9,
	 .help = "wait this long before sampling; -d counts from then on"},
	{"overhead", 0, OPTION_DOUBLE(struct record_options, overhead_percent),
	 .argument = "PERCENT", .min = 0.1, .max = 50, .off = "off",
	 .key = "sampling.overhead_percent",
	 .help = "limit the cost of sampling to this share of the target's CPU time: the rate "
		 "drops if the cost is higher, but not below 97 Hz (10 Hz with -a and --cgroup, or "
		 "if the rate was 97 Hz or less to begin with); a rate given with -F is kept "
		 "unless --overhead is given too"},
	{"breaker", 0, OPTION_DOUBLE(struct record_options, breaker_percent), .argument = "PERCENT",
	 .min = 10, .max = 100, .off = "off", .key = "sampling.breaker_percent",
	 .help = "pause while the CPUs of the whole machine are busier than this"},
	{"last", 0, OPTION_DURATION(struct record_options, last_ns), .argument = "TIME",
	 .min = NS_PER_SEC, .max = 3600 * NS_PER_SEC, .off = "off", .key = "sampling.last",
	 .help = "keep only the last TIME, in memory; write it at the end, on Ctrl-C, if the "
		 "target crashes, and on SIGUSR2 (then continue; the next files are FILE-2, FILE-3 "
		 "...)"},
	{"output", 'o', OPTION_STRING(struct record_options, output), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE,
	 .help = "where to write; - is standard output, and the output of the program then goes to "
		 "standard error (default: wick-DATE-TIME-NAME.wick)"},
	{OPTION_GROUP(struct record_options, attach, attach_option_table)},
	{"tid", 't', OPTION_NUMBERS(struct record_options, tids), .argument = "TID[,TID...]",
	 .min = 1, .max = INT32_MAX, .help = "attach to these threads only"},
	{"all", 'a', OPTION_FLAG(struct record_options, all),
	 .help = "record the whole machine, until the given program ends or Ctrl-C"},
	{"event", 'e', OPTION_STRING(struct record_options, event), .argument = "EVENT[,EVENT...]",
	 .key = "sampling.event",
	 .help = "what to sample (see: wick list events); further events are counted along with "
		 "the first; to view one of them, use --event, for example with wick report"},
	{"count", 'c', OPTION_U64(struct record_options, period), .argument = "PERIOD", .min = 1,
	 .max = 1e15, .help = "take a sample every PERIOD events, instead of at a rate"},
	{"engine", 0,
	 OPTION_WORD(struct record_options, engine, "auto", "ebpf", "perf", "signal", "ptrace"),
	 .key = "sampling.engine",
	 .help = "how to sample; wick list engines shows what each engine can do"},
	{"mode", 0, OPTION_ENUM(struct record_options, mode, "cpu", "wall", "offcpu"),
	 .key = "sampling.mode",
	 .help = "which time to record: cpu (on a CPU), offcpu (asleep or waiting for a CPU), or "
		 "wall (both)"},
	{"heap", 0, OPTION_FLAG(struct record_options, heap),
	 .help = "record allocations too, as wick heap does, in the same file; uses the signal "
		 "engine"},
	{"min-block", 0, OPTION_DURATION(struct record_options, least_away_ns), .argument = "TIME",
	 .key = "sampling.min_block",
	 .help = "leave out waits off the CPU that are shorter than this"},
	{"waker", 0, OPTION_TOGGLE(struct record_options, wakers), .key = "sampling.waker",
	 .help = "with --mode offcpu or wall: also record the code that woke a sleeper; it is "
		 "shown on top of the sleeper's stack, above a frame [woken by]"},
	{"cgroup", 0, OPTION_STRING(struct record_options, cgroup), .argument = "PATH",
	 .offer = OPTION_OFFER_FILE,
	 .help = "record all processes of a control group: its directory, or its name as in "
		 "/proc/PID/cgroup"},
	{"depth", 0, OPTION_U64(struct record_options, depth), .argument = "N", .min = 1,
	 .max = 1024, .key = "sampling.depth",
	 .help = "how many frames of a stack to keep; the kernel's limit may be lower"},
	{"unwind", 0, OPTION_ENUM(struct record_options, unwind, "auto", "fp", "dwarf"),
	 .key = "sampling.unwind",
	 .help = "how to walk stacks: fp uses frame pointers, dwarf uses the binaries' unwind "
		 "tables and a copy of the stack, auto uses both"},
	{"stack-size", 0, OPTION_SIZE(struct record_options, stack_bytes), .argument = "SIZE",
	 .min = 1024, .max = ENGINE_STACK_BYTES, .key = "sampling.stack_bytes",
	 .help = "with --unwind dwarf: how many bytes of a stack to copy at most"},
	{"python", 0, OPTION_ENUM(struct record_options, python, "auto", "off", "only"),
	 .key = "sampling.python",
	 .help = "how to show Python code: auto: Python calls among native frames; only: Python "
		 "calls without native frames; off: the functions of the interpreter"},
	{"gil", 0, OPTION_FLAG(struct record_options, gil),
	 .help = "record threads only while they hold the global lock (GIL) of a Python "
		 "interpreter"},
	{"on-overflow", 0,
	 OPTION_ENUM(struct record_options, on_overflow, "drop-new", "overwrite-old"),
	 .key = "sampling.on_overflow",
	 .help = "which samples to lose (and count) if a buffer is full because wick got no CPU "
		 "time: the new ones, or the oldest in the buffer"},
	{"kernel", 0, OPTION_TOGGLE(struct record_options, kernel), .key = "sampling.kernel",
	 .help = "also record kernel frames"},
	{"children", 0, OPTION_TOGGLE(struct record_options, children), .key = "sampling.children",
	 .help = "also record processes that the program starts"},
	{"args", 0, OPTION_FLAG(struct record_options, arguments),
	 .help = "store the program's arguments in the recording, not only its name; they may "
		 "contain passwords"},
	{"label", 0, OPTION_PAIRS(struct record_options, labels), .argument = "KEY=VALUE",
	 .help = "give every sample this label, such as build=1.4; wick report and other commands "
		 "have an option --label that selects samples by it"},
	{"flame", 0, OPTION_STRING(struct record_options, flame), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE,
	 .help = "draw the flame graph when the recording ends: FILE.svg, FILE.png, or FILE.html "
		 "for the page"},
	{"live", 0, OPTION_STRING(struct record_options, live), .argument = "[ADDRESS:]PORT",
	 .help = "show the recording in a browser while it is made: prints the URL to open; "
		 "ADDRESS must be loopback (default 127.0.0.1); port 0 chooses a free one"},
	{"source", 0, OPTION_TOGGLE(struct record_options, source), .key = "view.source",
	 .help = "include source lines around samples in the page of --flame",
	 .default_help = "only if program, debug information and source all belong to you or root"},
	{"quiet", 'q', OPTION_FLAG(struct record_options, quiet),
	 .help = "print no summary at the end"},
	{NULL, 'g', OPTION_IGNORED},
	{OPTION_GROUP(struct record_options, symbols, symbol_option_table),
	 .help = "Symbols of the summary and the flame graph"},
	OPTION_END,
};

const struct command command_record = {
	.name = "record",
	.summary = "sample a program, running processes or the whole machine",
	.synopsis = "[OPTIONS] [--] PROGRAM [ARGUMENTS]\n[OPTIONS] -p PID[,PID...]\n[OPTIONS] "
		    "--name NAME\n"
		    "[OPTIONS] -t TID[,TID...]\n[OPTIONS] -a [[--] PROGRAM [ARGUMENTS]]\n"
		    "[OPTIONS] --cgroup PATH [[--] PROGRAM [ARGUMENTS]]",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct record_options),
	.defaults = &(const struct record_options){.frequency_hz = RATE_HZ,
						   .event = DEFAULT_EVENT,
						   .engine = "auto",
						   .overhead_percent = 2,
						   .depth = 512,
						   .stack_bytes = ENGINE_STACK_BYTES,
						   .kernel = true,
						   .children = true,
						   .source = true,
						   .symbols = SYMBOL_OPTIONS_DEFAULT},
	.max_arguments = -1,
	.argument_help = "PROGRAM: the program to run and record",
	.argument_offer = OPTION_OFFER_PROGRAM,
	.runs_program = true,
	.run = run_record,
};
