/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_PROFILE_FACTS_H
#define WICK_LOAD_PROFILE_FACTS_H

/*
 * profile_facts: tells a profile how its recording was made and which filters took it
 * from there: "engine", "command" … and "filter" for each filter, in the words of the
 * command line.
 */

struct load_options;
struct profile;
struct samples;

/* 0 or -ENOMEM. */
int profile_facts_add(struct profile *profile, const struct samples *samples,
		      const struct load_options *options);

#endif
