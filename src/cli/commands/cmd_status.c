/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "base/scope.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/commands/parts/status_json.h"
#include "cli/text/status.h"
#include "proc/process_info.h"
#include "record/remote/remote.h"

enum status_format { STATUS_FORMAT_TEXT, STATUS_FORMAT_JSON };

struct status_options {
	enum status_format format;
	bool pause;
	bool resume;
	bool write;
};

/* The answers of recorders: a JSON array. */
struct recorders {
	json_t *answers;
	size_t others;       /* directories of recorders of other users */
	struct error silent; /* why a recorder does not answer; code 0: all answer */
};

static int64_t number_of(const json_t *answer, const char *key)
{
	return json_integer_value(json_object_get(answer, key));
}

static const char *text_of(const json_t *answer, const char *key)
{
	const char *text = json_string_value(json_object_get(answer, key));

	return text ? text : "";
}

/* Prints text from another process so that it cannot control the terminal. */
static void print_text(FILE *out, const json_t *answer, const char *key)
{
	struct bytes text = {0};

	text_put_terminal(&text, text_of(answer, key));
	if (!text.failed)
		(void)fwrite(text.data, 1, text.size, out);
	bytes_fini(&text);
}

/* Whether a recorder is the process, or records it. */
static bool is_about(const json_t *answer, pid_t pid)
{
	const json_t *pids = json_object_get(answer, "pids");

	if (pid == 0 || number_of(answer, "recorder") == pid)
		return true;
	for (size_t i = 0; i < json_array_size(pids); i++)
		if (json_integer_value(json_array_get(pids, i)) == pid)
			return true;
	return false;
}

/* Parses the answer of a recorder; NULL if it is invalid. Releases the reply. */
static json_t *read_answer(pid_t recorder, struct bytes *reply)
{
	json_t *answer = json_loadb((const char *)reply->data, reply->size, 0, NULL);

	bytes_fini(reply);
	if (!json_is_object(answer)) {
		json_decref(answer);
		return NULL;
	}
	/* We know which process answers: its own claim is overwritten. */
	(void)json_object_set_new(answer, "recorder", json_integer(recorder));
	return answer;
}

/* The answer of a recorder to a request; NULL if it does not answer. */
static json_t *ask(pid_t recorder, enum remote_request request, struct error *err)
{
	struct bytes reply = {0};

	return remote_ask(recorder, request, &reply, err) == 0 ? read_answer(recorder, &reply)
							       : NULL;
}

/* A placeholder for a recorder that does not answer; NULL if out of memory. */
static json_t *silence_of(pid_t recorder, const struct error *why)
{
	return json_pack("{s:i,s:s,s:s,s:s}", "recorder", (int)recorder, "state", "silent", "why",
			 why->text, "remedy", why->remedy);
}

/* Keeps an answer if it concerns the process. */
static void keep(struct remote_answer *from, pid_t pid, struct recorders *ret)
{
	json_t *answer = NULL;

	if (from->err.code == 0)
		answer = read_answer(from->recorder, &from->reply);
	else
		bytes_fini(&from->reply);
	if (from->err.code == -ETIMEDOUT) {
		ret->silent = from->err;
		answer = silence_of(from->recorder, &from->err);
	}
	if (answer && is_about(answer, pid))
		(void)json_array_append_new(ret->answers, answer);
	else
		json_decref(answer);
}

/*
 * Collects the answers that concern a process; a recorder that has just ended is left out. If the
 * process is a recorder itself, no other one is asked: a busy recorder would delay the answer.
 */
static int find(pid_t pid, struct recorders *ret, struct error *err)
{
	struct pid_list list = {0};
	int r = remote_list(&list, &ret->others, err);
	bool is_recorder = r == 0 && pid_list_has(&list, pid);
	size_t count = is_recorder ? 1 : list.count;
	SCOPED(mem) struct remote_answer *answers = calloc(count + 1, sizeof(*answers));

	if (r == 0 && !answers)
		r = error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count && r == 0; i++)
		answers[i].recorder = is_recorder ? pid : list.items[i];
	if (r == 0)
		remote_ask_all(answers, count, REMOTE_STATUS, REMOTE_LIMIT_MS);
	for (size_t i = 0; i < count && r == 0; i++)
		keep(&answers[i], pid, ret);
	vec_fini(&list);
	return r;
}

