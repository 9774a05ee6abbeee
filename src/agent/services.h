/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_SERVICES_H
#define WICK_AGENT_SERVICES_H

/*
 * services: the labels of every process that was sampled: service, release, container, unit,
 * process (its command) and those of the user.
 *
 * They are found when a process is first sampled, because it may be gone when its window ends. One
 * thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/entity.h"

struct dictionary;
struct error;
struct process_facts;
struct services;

struct services_config {
	const char *const *rules; /* see service_rules.h; none: the default rules */
	size_t rule_count;
	const char *const *labels; /* "KEY=VALUE", for all processes */
	size_t label_count;
	const char *release; /* of all processes; NULL: each its own */
	/* Reads what is known of a process; NULL: from /proc. For tests. */
	int (*read)(pid_t pid, struct process_facts *ret);
};

/* The caller releases *ret with services_free(). Borrows the texts of the configuration. */
int services_new(const struct services_config *config, struct services **ret, struct error *err);
void services_free(struct services *services); /* NULL is fine */

/*
 * Finds the labels of a process of the dictionary. If out of memory, it has none. Returns whether
 * its service is among those that are kept.
 */
bool services_meet(struct services *services, const struct dictionary *dictionary,
		   uint32_t process);

/*
 * Some processes are first seen in the middle of an exec, when they have no environment. Looks up
 * the labels of these once more. Call it now and then.
 */
void services_look_again(struct services *services, const struct dictionary *dictionary);

/*
 * Finds labels for all processes of `others`, which has other rules; processes that have ended keep
 * the labels they have there.
 */
void services_meet_again(struct services *services, const struct services *others,
			 const struct dictionary *dictionary);

/* The labels of a process that was seen: fills at most LABELS_MAX and returns their number. */
size_t services_labels(const struct services *services, uint32_t process, struct label *ret);

/* Counts samples, for the next function. */
void services_add_samples(struct services *services, uint32_t process, uint64_t samples);

/*
 * Forgets all processes, whose ids are no longer valid. The services with the most samples are kept
 * from now on, at most `most` of them; the others are called "other". UINT32_MAX: all are kept.
 */
void services_restart(struct services *services, uint32_t most);

/* Whether a service of this name was seen. */
bool services_has(const struct services *services, const char *name);

/* The number of different services so far. */
size_t services_count(const struct services *services);

/* Checks a label of the user, "KEY=VALUE". */
int services_check_label(const char *text, struct error *err);

#endif
