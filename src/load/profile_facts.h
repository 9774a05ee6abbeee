/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_PROFILE_FACTS_H
#define WICK_LOAD_PROFILE_FACTS_H

/*
 * profile_facts: adds facts to a profile about how its recording was made and which filters were
 * applied: "engine", "command" … and "filter" for each filter, as on the command line.
 */

struct load_options;
struct profile;
struct samples;

/* Returns 0 or -ENOMEM. */
int profile_facts_add(struct profile *profile, const struct samples *samples,
		      const struct load_options *options);

#endif
