/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_PROCESS_FACTS_H
#define WICK_AGENT_PROCESS_FACTS_H

/*
 * process_facts: what shows which service a process belongs to.
 *
 * Arguments are never read, and of the environment only three variables are kept: both may contain
 * secrets. Other users write these texts, so they are cut to a length and control characters are
 * replaced. No state is kept: any thread may call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PROCESS_FACT_MAX 128

struct process_facts {
	char cgroup[512];               /* path of its control group; "": unknown */
	char container[13];             /* first digits of its id; "": none */
	char unit[PROCESS_FACT_MAX];    /* systemd service; "": none */
	char comm[PROCESS_FACT_MAX];    /* name of the command */
	char service[PROCESS_FACT_MAX]; /* WICK_SERVICE, else OTEL_SERVICE_NAME; "": unset */
	char release[PROCESS_FACT_MAX]; /* WICK_RELEASE; "": unset */
	/* It has no environment: in the middle of an exec the kernel does not know it yet. */
	bool is_bare;
};

/*
 * Reads everything but the name of the command, which the caller knows and sets. Returns 0, or
 * -ESRCH if the process does not exist any more; what could not be read is "".
 */
int process_facts_read(pid_t pid, struct process_facts *ret);

/* Fills cgroup, container and unit from the text of /proc/PID/cgroup. */
void process_facts_parse_cgroup(const char *text, struct process_facts *facts);

/* Fills service and release from one variable, "NAME=VALUE". */
void process_facts_parse_variable(const char *variable, struct process_facts *facts);

/*
 * The same for all variables that are complete, each ended by a zero. Returns the size of those.
 */
size_t process_facts_parse_environment(const char *text, size_t size, struct process_facts *facts);

/* Copies a text that somebody else wrote: cut to size, control characters replaced. */
void process_fact_copy(char *ret, size_t size, const char *text, size_t length);

#endif
