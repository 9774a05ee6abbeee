/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_DOCTOR_DOCTOR_FINDING_H
#define WICK_CLI_COMMANDS_DOCTOR_DOCTOR_FINDING_H

/* doctor_finding: the result of one check of wick doctor, and the facts that checks use. */

#include <stddef.h>

#include "engine/perf/perf_probe.h"
#include "proc/confinement.h"

enum verdict {
	VERDICT_OK,
	VERDICT_LIMITED, /* it works, but only partly or poorly */
	VERDICT_NO,
};

struct finding {
	enum verdict verdict;
	char text[320];
	char remedy[400]; /* a command or setting; "" if there is nothing to do */
};

struct doctor_facts {
	struct perf_probe perf;
	struct confinement own;
};

struct doctor_check {
	const char *name; /* in JSON: scripts depend on it */
	const char *title;
	void (*look)(const struct doctor_facts *facts, struct finding *finding);
};

void finding_say(struct finding *finding, enum verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void finding_advise(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds to the remedy the commands that give the wick binary all capabilities it can use. */
void finding_advise_grant(struct finding *finding);

/* Advises how to raise a limit of this process, such as RLIMIT_NOFILE. */
void finding_advise_limit(struct finding *finding, int resource);

/*
 * Writes the names of the system calls that a seccomp filter blocks, separated by commas; "" if
 * there are none. Only calls whose enum confined_call has its bit in mask count.
 */
void doctor_list_refused(const struct doctor_facts *facts, unsigned int mask, char *ret,
			 size_t size);

/* Advises how to allow system calls that a filter blocks, for the kind of container we are in. */
void finding_advise_sandbox(struct finding *finding, const struct doctor_facts *facts);

/* Advises how to get missing rights, also if root lacks them in a container. */
void finding_advise_rights(struct finding *finding, const struct doctor_facts *facts);

/* Explains why a perf event did not open; paranoid is the setting that would allow it. */
void finding_explain_perf(struct finding *finding, const struct doctor_facts *facts, int code,
			  int paranoid);

#endif
