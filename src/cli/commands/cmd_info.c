/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/scope.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/text/info.h"
#include "load/inspect.h"
#include "load/load_open.h"
#include "model/dictionary.h"
#include "plugin/plugins.h"

enum info_format { INFO_FORMAT_TEXT, INFO_FORMAT_JSON };

struct info_options {
	bool check;
	enum info_format format;
};

static const char *const loss_names[LOSS_REASONS] = {
	[LOSS_RING_FULL] = "buffer full", [LOSS_TIMER] = "late timer",
	[LOSS_THROTTLED] = "throttled",   [LOSS_NO_MEMORY] = "no memory",
	[LOSS_UNREADABLE] = "unreadable",
};

static void format_time(uint64_t realtime_ns, char *text, size_t size)
{
	time_t seconds = (time_t)(realtime_ns / NS_PER_SEC);
	struct tm parts;

	text[0] = '\0';
	if (realtime_ns > 0 && gmtime_r(&seconds, &parts))
		(void)strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

static void put_fact(struct bytes *out, const char *key, const char *value)
{
	bytes_printf(out, "%-14s ", key);
	text_put_terminal(out, value);
	bytes_put_u8(out, '\n');
}

static uint64_t lost(const struct inspection *inspection)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < LOSS_REASONS; i++)
		sum += inspection->lost_by[i];
	return sum;
}

static void put_text_modules(struct bytes *out, const struct inspection *inspection)
{
	const struct dictionary *dictionary = recording_reader_dictionary(inspection->reader);
	size_t i;

	bytes_printf(out, "\n%10s %-40s module\n", "samples", "build id");
	for (i = 0; i < dictionary->modules.count; i++) {
		const struct module *module = &dictionary->modules.items[i];
		char build_id[2 * BUILD_ID_MAX + 1];

		build_id_format(&module->build_id, build_id);
		bytes_printf(out, "%10" PRIu64 " %-40s ",
			     i < inspection->module_count ? inspection->module_samples[i] : 0,
			     build_id[0] ? build_id : "-");
		text_put_terminal(out, module->path[0] ? module->path : "[anonymous]");
		bytes_put_u8(out, '\n');
	}
}

static void put_text_counts(struct bytes *out, const struct inspection *inspection)
{
	const struct dictionary *dictionary = recording_reader_dictionary(inspection->reader);
	const struct recording_damage *damage = &inspection->damage;
	size_t i;

	bytes_printf(out, "%-14s %" PRIu64, "samples", inspection->samples);
	if (inspection_number(inspection, "samples_expected") > 0)
		bytes_printf(out, " of %" PRIu64 " expected",
			     inspection_number(inspection, "samples_expected"));
	if (damage->heap_events > 0)
		bytes_printf(out, "\n%-14s %" PRIu64, "heap events", damage->heap_events);
	bytes_printf(out, "\n%-14s %" PRIu64, "lost", lost(inspection));
	for (i = 0; i < LOSS_REASONS; i++)
		if (inspection->lost_by[i] > 0)
			bytes_printf(out, " (%s %" PRIu64 ")", loss_names[i],
				     inspection->lost_by[i]);
	bytes_printf(out,
		     "\n%-14s %" PRIu64 " readable, %" PRIu64 " damaged, %" PRIu64 " unknown\n",
		     "chunks", damage->chunks - damage->bad_chunks * (damage->skipped_bytes == 0),
		     damage->bad_chunks, damage->unknown_chunks);
	if (damage->missing_heap_events > 0)
		bytes_printf(out, "%-14s %" PRIu64 " heap events\n", "unreadable",
			     damage->missing_heap_events);
	if (damage->missing_samples > 0 || damage->cut_bytes > 0)
		bytes_printf(out, "%-14s %" PRIu64 " samples, %" PRIu64 " bytes at the end\n",
			     "unreadable", damage->missing_samples, damage->cut_bytes);
	bytes_printf(out, "%-14s %s\n", "complete", damage->complete ? "yes" : "no");
	bytes_printf(out,
		     "%-14s %zu processes, %zu threads, %zu modules, %" PRIu64
		     " stacks, %zu frames, "
		     "%" PRIu64 " mappings\n",
		     "holds", dictionary->processes.count, dictionary->threads.count,
		     dictionary->modules.count, inspection->unique_stacks, dictionary->frames.count,
		     inspection->maps);
}

static void put_text(struct bytes *out, const struct inspection *inspection)
{
	static const char *const keys[] = {
		"title",  "command", "engine", "mode",          "event",  "frequency_hz", "host",
		"kernel", "machine", "wick",   "imported_from", "damage", "aux_skipped",  "note"};
	uint64_t recorded_ns = inspection_number(inspection, "recorded_ns");
	char when[32];
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (inspection_fact(inspection, keys[i])[0])
			put_fact(out, keys[i], inspection_fact(inspection, keys[i]));
	format_time(inspection->start_realtime_ns, when, sizeof(when));
	if (when[0])
		put_fact(out, "start", when);
	bytes_printf(out, "%-14s %.3f s", "duration",
		     (double)(inspection->end_ns - inspection->start_ns) / NS_PER_SEC);
	if (recorded_ns > 0)
		bytes_printf(out, ", %.3f s of it recorded", (double)recorded_ns / NS_PER_SEC);
	bytes_put_u8(out, '\n');
	bytes_printf(out, "%-14s %u.%u\n", "format", inspection->major, inspection->minor);
	put_text_counts(out, inspection);
	put_text_modules(out, inspection);
}

