/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include "cli/command.h"
#include "cli/commands/write_merged.h"

struct import_options {
	const char *output;
};

static int run(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct import_options *options = values;

	return write_merged(context, argv, 1, options->output);
}

static const struct option_spec table[] = {
	{"output", 'o', OPTION_STRING(struct import_options, output), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .help = "the recording to write"},
	OPTION_END,
};

const struct command command_import = {
	.name = "import",
	.summary = "make a recording of another profiler's file",
	.synopsis = "-o OUT.wick FILE",
	.description =
		(const char *const[]){
			"Takes perf.data (a file, or what perf writes into a pipe), the text of "
			"perf script, folded stacks, pprof and speedscope files, CPU, heap, growth "
			"and contention profiles of gperftools and heap profiles of jemalloc, also "
			"compressed with gzip; what it is, is found by its contents. Commands that "
			"look at recordings take such files directly. A file of another kind is "
			"refused with what it looks like.",
			"Of perf.data the stacks are those that perf copied, walked with the "
			"unwind "
			"tables of the same files (perf record --call-graph dwarf), or the frame "
			"pointers' (-g). Names come only from files whose build id, or else inode, "
			"is "
			"the recorded one, and for the kernel only while the same one still runs. "
			"All events are kept; looking commands show the first. What is cut off or "
			"damaged is counted as lost; hardware traces are passed over. Text that "
			"ends within a line is incomplete: the stacks that are whole are kept.",
			"A file may have 2 GiB, and inflate to 100 times its size (to 64 MB in any "
			"case, to 1 GiB at most): unpack it with gunzip if it needs more. A "
			"compressed record of perf.data may unpack to 64 MB, a stack of pprof have "
			"65,536 frames with inlined calls.",
			"Of perf script the names are those of the text, and all its events are "
			"kept. Profiles of gperftools and jemalloc have bare addresses: names come "
			"from the files that were mapped, if they are still the same ones.",
			"Of folded stacks the first name is taken for the process, and marks "
			"(_[k], "
			"_[i], _[j]) for the kind of a frame.",
			NULL,
		},
	.examples =
		(const struct command_example[]){
			{"wick import -o app.wick perf.data", "what perf record wrote"},
			{"wick import -o app.wick cpu.pb.gz", "a profile of a Go program"},
			{"perf script | wick flame - -o x.svg", "of text that perf prints"},
			{"wick flame stacks.folded -o x.svg", "without a recording in between"},
			{NULL, NULL},
		},
	.options = table,
	.options_size = sizeof(struct import_options),
	.defaults = &(const struct import_options){0},
	.min_arguments = 1,
	.max_arguments = 1,
	.argument_help = "FILE: a profile of another format, or - for standard input",
	.argument_offer = OPTION_OFFER_FILE,
	.run = run,
};
