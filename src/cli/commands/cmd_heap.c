/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/file/owner.h"
#include "base/scope.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/commands/parts/heap_scan.h"
#include "cli/commands/parts/heap_summary.h"
#include "cli/commands/parts/record_output.h"
#include "cli/default_name.h"
#include "cli/options/hook_option.h"
#include "cli/options/leak_options.h"
#include "cli/options/load_options.h"
#include "cli/text/heap.h"
#include "engine/signal/preload_path.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/report.h"
#include "load/filter/stack_filter.h"
#include "load/load.h"
#include "proc/process_info.h"
#include "record/record.h"

#define UNUSED_RATE_HZ 1 /* nothing is sampled by time */

struct heap_options {
	uint64_t duration_ns;
	const char *output;
	uint64_t join_pid; /* of a process that started this recorder; 0: none */
	uint64_t pid;      /* of a running process to attach to; 0: none */
	const char *allocator;
	bool force;
	uint64_t sample_bytes;
	uint64_t depth;
	enum engine_python python;
	uint64_t interval_ms; /* 0, "auto": the commands that read the recording choose */
	bool children;
	bool arguments;
	bool maps;
	bool lossless;
	bool lossy; /* the opposite of lossless */
	bool quiet;
	uint64_t max_peak_bytes;
	uint64_t max_memory_bytes;
	struct option_list hooks;
	struct option_list alloc_fns;
	bool leaks;
	uint64_t scan_every_ns;
	bool scan;
	const char *at_signal;
	struct leak_options leak;
};

/* The summary analyses at most this many events, which takes some seconds. */
#define SUMMARY_EVENTS 100000000u
/* Up to this many, it also shows where the rest of the memory is, which takes longer. */
#define HINT_EVENTS 1000000u

struct heap_recording {
	struct record_output messages; /* first: its callbacks receive this struct */
	const struct command_context *context;
	const struct heap_options *options;
	struct record_config config;
	struct hook_option hooks;
	pid_t joined;     /* the process that started this recorder; 0: none */
	pid_t attached;   /* the process that wick attached to; 0: none */
	const char *name; /* of what is recorded */
	char comm[PROCESS_COMM_MAX];
	struct heap_totals totals; /* of the recording, once it was read */
	bool has_totals;
	struct suppressions rules;
	int leak_status; /* exit status of the leak report's gates */
	int at_signal;   /* 0: none */
};

/* Whether a leak scan is needed. */
static bool wants_scan(const struct heap_options *options)
{
	return options->leaks || options->scan_every_ns > 0 || options->at_signal ||
	       leak_options_need_scan(&options->leak);
}

static bool wants_leaks(const struct heap_options *options)
{
	return wants_scan(options) || leak_options_ask(&options->leak);
}

static bool has_gate(const struct heap_options *options)
{
	return options->max_peak_bytes > 0 || wants_leaks(options);
}

static void print_leaks(struct heap_recording *recording, const struct heap_profile *heap,
			const struct record_result *result)
{
	struct leak_report_options view = {.color = recording->context->color_err,
					   .killed = result->killed_by > 0,
					   .limit = 30};

	recording->leak_status =
		leak_options_print(recording->context, &recording->options->leak, &recording->rules,
				   heap, view, recording->context->err);
	if (recording->leak_status == COMMAND_DONE && result->leak_failures > 0 &&
	    leak_options_need_scan(&recording->options->leak))
		recording->leak_status =
			leak_options_unknown(recording->context, LEAK_UNKNOWN_FAILED);
}

static bool is_stdout(const char *output)
{
	return output && outfile_is_stdout(output);
}

/* Whether the output cannot be read again, such as a pipe, where reading would block. */
static bool passes_on(const char *output)
{
	struct stat status;

	return output && (is_stdout(output) ||
			  (stat(output, &status) == 0 && !S_ISREG(status.st_mode) &&
			   !S_ISDIR(status.st_mode))); /* a directory gets its own error */
}