static void put_text_check(struct bytes *out, const struct inspection *inspection)
{
	struct inspect_problem problems[INSPECT_MAX_PROBLEMS];
	size_t count;
	enum inspect_verdict verdict = inspection_judge(inspection, problems, &count);
	size_t i;

	bytes_printf(out, "\nquality: %s\n", inspect_verdict_name(verdict));
	for (i = 0; i < count; i++)
		bytes_printf(out, "  %s: %s\n", inspect_verdict_name(problems[i].weight),
			     problems[i].text);
}

static void put_json_modules(struct json *json, const struct inspection *inspection)
{
	const struct dictionary *dictionary = recording_reader_dictionary(inspection->reader);
	size_t i;

	json_open_array(json, "modules");
	for (i = 0; i < dictionary->modules.count; i++) {
		const struct module *module = &dictionary->modules.items[i];
		char build_id[2 * BUILD_ID_MAX + 1];

		build_id_format(&module->build_id, build_id);
		json_open_object(json, NULL);
		json_string(json, "path", module->path);
		json_string(json, "build_id", build_id[0] ? build_id : NULL);
		json_u64(json, "samples",
			 i < inspection->module_count ? inspection->module_samples[i] : 0);
		json_close(json);
	}
	json_close(json);
}

static void put_json_check(struct json *json, const struct inspection *inspection)
{
	struct inspect_problem problems[INSPECT_MAX_PROBLEMS];
	size_t count;
	enum inspect_verdict verdict = inspection_judge(inspection, problems, &count);
	size_t i;

	json_string(json, "quality", inspect_verdict_name(verdict));
	json_open_array(json, "problems");
	for (i = 0; i < count; i++)
		json_string(json, NULL, problems[i].text);
	json_close(json);
}

static void put_json(struct bytes *out, const struct inspection *inspection, bool check)
{
	const struct dictionary *dictionary = recording_reader_dictionary(inspection->reader);
	const struct recording_damage *damage = &inspection->damage;
	struct json json;
	size_t i;

	json_init(&json, out, true);
	json_open_object(&json, NULL);
	json_open_object(&json, "session");
	for (i = 0; i < inspection->facts.count; i++)
		json_string(&json, inspection->facts.items[i].key,
			    inspection->facts.items[i].value);
	json_close(&json);
	json_u64(&json, "start_ns", inspection->start_ns);
	json_u64(&json, "start_realtime_ns", inspection->start_realtime_ns);
	json_u64(&json, "duration_ns", inspection->end_ns - inspection->start_ns);
	json_u64(&json, "period", inspection->period);
	json_u64(&json, "samples", inspection->samples);
	json_u64(&json, "expected", inspection_number(inspection, "samples_expected"));
	json_u64(&json, "weight", inspection->weight);
	json_u64(&json, "lost", lost(inspection));
	json_u64(&json, "unreadable", damage->missing_samples);
	json_u64(&json, "heap_events", damage->heap_events);
	json_u64(&json, "unreadable_heap_events", damage->missing_heap_events);
	json_u64(&json, "truncated", inspection->truncated_samples);
	json_u64(&json, "damaged_chunks", damage->bad_chunks);
	json_u64(&json, "unknown_chunks", damage->unknown_chunks);
	json_u64(&json, "cut_bytes", damage->cut_bytes);
	json_bool(&json, "complete", damage->complete);
	json_double(&json, "overhead_percent", inspection_overhead_percent(inspection), 3);
	json_u64(&json, "stacks", inspection->unique_stacks);
	json_u64(&json, "stack_nodes", dictionary->stacks.nodes.count - 1);
	json_u64(&json, "threads", dictionary->threads.count);
	json_u64(&json, "processes", dictionary->processes.count);
	put_json_modules(&json, inspection);
	if (check)
		put_json_check(&json, inspection);
	json_close(&json);
}

static int run_info(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct info_options *options = values;
	struct inspect_problem problems[INSPECT_MAX_PROBLEMS];
	struct inspection inspection;
	struct bytes text = {0};
	struct error err;
	int fd = load_open(argv[0], plugins_importers(context->plugins), &err);
	SCOPED(fd) int again = -1;
	off_t start;
	size_t count;
	int status;

	if (fd < 0)
		return command_failed(context, &err);
	start = lseek(fd, 0, SEEK_CUR);
	again = options->check ? fcntl(fd, F_DUPFD_CLOEXEC, 3) : -1;
	if (inspection_read(&inspection, fd, argv[0], &err) < 0) {
		inspection_fini(&inspection);
		return command_failed(context, &err);
	}
	if (again >= 0 && start >= 0)
		inspection_find_roots(&inspection, again, start);
	if (options->format == INFO_FORMAT_JSON)
		put_json(&text, &inspection, options->check);
	else
		put_text(&text, &inspection);
	if (options->check && options->format == INFO_FORMAT_TEXT)
		put_text_check(&text, &inspection);
	status = command_print(context, &text);
	if (status == COMMAND_DONE && options->check &&
	    inspection_judge(&inspection, problems, &count) == VERDICT_DAMAGED)
		status = COMMAND_FAILED;
	bytes_fini(&text);
	inspection_fini(&inspection);
	return status;
}

static const struct option_spec table[] = {
	{"check", 0, OPTION_FLAG(struct info_options, check),
	 .help = "verify the file and rate its quality; exit with status 1 if it is damaged"},
	{"format", 0, OPTION_ENUM(struct info_options, format, "text", "json"),
	 .help = "output format"},
	OPTION_END,
};

const struct command command_info = {
	.name = "info",
	.summary = "show what is in a recording, and check it",
	.synopsis = "[--check] FILE",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct info_options),
	.defaults = &(const struct info_options){0},
	.min_arguments = 1,
	.max_arguments = 1,
	.argument_help = "FILE: a recording, or - for standard input",
	.argument_offer = OPTION_OFFER_FILE,
	.run = run_info,
};
