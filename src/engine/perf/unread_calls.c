/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/unread_calls.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "engine/engine_stats.h"
#include "proc/maps.h"
#include "process_stacks/interpreters.h"

struct unread_calls {
	struct interpreters *interpreters;
};

struct unread_calls *unread_calls_new(void)
{
	struct unread_calls *unread = calloc(1, sizeof(*unread));

	if (!unread)
		return NULL;
	unread->interpreters = interpreters_new();
	if (unread->interpreters)
		return unread;
	free(unread);
	return NULL;
}

void unread_calls_free(struct unread_calls *unread)
{
	if (!unread)
		return;
	interpreters_free(unread->interpreters);
	free(unread);
}

void unread_calls_look(struct unread_calls *unread, pid_t pid)
{
	if (unread)
		(void)interpreters_look(unread->interpreters, (uint32_t)pid, pid); /* is counted */
}

void unread_calls_map(struct unread_calls *unread, pid_t pid, const struct map_region *region)
{
	/* Looking reads the whole map: not for everything that is mapped. */
	if (unread && (region->protection & REGION_EXEC) &&
	    strstr(path_base_name(region->path), "python"))
		unread_calls_look(unread, pid);
}

void unread_calls_forget(struct unread_calls *unread, pid_t pid)
{
	if (unread)
		interpreters_forget(unread->interpreters, (uint32_t)pid);
}

void unread_calls_stats(struct unread_calls *unread, struct engine_python_stats *ret)
{
	const struct interpreter_counts *counts;

	if (!unread)
		return;
	counts = interpreters_counts(unread->interpreters);
	ret->refused = counts->found;
	(void)snprintf(ret->reason, sizeof(ret->reason),
		       "the perf engine cannot read interpreted calls; use --engine ebpf, signal "
		       "or ptrace");
}
