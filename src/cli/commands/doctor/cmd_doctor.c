/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/commands/doctor/doctor_engines.h"
#include "cli/commands/doctor/doctor_finding.h"
#include "cli/commands/doctor/doctor_limits.h"
#include "cli/commands/doctor/doctor_symbols.h"
#include "cli/text/doctor.h"

enum doctor_format { DOCTOR_FORMAT_TEXT, DOCTOR_FORMAT_JSON };

struct doctor_options {
	enum doctor_format format;
};

struct row {
	const char *name;
	const char *title;
	struct finding finding;
};

struct examination {
	struct doctor_facts facts;
	const char *engine; /* that wick record chooses; NULL: it fails */
	const char *other;  /* the best that works with --engine; NULL: none works */
	VEC(struct row) rows;
	bool failed; /* out of memory */
};

static void check_host(const struct doctor_facts *facts, struct finding *finding)
{
	bool known =
		strcmp(facts->perf.cpu, "x86_64") == 0 || strcmp(facts->perf.cpu, "aarch64") == 0;

	finding_say(finding, known ? VERDICT_OK : VERDICT_LIMITED, "Linux %s on %s",
		    facts->perf.release, facts->perf.cpu);
	if (!known)
		finding_advise(finding, "on this CPU, wick walks stacks with frame pointers only: "
					"compile with -fno-omit-frame-pointer");
}

static void add_row(struct examination *examination, const char *name, const char *title,
		    const struct finding *finding)
{
	if (vec_push(&examination->rows, (struct row){name, title, *finding}) < 0)
		examination->failed = true;
}

static void add_checks(struct examination *examination, const struct doctor_check *checks)
{
	for (; checks->name; checks++) {
		struct finding finding = {0};

		checks->look(&examination->facts, &finding);
		add_row(examination, checks->name, checks->title, &finding);
	}
}

static void add_engines(struct examination *examination, struct doctor_trials *trials)
{
	for (unsigned int i = 0; i < DOCTOR_ENGINES; i++) {
		const struct doctor_engine *engine = &doctor_engines[i];
		struct finding finding;
		const char *works = doctor_trials_judge(trials, i, &examination->facts, &finding);

		if (!engine->engine)
			examination->engine = works;
		else if (!engine->heap && !examination->other)
			examination->other = works;
		add_row(examination, engine->name, engine->title, &finding);
	}
}

static void examine(struct examination *examination)
{
	static const struct doctor_check host[] = {{"host", "host", check_host},
						   {NULL, NULL, NULL}};
	struct doctor_trials trials;

	confinement_read(&examination->facts.own, "");
	add_checks(examination, doctor_mounts);
	if (examination->facts.own.lacks_proc) {
		perf_probe_settings(&examination->facts.perf, -ENOENT);
		add_checks(examination, host);
		return; /* without them all other checks would fail */
	}
	doctor_trials_start(&trials);
	/* A seccomp filter may kill a process that makes a blocked call. */
	if (examination->facts.own.refused[CONFINED_PERF_EVENT_OPEN])
		perf_probe_settings(&examination->facts.perf, -EPERM);
	else
		perf_probe(&examination->facts.perf);
	add_checks(examination, host);
	add_engines(examination, &trials);
	add_checks(examination, doctor_limits);
	add_checks(examination, doctor_symbols);
}

static void put_text(struct bytes *out, const struct examination *examination, bool color)
{
	static const char *const words[] = {"ok", "limited", "no"};
	static const char *const colors[] = {"\033[32m", "\033[33m", "\033[31m"};

	for (size_t i = 0; i < examination->rows.count; i++) {
		const struct row *row = &examination->rows.items[i];
		enum verdict verdict = row->finding.verdict;

		bytes_printf(out, "%s%-8s%s %-20s ", color ? colors[verdict] : "", words[verdict],
			     color ? "\033[0m" : "", row->title);
		text_put_terminal(out, row->finding.text);
		if (row->finding.remedy[0]) {
			bytes_printf(out, "\n%-29s ", "");
			text_put_terminal(out, row->finding.remedy);
		}
		bytes_printf(out, "\n");
	}
	if (examination->engine)
		bytes_printf(out, "\nwick record works here.\n");
	else if (examination->other)
		bytes_printf(out, "\nwick record fails here; wick record --engine %s works.\n",
			     examination->other);
	else
		bytes_printf(out, "\nNo engine %s.\n",
			     examination->facts.own.lacks_proc ? "was tried" : "works here");
}

static void put_json(struct bytes *out, const struct examination *examination)
{
	static const char *const words[] = {"ok", "limited", "no"};
	struct json json;

	json_init(&json, out, true);
	json_open_object(&json, NULL);
	json_bool(&json, "usable", examination->engine != NULL);
	json_string(&json, "engine", examination->engine);
	json_string(&json, "kernel", examination->facts.perf.release);
	json_string(&json, "cpu", examination->facts.perf.cpu);
	json_open_array(&json, "checks");
	for (size_t i = 0; i < examination->rows.count; i++) {
		const struct row *row = &examination->rows.items[i];
		const char *remedy = row->finding.remedy;

		json_open_object(&json, NULL);
		json_string(&json, "name", row->name);
		json_string(&json, "status", words[row->finding.verdict]);
		json_string(&json, "text", row->finding.text);
		json_string(&json, "remedy", remedy[0] ? remedy : NULL);
		json_close(&json);
	}
	json_close(&json);
	json_close(&json);
}

static int run_doctor(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct doctor_options *options = values;
	struct examination examination = {0};
	struct bytes text = {0};
	int status;

	(void)argc, (void)argv;
	examine(&examination);
	if (options->format == DOCTOR_FORMAT_JSON)
		put_json(&text, &examination);
	else
		put_text(&text, &examination, context->color_out);
	text.failed |= examination.failed;
	status = command_print(context, &text);
	bytes_fini(&text);
	vec_fini(&examination.rows);
	if (status != COMMAND_DONE)
		return status;
	return examination.engine ? COMMAND_DONE : COMMAND_FAILED;
}

static const struct option_spec table[] = {
	{"format", 0, OPTION_ENUM(struct doctor_options, format, "text", "json"),
	 .help = "output format"},
	OPTION_END,
};

const struct command command_doctor = {
	.name = "doctor",
	.summary = "check what works on this machine, and how to fix what does not",
	.synopsis = "[OPTIONS]",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct doctor_options),
	.defaults = &(const struct doctor_options){0},
	.run = run_doctor,
};