/* Sends the request to the recorders found, and keeps their answers. */
static int send_request(struct recorders *recorders, enum remote_request request, struct error *err)
{
	for (size_t i = 0; i < json_array_size(recorders->answers); i++) {
		const json_t *before = json_array_get(recorders->answers, i);
		pid_t pid = (pid_t)number_of(before, "recorder");
		json_t *answer = ask(pid, request, err);

		if (!answer)
			return err->code < 0 ? err->code : remote_no_answer(pid, err);
		(void)json_array_set_new(recorders->answers, i, answer);
		if (text_of(answer, "error")[0])
			return remote_refused(pid, text_of(answer, "error"),
					      text_of(answer, "remedy"), err);
	}
	return 0;
}

static void print_one(FILE *out, const json_t *answer)
{
	const char *why = text_of(answer, "why");

	if (strcmp(text_of(answer, "state"), "silent") == 0) {
		print_text(out, answer, "why");
		(void)fputs("; ", out);
		print_text(out, answer, "remedy");
		(void)fputs("\n", out);
		return;
	}
	(void)fprintf(out, "recorder %" PRId64 ": ", number_of(answer, "recorder"));
	print_text(out, answer, "state");
	(void)fputs(why[0] ? " (" : "", out);
	print_text(out, answer, "why");
	(void)fputs(why[0] ? "), " : ", ", out);
	print_text(out, answer, "target");
	(void)fprintf(out, "\n  for        %.1f s, by ",
		      (double)number_of(answer, "elapsed_ns") / NS_PER_SEC);
	print_text(out, answer, "engine");
	(void)fprintf(out, "\n  samples    %" PRId64 ", %" PRId64 " lost\n",
		      number_of(answer, "samples"), number_of(answer, "lost"));
	if (number_of(answer, "asked_hz") > 0)
		(void)fprintf(out, "  rate       %" PRId64 " Hz of %" PRId64 " Hz\n",
			      number_of(answer, "rate_hz"), number_of(answer, "asked_hz"));
	(void)fprintf(out, "  overhead   %.2f %%\n  file       ",
		      json_number_value(json_object_get(answer, "overhead_percent")));
	print_text(out, answer, "output");
	(void)fprintf(out, " (%.1f KB)\n", (double)number_of(answer, "kept_bytes") / 1e3);
}

/* A string or a number; anything else is ignored. */
static struct status_value value_of(const json_t *value, const char *key)
{
	struct status_value ret = {.key = key, .kind = STATUS_NOTHING};

	if (json_is_null(value))
		ret.kind = STATUS_NULL;
	else if (json_is_string(value))
		ret = (struct status_value){key, STATUS_STRING, .text = json_string_value(value)};
	else if (json_is_integer(value))
		ret = (struct status_value){key, STATUS_NUMBER,
					    .number = json_integer_value(value)};
	else if (json_is_real(value))
		ret = (struct status_value){key, STATUS_REAL, .real = json_real_value(value)};
	return ret;
}

/* An answer may contain anything: only known keys are passed on, escaped. */
static void put_answer(struct status_json *out, const json_t *answer)
{
	static const char *const before[] = {"recorder", "target"};
	static const char *const behind[] = {
		"engine",  "state",    "why",           "elapsed_ns", "samples", "lost",
		"rate_hz", "asked_hz", "rate_failures", "kept_bytes", "output",  "overhead_percent",
		"error",   "remedy",
	};
	const json_t *pids = json_object_get(answer, "pids");

	status_json_open(out);
	for (size_t i = 0; i < ARRAY_SIZE(before); i++)
		status_json_put(out, value_of(json_object_get(answer, before[i]), before[i]));
	if (pids)
		status_json_open_list(out, "pids");
	for (size_t i = 0; i < json_array_size(pids); i++)
		status_json_put(out, value_of(json_array_get(pids, i), NULL));
	if (pids)
		status_json_close(out);
	for (size_t i = 0; i < ARRAY_SIZE(behind); i++)
		status_json_put(out, value_of(json_object_get(answer, behind[i]), behind[i]));
	status_json_close(out);
}

