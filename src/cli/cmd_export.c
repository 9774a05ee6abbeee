/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include "base/bytes.h"
#include "base/error.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "cli/debuginfod.h"
#include "cli/look.h"
#include "export/export.h"
#include "model/profile.h"
#include "pipeline/load.h"

struct export_command_options {
	const char *format;
	const char *output;
	bool marks;
	struct look_options look;
};

#define WRITE_BYTES (1u << 20)

/* Where the lines of samples go. */
struct sample_lines {
	struct export_list list;
	struct outfile file;
	struct bytes text; /* what waits to be written */
};

static int write_lines(struct sample_lines *lines, size_t least, struct error *err)
{
	int r;

	if (lines->text.failed)
		return error_set(err, -ENOMEM, "out of memory");
	if (lines->text.size < least)
		return 0;
	r = outfile_append(&lines->file, lines->text.data, lines->text.size, err);
	bytes_clear(&lines->text);
	return r;
}

static int take_sample(void *self, const struct profile *profile,
		       const struct export_sample *sample, struct error *err)
{
	struct sample_lines *lines = self;
	int r;

	if (sample) {
		r = export_list_sample(&lines->list, profile, sample, &lines->text, err);
		return r < 0 ? r : write_lines(lines, WRITE_BYTES, err);
	}
	while ((r = export_list_finish(&lines->list, profile, &lines->text, err)) > 0) {
		r = write_lines(lines, WRITE_BYTES, err);
		if (r < 0)
			return r;
	}
	return r;
}

static int export_samples_of(const struct exporter_ops *exporter, const char *input,
			     const struct load_options *load, const char *output, struct error *err)
{
	struct sample_lines lines = {0};
	int r = export_list_init(&lines.list, exporter, err);

	if (r == 0)
		r = outfile_begin(&lines.file, output, err);
	if (r < 0) {
		export_list_fini(&lines.list);
		return r;
	}
	r = load_samples(input, load, take_sample, &lines, err);
	if (r == 0)
		r = write_lines(&lines, 1, err);
	if (r == 0)
		r = outfile_commit(&lines.file, err);
	outfile_fini(&lines.file);
	export_list_fini(&lines.list);
	bytes_fini(&lines.text);
	return r;
}

static int export_profile(const struct exporter_ops *exporter, const char *input,
			  const struct load_options *load,
			  const struct export_command_options *options, struct error *err)
{
	const struct export_config config = {.value = EXPORT_DEFAULT_VALUE,
					     .marks = options->marks};
	struct profile *profile;
	struct bytes text = {0};
	int r = load_profile(input, load, &profile, err);

	if (r < 0)
		return r;
	r = exporter_write(exporter, profile, &config, &text, err);
	if (r == 0)
		r = outfile_write(options->output, text.data, text.size, err);
	bytes_fini(&text);
	profile_free(profile);
	return r;
}

static int run(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct export_command_options *options = values;
	const struct exporter_ops *exporter;
	struct debuginfod server;
	struct load_options load;
	struct error err;
	int r;

	if (!options->format)
		return command_misused(context,
				       "which format? give --format; see: wick list formats");
	exporter = exporter_find(options->format);
	if (!exporter)
		return command_misused(context,
				       "there is no format called %s; see: wick list formats",
				       options->format);
	r = look_check_output(context, argv[0], options->output);
	if (r != COMMAND_DONE)
		return r;
	r = look_to_load(context, &options->look, &server, &load);
	if (r != COMMAND_DONE)
		return r;
	load.told = true;
	load.collapse_recursion = options->look.collapse_recursion;
	r = exporter_lists_samples(exporter)
		    ? export_samples_of(exporter, argv[0], &load, options->output, &err)
		    : export_profile(exporter, argv[0], &load, options, &err);
	return r < 0 ? command_failed(context, &err) : COMMAND_DONE;
}

static const struct option_spec table[] = {
	{"format", 0, OPTION_STRING(struct export_command_options, format), .argument = "NAME",
	 .help = "folded, pprof, speedscope, firefox, perfetto, otlp, json or samples; see: wick "
		 "list formats"},
	{"output", 'o', OPTION_STRING(struct export_command_options, output), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .help = "where to write; - is standard output"},
	{"marks", 0, OPTION_FLAG(struct export_command_options, marks),
	 .help = "folded: mark frames of the kernel with _[k], inlined ones with _[i], JIT code "
		 "with _[j]"},
	{OPTION_GROUP(struct export_command_options, look, look_option_table), .help = "Filters"},
	OPTION_END,
};

const struct command command_export = {
	.name = "export",
	.summary = "write a recording in another format",
	.synopsis = "--format NAME [-o FILE] [OPTIONS] FILE",
	.description =
		(const char *const[]){
			"Folded stacks have one line for each stack: the functions from the root "
			"to the "
			"leaf with semicolons between them, the process name first, and the number "
			"of "
			"samples last.",
			"Samples come one a line, as JSON objects with everything known: time, "
			"thread, "
			"CPU, weight, labels and the stack from the root to the leaf.",
			"pprof files are what go tool pprof reads; speedscope's have one profile "
			"for each thread; json is one document with the call tree.",
			"firefox and perfetto keep every sample with its time: open the files at "
			"profiler.firefox.com and ui.perfetto.dev, which read them in the browser "
			"and send them nowhere. Perfetto counts samples and knows no weights. otlp "
			"is OpenTelemetry's ProfilesData, one profile for each value, "
			"uncompressed.",
			"Of a recording with several events, pprof, otlp, speedscope and json "
			"have all of them, the others the one of --event.",
			NULL,
		},
	.examples =
		(const struct command_example[]){
			{"wick export --format folded app.wick -o app.folded",
			 "for flame graph tools and scripts"},
			{"wick export --format pprof app.wick -o app.pb.gz",
			 "then: go tool pprof -top app.pb.gz"},
			{"wick export --format firefox app.wick -o app.json",
			 "then: load it at profiler.firefox.com"},
			{"wick export --format perfetto app.wick -o app.pftrace",
			 "then: open it at ui.perfetto.dev"},
			{"wick export --format samples app.wick | jq .comm",
			 "each sample, for scripts"},
			{NULL, NULL},
		},
	.options = table,
	.options_size = sizeof(struct export_command_options),
	.defaults =
		&(const struct export_command_options){.output = "-", .look = LOOK_OPTIONS_DEFAULT},
	.min_arguments = 1,
	.max_arguments = 1,
	.argument_help = "FILE: a recording, or - for standard input",
	.argument_offer = OPTION_OFFER_FILE,
	.run = run,
};
