/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/default_name.h"
#include "cli/heap_summary.h"
#include "cli/record_summary.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/report.h"
#include "pipeline/load.h"
#include "pipeline/record.h"

#define UNUSED_RATE_HZ 1 /* nothing is sampled by time */

struct heap_options {
	uint64_t duration_ns;
	const char *output;
	uint64_t sample_bytes;
	uint64_t depth;
	bool children;
	bool lossless;
	bool quiet;
	uint64_t max_peak_bytes;
};

/* A summary looks at no more events than this, which takes some seconds. */
#define SUMMARY_EVENTS 100000000u

struct heap_recording {
	const struct command_context *context;
	const struct heap_options *options;
	struct record_config config;
	struct heap_totals totals; /* of the recording, once it was looked at */
	bool has_totals;
	bool progress_drawn;
	bool failure_told;
};

static void erase_progress(struct heap_recording *recording)
{
	if (recording->progress_drawn)
		(void)fputs("\r\033[K", recording->context->err);
	recording->progress_drawn = false;
}

static void draw_progress(void *self, uint64_t elapsed_ns, const struct engine_stats *stats,
			  uint64_t file_bytes)
{
	struct heap_recording *recording = self;

	(void)fprintf(recording->context->err,
		      "\r\033[Krecording: %.1f s, %llu allocations and frees, %.1f MB",
		      (double)elapsed_ns / NS_PER_SEC, (unsigned long long)stats->heap_events,
		      (double)file_bytes / 1e6);
	(void)fflush(recording->context->err);
	recording->progress_drawn = true;
}

static void print_notice(void *self, const char *text)
{
	struct heap_recording *recording = self;

	erase_progress(recording);
	(void)fprintf(recording->context->err, "wick: %s\n", text);
}

/* Reads the recording again, for what it comes to. */
static void find_totals(struct heap_recording *recording, const struct record_result *result)
{
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	struct heap_profile heap;
	struct error err = {0};

	options.symbols = SYMBOLS_NAMES;
	options.inlines = false;
	if (strcmp(recording->config.output, "-") == 0 || result->stats.heap_events == 0 ||
	    (result->stats.heap_events > SUMMARY_EVENTS && !recording->options->max_peak_bytes) ||
	    load_heap(recording->config.output, &options, &heap, &err) < 0)
		return;
	recording->totals = heap_analysis_report(heap.analysis)->totals;
	recording->has_totals = true;
	heap_profile_fini(&heap);
}

static void print_end(void *self, const struct record_result *result, const struct error *err)
{
	struct heap_recording *recording = self;
	FILE *out = recording->context->err;

	erase_progress(recording);
	if (err) {
		(void)command_failed(recording->context, err);
		recording->failure_told = true;
	} else {
		if (!recording->options->quiet || recording->options->max_peak_bytes)
			find_totals(recording, result);
		if (!recording->options->quiet)
			heap_summary_print(out, &recording->config, result,
					   recording->has_totals ? &recording->totals : NULL);
	}
	(void)fflush(out);
}

static struct record_config config_of(struct heap_recording *recording, char **argv)
{
	const struct heap_options *options = recording->options;

	return (struct record_config){
		.sampling = {.event = "cpu-clock",
			     .frequency_hz = UNUSED_RATE_HZ,
			     .rate_given = true,
			     .depth = (uint32_t)options->depth,
			     .heap = {.on = true,
				      .alone = true,
				      .lossy = !options->lossless,
				      .sample_bytes = options->sample_bytes}},
		.target = {.kind = TARGET_COMMAND,
			   .children = options->children,
			   .program = argv[0]},
		.command = argv,
		.duration_ns = options->duration_ns,
		.pace = {.keeps_rate = true},
		.title = argv[0],
		.notice = print_notice,
		.finished = print_end,
		.progress = recording->context->progress ? draw_progress : NULL,
		.self = recording,
	};
}

/* Whether the gate has tripped; says so. */
static bool is_too_high(const struct heap_recording *recording)
{
	double most = (double)recording->options->max_peak_bytes;

	if (most == 0 || !recording->has_totals || recording->totals.peak.bytes <= most)
		return false;
	(void)fprintf(recording->context->err,
		      "wick: the peak of %.0f bytes is above the %.0f of --max-peak\n"
		      "      see who held it: wick report --by site ",
		      recording->totals.peak.bytes, most);
	record_summary_print_name(recording->context->err, recording->config.output);
	(void)fputc('\n', recording->context->err);
	return true;
}

