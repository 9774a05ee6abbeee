/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/interpreters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"
#include "language/language.h"
#include "proc/maps.h"
#include "unwind/python_walk.h"

/* Of the processes that exist at one time. */
#define PROCESSES_MAX 65536u

struct process_interpreter {
	uint32_t number;
	struct interpreter *interpreter; /* NULL: it cannot be read */
	bool refused;                    /* and counted so */
};

struct interpreters {
	struct languages *languages;
	VEC(struct process_interpreter) processes;
	struct interpreter_counts counts;
};

struct interpreters *interpreters_new(void)
{
	struct interpreters *interpreters = calloc(1, sizeof(*interpreters));

	if (!interpreters)
		return NULL;
	interpreters->languages = languages_new();
	if (interpreters->languages)
		return interpreters;
	free(interpreters);
	return NULL;
}

void interpreters_free(struct interpreters *interpreters)
{
	if (!interpreters)
		return;
	for (size_t i = 0; i < interpreters->processes.count; i++)
		interpreter_close(interpreters->processes.items[i].interpreter);
	vec_fini(&interpreters->processes);
	languages_free(interpreters->languages);
	free(interpreters);
}

static struct process_interpreter *find(const struct interpreters *interpreters, uint32_t number)
{
	/* The newest are sampled most. */
	for (size_t i = interpreters->processes.count; i-- > 0;)
		if (interpreters->processes.items[i].number == number)
			return &interpreters->processes.items[i];
	return NULL;
}

struct interpreter *interpreters_of(const struct interpreters *interpreters, uint32_t number)
{
	const struct process_interpreter *process = find(interpreters, number);

	return process ? process->interpreter : NULL;
}

/* Adds a language to those that were found: "Python", "Python or Ruby". */
static void note_language(struct interpreter_counts *counts, const char *language)
{
	size_t length = strlen(counts->languages);

	if (strstr(counts->languages, language))
		return;
	(void)snprintf(counts->languages + length, sizeof(counts->languages) - length, "%s%s",
		       length > 0 ? " or " : "", language);
}

/* Looks at what is mapped. Returns what interpreter_find() does, or that the maps cannot be read.
 */
static int look_at_maps(struct interpreters *interpreters, pid_t pid,
			struct map_region *ret_program, struct interpreter **ret, struct error *err)
{
	struct maps maps = {0};
	int r = maps_read(&maps, pid, MAPS_EXECUTABLE_ONLY, NULL);

	*ret_program = (struct map_region){0};
	if (r == 0 && maps.count > 0)
		*ret_program = maps.items[0];
	ret_program->path = NULL; /* it does not outlive the maps */
	if (r == 0)
		r = interpreter_find(interpreters->languages, pid, &maps, ret, err);
	maps_fini(&maps);
	return r;
}

int interpreters_search(struct interpreters *interpreters, uint32_t number, pid_t pid,
			struct map_region *ret_program)
{
	struct process_interpreter process = {.number = number};
	struct interpreter_counts *counts = &interpreters->counts;
	uint64_t begin_ns = clock_monotonic_ns();
	struct error err = {0};
	int r;

	*ret_program = (struct map_region){0};
	if (find(interpreters, number))
		return 0;
	if (interpreters->processes.count >= PROCESSES_MAX)
		return -E2BIG;
	r = look_at_maps(interpreters, pid, ret_program, &process.interpreter, &err);
	log_debug("looked for an interpreter in process %d for %.1f ms: %s", (int)pid,
		  (double)(clock_monotonic_ns() - begin_ns) / NS_PER_MS,
		  r == 0 ? interpreter_language(process.interpreter) : "none");
	if (r < 0 && r != -ENOTSUP)
		return r; /* there is none yet */
	if (vec_push(&interpreters->processes, process) < 0) {
		interpreter_close(process.interpreter);
		return -ENOMEM;
	}
	counts->found += r == 0;
	counts->refused += r < 0;
	if (r < 0 && counts->reason[0] == '\0')
		(void)snprintf(counts->reason, sizeof(counts->reason), "%.159s", err.text);
	if (r == 0)
		note_language(counts, interpreter_language(process.interpreter));
	return r;
}

struct interpreter *interpreters_look(struct interpreters *interpreters, uint32_t number, pid_t pid)
{
	struct map_region program;

	(void)interpreters_search(interpreters, number, pid, &program); /* it is in the list */
	return interpreters_of(interpreters, number);
}

void interpreters_fork(struct interpreters *interpreters, uint32_t number, uint32_t parent)
{
	const struct interpreter *of_parent = interpreters_of(interpreters, parent);
	struct process_interpreter process = {.number = number};

	if (!of_parent || find(interpreters, number) ||
	    interpreters->processes.count >= PROCESSES_MAX)
		return;
	process.interpreter = interpreter_fork(of_parent);
	if (!process.interpreter)
		return;
	if (vec_push(&interpreters->processes, process) < 0)
		interpreter_close(process.interpreter);
	else
		interpreters->counts.found++;
}

const struct python_layout *interpreters_layout(struct interpreters *interpreters, uint32_t number)
{
	struct process_interpreter *process = find(interpreters, number);
	struct interpreter_counts *counts = &interpreters->counts;
	const struct python_layout *layout;

	if (!process || !process->interpreter)
		return NULL;
	layout = interpreter_layout(process->interpreter);
	if (layout || process->refused)
		return layout;
	process->refused = true;
	counts->found--;
	counts->refused++;
	if (counts->reason[0] == '\0')
		(void)snprintf(counts->reason, sizeof(counts->reason),
			       "this engine cannot read %s calls; --engine ptrace can",
			       interpreter_language(process->interpreter));
	return NULL;
}

void interpreters_forget(struct interpreters *interpreters, uint32_t number)
{
	struct process_interpreter *process = find(interpreters, number);

	if (!process)
		return;
	interpreter_close(process->interpreter);
	*process = interpreters->processes.items[--interpreters->processes.count];
}

void interpreters_refuse(struct interpreters *interpreters, const char *reason)
{
	struct interpreter_counts *counts = &interpreters->counts;

	counts->refused++;
	(void)snprintf(counts->reason, sizeof(counts->reason), "%s", reason);
}

void interpreters_count(struct interpreters *interpreters, int end, uint32_t calls)
{
	interpreters->counts.with_calls += calls > 0;
	interpreters->counts.torn += end == PYTHON_TORN || end == PYTHON_UNREADABLE;
}

struct interpreter_counts *interpreters_counts(struct interpreters *interpreters)
{
	return &interpreters->counts;
}