/* Reads the recording again, for totals and leaks. */
static void look_again(struct heap_recording *recording, const struct record_result *result)
{
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	struct heap_profile heap;
	struct error err = {0};

	options.heap_addresses =
		!recording->options->quiet && result->stats.heap.events < HINT_EVENTS;
	options.alloc_fns = recording->options->alloc_fns.items;
	options.alloc_fn_count = recording->options->alloc_fns.count;
	options.short_names = !leak_options_have_rules(&recording->options->leak);
	if (!wants_leaks(recording->options)) {
		options.symbols = SYMBOLS_NAMES;
		options.inlines = false;
	}
	if (passes_on(recording->config.output) ||
	    (result->stats.heap.events == 0 && result->leak_scans == 0) ||
	    (result->stats.heap.events > SUMMARY_EVENTS && !has_gate(recording->options)))
		return;
	if (load_heap(recording->config.output, &options, &heap, &err) < 0) {
		if (has_gate(recording->options)) /* no gate can be judged */
			recording->leak_status = command_failed(recording->context, &err);
		return;
	}
	recording->totals = heap_analysis_report(heap.analysis)->totals;
	recording->has_totals = true;
	if (!recording->options->quiet)
		heap_summary_print(recording->context->err, &recording->config, result,
				   heap_analysis_report(heap.analysis));
	if (wants_leaks(recording->options))
		print_leaks(recording, &heap, result);
	heap_profile_fini(&heap);
}

/* Prints what is known about a recording that was not read again. */
static void print_unread(struct heap_recording *recording, const struct record_result *result)
{
	if (!recording->options->quiet)
		heap_summary_print(recording->context->err, &recording->config, result, NULL);
	if (!recording->options->quiet && recording->config.leaks.on)
		heap_summary_leaks(recording->context->err, result);
	if (recording->options->max_peak_bytes > 0 && result->stats.heap.events == 0 &&
	    result->stats.why_none[0]) {
		(void)fprintf(
			recording->context->err,
			"wick: --max-peak cannot be checked: nothing was recorded\n      %s\n",
			result->stats.why_none);
		recording->leak_status = COMMAND_FAILED;
	}
	if (recording->leak_status != COMMAND_DONE ||
	    !leak_options_need_scan(&recording->options->leak))
		return;
	recording->leak_status = leak_options_unknown(
		recording->context, result->killed_by > 0       ? LEAK_UNKNOWN_KILLED
				    : result->leak_failures > 0 ? LEAK_UNKNOWN_FAILED
								: LEAK_UNKNOWN_NO_SCAN);
}

static void print_end(void *self, const struct record_result *result, const struct error *err)
{
	struct heap_recording *recording = self;
	FILE *out = recording->context->err;

	record_output_erase(&recording->messages);
	if (err) {
		record_output_failure(&recording->messages, err);
	} else {
		if (!recording->options->quiet || has_gate(recording->options))
			look_again(recording, result);
		if (!recording->has_totals)
			print_unread(recording, result);
	}
	record_output_waiting(&recording->messages, result);
	(void)fflush(out);
}

/*
 * Answers the program that started this recorder; the program waits for that. Its standard streams,
 * which this recorder inherited, must not be kept open any longer.
 */
static void answer(void *self, char *const *environment)
{
	struct heap_recording *recording = self;
	SCOPED(fd) int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (; *environment; environment++)
		(void)fprintf(recording->context->out, "%s\n", *environment);
	(void)fflush(
		recording->context->out); /* without an answer the program continues unrecorded */
	(void)dup2(null_fd, STDOUT_FILENO);
	/* Leaks are reported there. */
	if (!recording->config.leaks.on)
		(void)dup2(null_fd, STDERR_FILENO);
}

/* The number of a signal by its name; 0 if the option does not accept it. */
static int signal_of(const char *name)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"HUP", SIGHUP}, {"ALRM", SIGALRM}};

	if (strncmp(name, "SIG", 3) == 0)
		name += 3;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (strcmp(name, signals[i].name) == 0)
			return signals[i].number;
	return 0;
}

