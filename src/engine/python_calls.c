/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/python_calls.h"

#include <stdio.h>

#include "engine/engine_stats.h"
#include "process_stacks/interpreters.h"

void python_calls_stats(struct interpreters *interpreters, struct engine_python_stats *ret)
{
	const struct interpreter_counts *counts;

	*ret = (struct engine_python_stats){0};
	if (!interpreters)
		return;
	counts = interpreters_counts(interpreters);
	ret->samples = counts->with_calls;
	ret->torn = counts->torn;
	ret->unnamed = counts->unnamed;
	ret->early = counts->early;
	ret->others = counts->others;
	ret->processes = counts->found;
	ret->refused = counts->refused;
	(void)snprintf(ret->languages, sizeof(ret->languages), "%s", counts->languages);
	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", counts->reason);
}
