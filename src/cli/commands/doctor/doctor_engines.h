/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_DOCTOR_DOCTOR_ENGINES_H
#define WICK_CLI_COMMANDS_DOCTOR_DOCTOR_ENGINES_H

/*
 * doctor_engines: each way to record tried on a small program, all at once. The program is
 * this one: see cmd_trial.c.
 */

#include <stdbool.h>

#include "live/engine_trial.h"

struct doctor_facts;
struct finding;

#define DOCTOR_ENGINES 8u

struct doctor_engine {
	const char *name; /* in JSON */
	const char *title;
	const char *engine; /* NULL: the one that wick record takes by itself */
	bool heap;
	bool attach;
	bool wakers;
	unsigned int calls; /* that it needs: bits of enum confined_call */
};

extern const struct doctor_engine doctor_engines[DOCTOR_ENGINES];

/* What came of each of them. */
struct doctor_trials {
	struct trial trials[DOCTOR_ENGINES];
};

void doctor_trials_start(struct doctor_trials *trials);

/*
 * Waits for the trial of one engine; each has to be judged once. Returns the engine that worked,
 * NULL for none.
 */
const char *doctor_trials_judge(struct doctor_trials *trials, unsigned int which,
				const struct doctor_facts *facts, struct finding *ret);

/* The finding that a result comes to. */
void doctor_engine_judge(const struct doctor_engine *engine, const struct trial_result *result,
			 const struct doctor_facts *facts, struct finding *ret);

#endif
