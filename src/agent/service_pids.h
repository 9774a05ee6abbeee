/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_SERVICE_PIDS_H
#define WICK_AGENT_SERVICE_PIDS_H

/*
 * service_pids: which processes belong to a service now. Reads /proc anew each time; any thread may
 * call.
 */

#include <stddef.h>
#include <sys/types.h>

struct process_facts;
struct service_rules;

/*
 * Fills at most `most` of them and returns how many there are; threads of the kernel do not count,
 * and neither does this process.
 */
size_t service_pids_find(const struct service_rules *rules, const char *service, pid_t *ret,
			 size_t most);

/* The service of a process. Returns 0, or -ESRCH if there is no such process. */
int service_pids_name(const struct service_rules *rules, pid_t pid, char *ret, size_t size);

/* Sets the name of its command. The same results. */
int service_pids_comm(pid_t pid, struct process_facts *facts);

#endif
