/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_SERVICE_RULES_H
#define WICK_AGENT_SERVICE_RULES_H

/*
 * service_rules: names the service of a process by ordered rules, of which the first that applies
 * counts. A rule is one of
 *
 *	SOURCE               the text of the source, if there is one
 *	SOURCE=PATTERN       the same, if the text matches the pattern (as in a shell)
 *	SOURCE=PATTERN:NAME  NAME, if the text matches
 *
 * SOURCE is env (WICK_SERVICE or OTEL_SERVICE_NAME), unit, container, cgroup or comm. If no rule
 * applies, the service has the name of the command. Rules read no files.
 */

#include <stddef.h>

struct error;
struct process_facts;
struct service_rules;

/* Used without rules of the user, NULL last. */
extern const char *const service_rules_default[];

/* The caller releases *ret with service_rules_free(). Copies the texts. None: the default ones. */
int service_rules_new(const char *const *texts, size_t count, struct service_rules **ret,
		      struct error *err);
void service_rules_free(struct service_rules *rules); /* NULL is fine */

/* Never "". */
void service_rules_name(const struct service_rules *rules, const struct process_facts *facts,
			char *ret, size_t size);

#endif