/* The gate comes before our own failure, and that before the program's status. */
static int exit_status(const struct heap_recording *recording, const struct record_result *result,
		       int r)
{
	if (result->exec_code < 0)
		return result->exec_code == -ENOENT ? 127 : 126;
	if (r == 0 && is_too_high(recording))
		return COMMAND_GATE;
	if (r < 0)
		return COMMAND_FAILED;
	return result->child_status;
}

static int run(const struct command_context *context, void *values, int argc, char **argv)
{
	struct heap_recording recording = {.context = context, .options = values};
	struct record_result result = {0};
	struct error err = {0};
	char *output;
	int status;
	int r = 0;

	if (argc == 0)
		return command_misused(context, "nothing to record: give a program to run");
	if (recording.options->max_peak_bytes && recording.options->output &&
	    strcmp(recording.options->output, "-") == 0)
		return command_misused(context,
				       "--max-peak reads the recording again: give -o a file");
	output = recording.options->output ? strdup(recording.options->output)
					   : default_recording_name(argv[0]);
	recording.config = config_of(&recording, argv);
	recording.config.output = output;
	recording.config.engine = engine_find("signal", &recording.config.target, &err);
	if (!output)
		r = error_set(&err, -ENOMEM, "out of memory");
	else if (!recording.config.engine)
		r = err.code;
	else
		r = record_run(&recording.config, &result, &err);
	erase_progress(&recording);
	if (r < 0 && !recording.failure_told)
		(void)command_failed(context, &err);
	status = exit_status(&recording, &result, r);
	free(output);
	return status;
}

static const struct option_spec table[] = {
	{"output", 'o', OPTION_STRING(struct heap_options, output), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .help = "where the recording goes; - is standard output"},
	{"sample", 0, OPTION_SIZE(struct heap_options, sample_bytes), .argument = "BYTES",
	 .max = 1ull << 40, .off = "off", .key = "heap.sample_bytes",
	 .help = "record one block in so many bytes on average, at random; without it, all"},
	{"depth", 0, OPTION_U64(struct heap_options, depth), .argument = "N", .min = 1, .max = 1024,
	 .key = "heap.depth", .help = "frames kept of a stack"},
	{"duration", 'd', OPTION_DURATION(struct heap_options, duration_ns), .argument = "TIME",
	 .help = "stop after this time; the program goes on"},
	{"children", 0, OPTION_TOGGLE(struct heap_options, children), .key = "heap.children",
	 .help = "follow processes that the program starts"},
	{"lossless", 0, OPTION_TOGGLE(struct heap_options, lossless), .key = "heap.lossless",
	 .help = "a thread that allocates faster than can be written waits; else it goes on and "
		 "what it does is counted as lost"},
	{"max-peak", 0, OPTION_SIZE(struct heap_options, max_peak_bytes), .argument = "SIZE",
	 .max = 1ull << 50, .off = "off", .key = "heap.max_peak",
	 .help = "end with status 3 when more than this was live at a time"},
	{"quiet", 'q', OPTION_FLAG(struct heap_options, quiet), .help = "no summary at the end"},
	OPTION_END,
};

const struct command command_heap = {
	.name = "heap",
	.summary = "record every allocation of a program with its stack",
	.synopsis = "[OPTIONS] [--] PROGRAM [ARGUMENTS]",
	.description =
		(const char *const[]){
			"Runs a program and writes down what it does with its memory: each block "
			"that it asks for, with size, time, thread and the stack of calls that led "
			"there, and each that it gives back. wick report, wick flame and the "
			"others "
			"show who holds memory at the peak, at the end, and who asks for most.",
			"Processes that the program starts are recorded into the same file. "
			"Nothing "
			"needs to be recompiled, and no rights are needed. Programs that are "
			"linked "
			"statically or that become another user cannot be recorded in this way.",
			"The exit status is that of the program (128 + signal when it was killed, "
			"127 not found, 126 not executable), 1 when the recording failed, 2 for "
			"wrong usage, 3 when --max-peak was exceeded.",
			NULL,
		},
	.examples =
		(const struct command_example[]){
			{"wick heap -- ./app", "every allocation, from start to end"},
			{"wick heap --sample 512K -o app.wick -- ./app",
			 "about one block in 512 KiB, for next to nothing"},
			{"wick heap --max-peak 200M -o test.wick -- ./test",
			 "a test that fails when it takes too much"},
			{NULL, NULL},
		},
	.options = table,
	.options_size = sizeof(struct heap_options),
	.defaults = &(const struct heap_options){.depth = 512, .children = true, .lossless = true},
	.max_arguments = -1,
	.argument_help = "PROGRAM: what to run and record",
	.argument_offer = OPTION_OFFER_PROGRAM,
	.runs_program = true,
	.has_gates = true,
	.run = run,
};
