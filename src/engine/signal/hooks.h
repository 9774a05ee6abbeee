/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_HOOKS_H
#define WICK_ENGINE_SIGNAL_HOOKS_H

/* hooks: functions that programs are to hook in themselves, and the results. */

#include <stddef.h>
#include <stdint.h>

#include "wire/session.h"

struct engine_hook;
struct engine_stats;

struct hooks {
	const struct engine_hook *items; /* borrowed */
	size_t count;
	uint32_t programs[SESSION_HOOKS]
			 [SESSION_HOOK_STATES]; /* number of programs with this result */
};

/* Requests those that can be hooked. */
void hooks_ask(const struct hooks *hooks, struct session_control *control);
/* Adds the results of a program. */
void hooks_count(struct hooks *hooks, const struct session_process *process);
/* Reports what is not hooked, and why. */
void hooks_remark(const struct hooks *hooks, struct engine_stats *stats);

#endif