static struct record_config config_of(struct heap_recording *recording, char **argv)
{
	const struct heap_options *options = recording->options;
	struct target target = {.kind = TARGET_COMMAND, .program = argv[0]};

	if (recording->joined != 0)
		target = (struct target){.kind = TARGET_PROCESSES,
					 .ids = &recording->joined,
					 .count = 1,
					 .joins = true};
	if (recording->attached != 0)
		target = (struct target){
			.kind = TARGET_PROCESSES, .ids = &recording->attached, .count = 1};
	target.children = options->children;

	return (struct record_config){
		.sampling = {.event = "cpu-clock",
			     .frequency_hz = UNUSED_RATE_HZ,
			     .rate_given = true,
			     .depth = (uint32_t)options->depth,
			     .python = options->python,
			     .heap = {.on = true,
				      .alone = true,
				      .maps = options->maps,
				      .lossy = options->lossy || !options->lossless,
				      .sample_bytes = options->sample_bytes,
				      .step_ns = options->interval_ms * NS_PER_MS,
				      .max_bytes = options->max_memory_bytes,
				      .free_stacks = wants_scan(options),
				      .hooks = recording->hooks.items,
				      .hook_count = recording->hooks.count,
				      .leaks = wants_scan(options),
				      .attach = recording->attached != 0,
				      .force = options->force,
				      .allocator = options->allocator}},
		.target = target,
		.command = recording->joined + recording->attached != 0 ? NULL : argv,
		.arguments = options->arguments,
		.duration_ns = options->duration_ns,
		.pace = {.keeps_rate = true, .only_heap = true},
		.title = recording->name,
		.leaks = {.on = wants_scan(options),
			  .every_ns = options->scan_every_ns,
			  .at_signal = recording->at_signal,
			  .notice = record_output_notice,
			  .self = recording},
		.armed = recording->joined != 0 ? answer : NULL,
		.notice = options->quiet && recording->attached != 0 ? NULL : record_output_notice,
		.finished = print_end,
		.progress = recording->context->progress ? record_output_progress : NULL,
		.self = recording,
	};
}

/*
 * Removes the old file, because the recorder of an earlier program may still be writing to it. That
 * recorder then continues in a file without a name.
 */
static void remove_old_output(const char *output)
{
	struct stat status;

	if (lstat(output, &status) == 0 && S_ISREG(status.st_mode) && owner_is_ours(status.st_uid))
		(void)unlink(output); /* if it fails, both write to the same file */
}

/* Whether the gate --max-peak tripped; if so, prints that. */
static bool is_too_high(const struct heap_recording *recording)
{
	double most = (double)recording->options->max_peak_bytes;

	if (most == 0 || !recording->has_totals || recording->totals.peak.bytes <= most)
		return false;
	(void)fprintf(recording->context->err,
		      "wick: the peak of %.0f bytes is above the limit of %.0f (--max-peak)\n      "
		      "see which code held it: wick report --by site ",
		      recording->totals.peak.bytes, most);
	record_output_name(recording->context->err, recording->config.output);
	(void)fputc('\n', recording->context->err);
	return true;
}

/* A gate takes precedence over our own failure, and that over the program's exit status. */
static int exit_status(const struct heap_recording *recording, const struct record_result *result,
		       int r)
{
	if (result->exec_code < 0)
		return result->exec_code == -ENOENT ? 127 : 126;
	if (result->killed_early)
		return result->child_status;
	if (r == 0 && (is_too_high(recording) || recording->leak_status == COMMAND_GATE))
		return COMMAND_GATE;
	if (r < 0 || recording->leak_status != COMMAND_DONE)
		return COMMAND_FAILED;
	return result->child_status;
}

