/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_HOOKS_H
#define WICK_ENGINE_SIGNAL_HOOKS_H

/* hooks: functions that programs are asked to hook in themselves, and what became of it. */

#include <stddef.h>
#include <stdint.h>

#include "wire/session.h"

struct engine_hook;
struct engine_stats;

struct hooks {
	const struct engine_hook *items; /* borrowed */
	size_t count;
	uint32_t programs[SESSION_HOOKS][SESSION_HOOK_STATES]; /* that ended so */
};

/* Asks for those that can be. */
void hooks_ask(const struct hooks *hooks, struct session_control *control);
/* What a program has to say. */
void hooks_count(struct hooks *hooks, const struct session_process *process);
/* Says what is not hooked, and why. */
void hooks_remark(const struct hooks *hooks, struct engine_stats *stats);

#endif