static int print_json(const struct command_context *context, const json_t *answers)
{
	struct status_json *json = status_json_new();
	struct error err = {0};
	int r;

	if (!json) {
		(void)error_set(&err, -ENOMEM, "out of memory");
		return command_failed(context, &err);
	}
	for (size_t i = 0; i < json_array_size(answers); i++)
		put_answer(json, json_array_get(answers, i));
	r = command_print(context, status_json_end(json));
	status_json_free(json);
	return r;
}

static int print(const struct command_context *context, const struct recorders *recorders,
		 enum status_format format)
{
	if (format == STATUS_FORMAT_JSON)
		return print_json(context, recorders->answers);
	for (size_t i = 0; i < json_array_size(recorders->answers) && format == STATUS_FORMAT_TEXT;
	     i++)
		print_one(context->out, json_array_get(recorders->answers, i));
	return COMMAND_DONE;
}

/* There is no recorder to show. */
static int nobody(const struct recorders *recorders, pid_t pid, struct error *err)
{
	if (pid > 0)
		(void)error_set(err, -ESRCH, "process %d is not being recorded", (int)pid);
	else
		(void)error_set(err, -ESRCH, "no recorder is running");
	if (recorders->silent.code < 0) { /* one of those may be the recorder */
		(void)error_prefix(err, -ESRCH, "as far as wick can see");
		error_remedy(err, "%.150s; %.60s", recorders->silent.text,
			     recorders->silent.remedy);
		return -ESRCH;
	}
	error_remedy(
		err, "%s",
		recorders->others > 0
			? "recorders of other users answer only to them and to root"
			: "to start a recording: wick record -p PID, or wick record -- PROGRAM");
	return -ESRCH;
}

static int run_status(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct status_options *options = values;
	struct recorders recorders = {.answers = json_array()};
	struct error err = {0};
	uint64_t pid = 0;
	int r = 0;

	if (options->pause + options->resume + options->write > 1)
		return command_misused(context,
				       "--pause, --resume and --write cannot be used together");
	if (argc == 0 && (options->pause || options->resume || options->write))
		return command_misused(context, "--pause, --resume and --write need a PID");
	if (argc > 0 && (number_parse_u64(argv[0], &pid) < 0 || pid == 0 || pid > INT32_MAX))
		return command_misused(context, "%s is not a process ID", argv[0]);
	if (!recorders.answers)
		r = error_set(&err, -ENOMEM, "out of memory");
	if (r == 0)
		r = find((pid_t)pid, &recorders, &err);
	if (r == 0 && json_array_size(recorders.answers) == 0 &&
	    (pid > 0 || options->format == STATUS_FORMAT_TEXT))
		r = nobody(&recorders, (pid_t)pid, &err);
	if (r == 0 && options->pause)
		r = send_request(&recorders, REMOTE_PAUSE, &err);
	if (r == 0 && options->resume)
		r = send_request(&recorders, REMOTE_RESUME, &err);
	if (r == 0 && options->write)
		r = send_request(&recorders, REMOTE_WRITE, &err);
	if (r == 0)
		r = print(context, &recorders, options->format);
	else
		r = command_failed(context, &err);
	json_decref(recorders.answers);
	return r;
}

static const struct option_spec table[] = {
	{"pause", 0, OPTION_FLAG(struct status_options, pause),
	 .help = "pause sampling; wick still follows the target"},
	{"resume", 0, OPTION_FLAG(struct status_options, resume), .help = "end a pause or a delay"},
	{"write", 0, OPTION_FLAG(struct status_options, write),
	 .help = "write what was recorded so far to the recorder's file"},
	{"format", 0, OPTION_ENUM(struct status_options, format, "text", "json"),
	 .help = "output format"},
	OPTION_END,
};

const struct command command_status = {
	.name = "status",
	.summary = "show active recordings, pause and resume them",
	.synopsis = "[OPTIONS] [PID]",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct status_options),
	.defaults = &(const struct status_options){0},
	.max_arguments = 1,
	.argument_help = "PID: a process that is being recorded, or its recorder",
	.argument_offer = OPTION_OFFER_PID,
	.run = run_status,
};