/* Finds out what to record, and its name. Negative if there is nothing to record. */
static int name_target(struct heap_recording *recording, const char *program)
{
	pid_t pid;

	recording->joined = (pid_t)recording->options->join_pid;
	recording->attached = (pid_t)recording->options->pid;
	pid = recording->attached != 0 ? recording->attached : recording->joined;
	recording->name = program;
	if (pid == 0 || (recording->attached != 0 && program))
		return program && pid == 0 ? 0 : -EINVAL;
	recording->name = recording->comm;
	return process_thread_comm(pid, pid, recording->comm, sizeof(recording->comm));
}

/* The usual remedy, another engine, does not help here: other engines do not record the heap. */
static void advise(const struct heap_recording *recording, struct error *err)
{
	if (err->code != -EOPNOTSUPP || recording->attached != 0)
		return;
	if (recording->joined == 0 && preload_has_rights(recording->name))
		error_remedy(err,
			     "record it as its owner, or record a copy of the file, which has no "
			     "such rights; or start it and attach as root: sudo wick heap -p PID");
	else
		error_remedy(err, "start it and attach as root: sudo wick heap -p PID; or link the "
				  "program dynamically");
}

/* Looks up the hooked functions before anything runs. */
static int find_hooks(struct heap_recording *recording, const char *program, struct error *err)
{
	char path[64];

	if (recording->options->hooks.count == 0)
		return 0;
	if (recording->joined != 0) {
		(void)snprintf(path, sizeof(path), "/proc/%d/exe", recording->joined);
		program = path;
	}
	return hook_option_read(&recording->options->hooks, program, &recording->hooks, err);
}

