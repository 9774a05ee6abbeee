/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/parts/heap_scan.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/command.h"
#include "proc/process_info.h"
#include "record/remote/remote.h"

/* The answer of a recorder; NULL if it does not answer. */
static json_t *ask(pid_t recorder, enum remote_request request, struct error *err)
{
	struct bytes reply = {0};
	json_t *answer = NULL;

	if (remote_ask(recorder, request, &reply, err) == 0)
		answer = json_loadb((const char *)reply.data, reply.size, 0, NULL);
	bytes_fini(&reply);
	return answer;
}

static bool records(pid_t recorder, pid_t pid)
{
	json_t *answer = ask(recorder, REMOTE_STATUS, NULL);
	const json_t *pids = json_object_get(answer, "pids");
	bool found = false;

	for (size_t i = 0; i < json_array_size(pids) && !found; i++)
		found = json_integer_value(json_array_get(pids, i)) == pid;
	json_decref(answer);
	return found;
}

/* The recorder of the process; 0 if there is none. */
static pid_t find_recorder(pid_t pid, struct error *err)
{
	struct pid_list list = {0};
	size_t others = 0;
	pid_t recorder = 0;

	if (remote_list(&list, &others, err) == 0)
		for (size_t i = 0; i < list.count && recorder == 0; i++)
			if (records(list.items[i], pid))
				recorder = list.items[i];
	vec_fini(&list);
	if (recorder == 0 && err->code == 0) {
		(void)error_set(err, -ESRCH, "process %d is not being recorded", (int)pid);
		error_remedy(err,
			     "record it first: wick heap -p %d --leaks -d 60 -o FILE (which scans "
			     "it at the end), or start it with wick heap --leaks -- PROGRAM",
			     (int)pid);
	}
	return recorder;
}

int heap_scan_run(const struct command_context *context, pid_t pid)
{
	struct error err = {0};
	pid_t recorder = find_recorder(pid, &err);
	json_t *answer = recorder > 0 ? ask(recorder, REMOTE_SCAN, &err) : NULL;
	const char *why = json_string_value(json_object_get(answer, "error"));
	const char *output = json_string_value(json_object_get(answer, "output"));

	if (recorder > 0 && !answer && err.code == 0)
		(void)remote_no_answer(recorder, &err);
	if (why && *why)
		(void)remote_refused(recorder, why,
				     json_string_value(json_object_get(answer, "remedy")), &err);
	if (err.code == 0)
		command_note(context, "scanned process %d; the result is in %s", (int)pid,
			     output ? output : "the recording");
	json_decref(answer);
	return err.code < 0 ? command_failed(context, &err) : COMMAND_DONE;
}
