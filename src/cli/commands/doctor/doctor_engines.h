/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_DOCTOR_DOCTOR_ENGINES_H
#define WICK_CLI_COMMANDS_DOCTOR_DOCTOR_ENGINES_H

/*
 * doctor_engines: tries each way to record on a small program, all at the same time. The program
 * is wick itself: see cmd_trial.c.
 */

#include <stdbool.h>

#include "live/engine_trial.h"

struct doctor_facts;
struct finding;

#define DOCTOR_ENGINES 8u

struct doctor_engine {
	const char *name; /* in JSON */
	const char *title;
	const char *engine; /* NULL: the one that wick record chooses */
	bool heap;
	bool attach;
	bool wakers;
	unsigned int calls; /* system calls that it needs: bits of enum confined_call */
};

extern const struct doctor_engine doctor_engines[DOCTOR_ENGINES];

/* One trial for each engine. */
struct doctor_trials {
	struct trial trials[DOCTOR_ENGINES];
};

void doctor_trials_start(struct doctor_trials *trials);

/*
 * Waits for the trial of one engine; call it exactly once for each. Returns the name of the engine
 * if it worked, otherwise NULL.
 */
const char *doctor_trials_judge(struct doctor_trials *trials, unsigned int which,
				const struct doctor_facts *facts, struct finding *ret);

/* Turns the result of a trial into a finding. */
void doctor_engine_judge(const struct doctor_engine *engine, const struct trial_result *result,
			 const struct doctor_facts *facts, struct finding *ret);

#endif