/* An option that needs a program that wick starts, if one is given; otherwise NULL. */
static const char *starts_only(const struct heap_options *options)
{
	const struct {
		const char *name;
		bool given;
	} all[] = {
		{"--maps", options->maps},
		{"--hook", options->hooks.count > 0},
		{"--max-memory", options->max_memory_bytes > 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (all[i].given)
			return all[i].name;
	return NULL;
}

static int refuse_attached(const struct heap_recording *recording, const char *name)
{
	struct error err = {0};

	(void)error_advise(&err,
			   error_set(&err, -EINVAL, "%s needs a program that wick starts", name),
			   "leave it out, or start the program: wick heap -- PROGRAM");
	return command_refused(recording->context, &err);
}

/* What is wrong with the combination of options; NULL if nothing is. */
static const char *conflict(struct heap_recording *recording)
{
	const struct heap_options *options = recording->options;

	if (options->maps && options->sample_bytes > 0)
		return "--maps records all mappings, --sample only some blocks: use one of them";
	if (options->at_signal && (recording->at_signal = signal_of(options->at_signal)) == 0)
		return "--at-signal must be USR1, USR2, HUP or ALRM";
	if (wants_scan(options) && options->sample_bytes > 0)
		return "--leaks needs all blocks, --sample records only some: use one of them";
	if (recording->joined != 0 && is_stdout(options->output))
		return "a program that records itself cannot write to standard output: name a file "
		       "with WICK_OUT";
	if (has_gate(options) && passes_on(options->output))
		return "--max-peak and leak reports read the recording again: write it to a file "
		       "with -o FILE";
	return NULL;
}

/* Reports invalid regular expressions before the program runs, not after. */
static int check_expressions(const struct command_context *context,
			     const struct heap_options *options)
{
	const struct load_options load = {.alloc_fns = options->alloc_fns.items,
					  .alloc_fn_count = options->alloc_fns.count};
	struct stack_filter filter;
	struct error err = {0};

	if (stack_filter_init(&filter, &load, &err) < 0)
		return command_refused(context, &err);
	stack_filter_fini(&filter);
	return COMMAND_DONE;
}

static int run_heap(const struct command_context *context, void *values, int argc, char **argv)
{
	struct heap_recording recording = {.messages = {.context = context, .counts_heap = true},
					   .context = context,
					   .options = values};
	struct record_result result = {0};
	struct error err = {0};
	const char *words;
	char *output;
	int status;
	int r = 0;

	if (recording.options->scan && (recording.options->pid == 0 || argc > 0))
		return command_misused(context,
				       "--scan needs one process and no program: --scan -p PID");
	if (recording.options->scan)
		return heap_scan_run(context, (pid_t)recording.options->pid);
	r = name_target(&recording, argv[0]);
	if (r == -EINVAL)
		return command_misused(context, "give either a program to run or -p PID");
	if (r < 0) {
		(void)process_error(&err, -ESRCH, recording.attached, "name");
		return command_failed(context, &err);
	}
	words = recording.attached != 0 ? starts_only(recording.options) : NULL;
	if (words)
		return refuse_attached(&recording, words);
	words = conflict(&recording);
	if (words)
		return command_misused(context, "%s", words);
	status = check_expressions(context, recording.options);
	if (status != COMMAND_DONE)
		return status;
	status = leak_options_read(context, &recording.options->leak, &recording.rules);
	if (status != COMMAND_DONE) {
		suppressions_fini(&recording.rules);
		return status;
	}
	if (find_hooks(&recording, argv[0], &err) < 0) {
		suppressions_fini(&recording.rules);
		return command_refused(context, &err);
	}
	output = recording.options->output ? strdup(recording.options->output)
					   : default_recording_name(recording.name);
	recording.config = config_of(&recording, argv);
	recording.config.output = output;
	recording.config.engine = engine_find(recording.attached != 0 ? "uprobe" : "signal",
					      &recording.config.target, &err);
	if (!output)
		r = error_set(&err, -ENOMEM, "out of memory");
	else if (!recording.config.engine)
		r = err.code;
	if (r == 0 && recording.joined != 0)
		remove_old_output(output);
	if (r == 0)
		r = record_run(&recording.config, &result, &err);
	record_output_erase(&recording.messages);
	advise(&recording, &err);
	if (r < 0)
		record_output_failure(&recording.messages, &err);
	status = exit_status(&recording, &result, r);
	suppressions_fini(&recording.rules);
	free(output);
	return status;
}

static const struct option_spec table[] = {
	{"output", 'o', OPTION_STRING(struct heap_options, output), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE,
	 .help = "where to write the recording; - is standard output (default: "
		 "wick-DATE-TIME-NAME.wick)"},
	{"pid", 'p', OPTION_U64(struct heap_options, pid), .argument = "PID", .max = INT32_MAX,
	 .offer = OPTION_OFFER_PID,
	 .help = "record a running process, with probes on the functions of its allocator; with "
		 "--scan: search it for leaks"},
	{"allocator", 0, OPTION_STRING(struct heap_options, allocator), .argument = "LIB|PATH",
	 .help = "with -p: the file that contains malloc: its path or a part of its name"},
	{"force", 0, OPTION_FLAG(struct heap_options, force),
	 .help = "with -p: record the process even if it allocates so often that the probes slow "
		 "it down a lot"},
	{"sample", 0, OPTION_SIZE(struct heap_options, sample_bytes), .argument = "BYTES",
	 .max = 1ull << 40, .off = "off", .key = "heap.sample_bytes",
	 .help = "record only some blocks, chosen at random: on average one for every BYTES "
		 "allocated; off records all blocks"},
	{"depth", 0, OPTION_U64(struct heap_options, depth), .argument = "N", .min = 1, .max = 1024,
	 .key = "heap.depth", .help = "how many frames of a stack to keep"},
	{"python", 0, OPTION_ENUM(struct heap_options, python, "auto", "off", "only"),
	 .key = "heap.python",
	 .help = "how to show Python code: auto: Python calls among native frames; only: Python "
		 "calls without native frames; off: the functions of the interpreter"},
	{"interval", 0, OPTION_U64(struct heap_options, interval_ms), .argument = "MS", .min = 1,
	 .max = HEAP_INTERVAL_MAX_MS, .off = "auto", .key = "heap.interval_ms",
	 .help = "time step for views of the recording, in milliseconds; auto: 100 ms, 1 ms when "
		 "analysing growth, more for long recordings"},
	{"duration", 'd', OPTION_DURATION(struct heap_options, duration_ns), .argument = "TIME",
	 .min = NS_PER_MS, .help = "stop recording after this time; the program keeps running"},
	{"children", 0, OPTION_TOGGLE(struct heap_options, children), .key = "heap.children",
	 .help = "also record processes that the program starts"},
	{"args", 0, OPTION_FLAG(struct heap_options, arguments),
	 .help = "store the program's arguments in the recording, not only its name; they may "
		 "contain passwords"},
	{"maps", 0, OPTION_TOGGLE(struct heap_options, maps), .key = "heap.maps",
	 .help = "also record what the program maps itself, with mmap() and similar calls"},
	{"lossless", 0, OPTION_TOGGLE(struct heap_options, lossless), .key = "heap.lossless",
	 .help = "make a thread wait if it allocates faster than wick can write; with "
		 "--no-lossless it continues, and its events are dropped and counted as lost"},
	{"lossy", 0, OPTION_FLAG(struct heap_options, lossy), .help = "the same as --no-lossless"},
	{"max-peak", 0, OPTION_SIZE(struct heap_options, max_peak_bytes), .argument = "SIZE",
	 .max = 1ull << 50, .off = "off", .key = "heap.max_peak",
	 .help = "exit with status 3 if more than this was live at any time"},
	{"max-memory", 0, OPTION_SIZE(struct heap_options, max_memory_bytes), .argument = "SIZE",
	 .min = 1u << 20, .max = 1ull << 40, .off = "off", .key = "heap.max_memory",
	 .help = "use at most this much of the program's memory, in each process; record less if "
		 "that is not enough"},
	{"hook", 0, OPTION_LIST(struct heap_options, hooks), .argument = "alloc=SYM,free=SYM",
	 .key = "heap.hook",
	 .help = "also record blocks of the program's own allocator, given by its functions; "
		 "SYM@LIB is a function of a library; SYM:2 if the size, or the block, is the "
		 "second argument"},
	{"alloc-fn", 0, OPTION_LIST(struct heap_options, alloc_fns), .argument = "RE",
	 .key = "heap.alloc_fn",
	 .help = "with --leaks: treat functions that match as allocators: the place is then the "
		 "code that calls them; malloc, operator new and common wrappers are built in"},
	{"leaks", 0, OPTION_TOGGLE(struct heap_options, leaks), .key = "heap.leaks",
	 .help = "search for leaks when a program ends (with -p: when the recording ends), and "
		 "print them as wick leaks does"},
	{"scan-every", 0, OPTION_DURATION(struct heap_options, scan_every_ns), .argument = "TIME",
	 .help = "search for leaks at this interval while the program runs, and at the end"},
	{"at-signal", 0, OPTION_STRING(struct heap_options, at_signal), .argument = "SIGNAL",
	 .help = "search for leaks when wick receives this signal (USR1, USR2, HUP, ALRM), and at "
		 "the end"},
	{"scan", 0, OPTION_FLAG(struct heap_options, scan),
	 .help = "with -p: search a process for leaks once, now, while another wick heap --leaks "
		 "records it"},
	{"join", 0, OPTION_U64(struct heap_options, join_pid), .argument = "PID", .max = INT32_MAX,
	 .hidden = true,
	 .help = "record a process that has loaded the library and waits for the recorder"},
	{"quiet", 'q', OPTION_FLAG(struct heap_options, quiet),
	 .help = "print no summary at the end"},
	{OPTION_GROUP(struct heap_options, leak, leak_option_table), .help = "Leaks"},
	OPTION_END,
};

const struct command command_heap = {
	.name = "heap",
	.summary = "record every allocation of a program, with its call stack",
	.synopsis = "[OPTIONS] [--] PROGRAM [ARGUMENTS] | -p PID",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct heap_options),
	.defaults = &(const struct heap_options){.depth = 512, .children = true, .lossless = true},
	.max_arguments = -1,
	.argument_help = "PROGRAM: the program to run and record",
	.argument_offer = OPTION_OFFER_PROGRAM,
	.runs_program = true,
	.has_gates = true,
	.run = run_heap,
};
