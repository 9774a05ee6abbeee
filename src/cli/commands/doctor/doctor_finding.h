/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_DOCTOR_DOCTOR_FINDING_H
#define WICK_CLI_COMMANDS_DOCTOR_DOCTOR_FINDING_H

/* doctor_finding: what wick doctor says about one thing, and what it knows when it does. */

#include <stddef.h>

#include "engine/perf/perf_probe.h"
#include "proc/confinement.h"

enum verdict {
	VERDICT_OK,
	VERDICT_LIMITED, /* it works, but not all of it, or not well */
	VERDICT_NO,
};

struct finding {
	enum verdict verdict;
	char text[320];
	char remedy[400]; /* a command or setting; "" when there is nothing to do */
};

struct doctor_facts {
	struct perf_probe perf;
	struct confinement own;
};

struct doctor_check {
	const char *name; /* in JSON: scripts know it */
	const char *title;
	void (*look)(const struct doctor_facts *facts, struct finding *finding);
};

void finding_say(struct finding *finding, enum verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void finding_advise(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds to the remedy what gives the file that runs all the rights it can use. */
void finding_advise_grant(struct finding *finding);

/* Advises what raises a limit of this process: RLIMIT_NOFILE … */
void finding_advise_limit(struct finding *finding, int resource);

/*
 * The names of calls that a filter refuses, with commas between them; "" for none. The mask
 * has a bit for each enum confined_call that counts.
 */
void doctor_list_refused(const struct doctor_facts *facts, unsigned int mask, char *ret,
			 size_t size);

/* What lets system calls through that a filter refuses, for the container that this is. */
void finding_advise_sandbox(struct finding *finding, const struct doctor_facts *facts);

/* What gives the rights that are missing: root has lost them to a container. */
void finding_advise_rights(struct finding *finding, const struct doctor_facts *facts);

/* Why a perf event did not open; paranoid is the setting that would allow it. */
void finding_explain_perf(struct finding *finding, const struct doctor_facts *facts, int code,
			  int paranoid);

#endif
