/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/parts/record_output.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/text.h"
#include "cli/command.h"
#include "record/record.h"

void record_output_progress(void *self, uint64_t elapsed_ns, const struct engine_stats *stats,
			    uint64_t file_bytes)
{
	struct record_output *output = self;

	(void)fprintf(output->context->err, "\r\033[Krecording: %.1f s, %" PRIu64 " %s, %.1f MB",
		      (double)elapsed_ns / NS_PER_SEC,
		      output->counts_heap ? stats->heap.events : stats->samples.count,
		      output->counts_heap ? "allocations and frees" : "samples",
		      (double)file_bytes / 1e6);
	(void)fflush(output->context->err);
	output->progress_drawn = true;
}

void record_output_erase(struct record_output *output)
{
	if (output->progress_drawn)
		(void)fputs("\r\033[K", output->context->err);
	output->progress_drawn = false;
}

void record_output_notice(void *self, const char *text)
{
	struct record_output *output = self;

	record_output_erase(output);
	command_note(output->context, "%s", text);
}

void record_output_failure(struct record_output *output, const struct error *err)
{
	struct error closed = *err;

	record_output_erase(output);
	if (output->failure_printed)
		return;
	output->failure_printed = true;
	/* command_failed() is silent about a closed pipe, but here it ends the recording. */
	if (err->code == -EPIPE) {
		error_remedy(&closed, "the reader of the recording closed the pipe");
		(void)command_refused(output->context, &closed);
	} else {
		(void)command_failed(output->context, err);
	}
}

void record_output_waiting(const struct record_output *output, const struct record_result *result)
{
	if (result->child_running)
		command_note(output->context,
			     "the recording is complete; waiting for the program to end (Ctrl-C "
			     "stops waiting, and the program keeps running)");
}

void record_output_name(FILE *out, const char *name)
{
	struct bytes text = {0};

	text_put_terminal(&text, name);
	if (!text.failed)
		(void)fwrite(text.data, 1, text.size, out);
	bytes_fini(&text);
}

void record_output_heading(FILE *out, const char *what, const struct record_config *config,
			   const struct record_result *result)
{
	(void)fprintf(out, "wick: recorded %s", what);
	record_output_name(out, config->title);
	(void)fprintf(out, " for %.2f s into ", (double)result->duration_ns / NS_PER_SEC);
	record_output_name(out,
			   outfile_is_stdout(config->output) ? "standard output" : config->output);
	(void)fprintf(out, " (%.1f KB)\n", (double)result->file_bytes / 1e3);
}

void record_output_killed(FILE *out, const char *missing, const struct record_result *result)
{
	(void)fprintf(out,
		      "%s: signal %d (%s) killed the program after %.2f s; run it without wick to "
		      "see whether that happens there too\n",
		      missing, result->killed_by, strsignal(result->killed_by),
		      (double)result->duration_ns / NS_PER_SEC);
}

void record_output_refused_python(FILE *out, const struct engine_stats *stats)
{
	const struct engine_python_stats *python = &stats->python;

	if (python->refused > 0)
		(void)fprintf(out, "  calls      native only in %" PRIu64 " process%s: %s\n",
			      python->refused, python->refused == 1 ? "" : "es", python->reason);
}

void record_output_remark(FILE *out, const struct engine_stats *stats)
{
	if (stats->remark[0])
		(void)fprintf(out, "  note       %s\n", stats->remark);
}
