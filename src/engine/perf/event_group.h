/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_EVENT_GROUP_H
#define WICK_ENGINE_PERF_EVENT_GROUP_H

/*
 * event_group: events that are counted together. The first, the leader, is sampled; each of
 * its samples carries the counts of the others, the members.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

struct error;
struct event_kind;
struct event_request;

#define EVENT_MEMBERS_MAX 7u

struct event_group {
	const struct event_kind *leader;
	const struct event_kind *members[EVENT_MEMBERS_MAX];
	size_t member_count;
};

/* Parses "a,b,c". Returns 0 or -EINVAL. */
int event_group_parse(const char *text, struct event_group *ret, struct error *err);

/*
 * Removes the members that cannot be counted here, or not together with the others, and
 * calls note() with a sentence about each. Does not check the leader: opening it will.
 */
void event_group_probe(struct event_group *group, const struct event_request *request,
		       void (*note)(void *self, const char *text), void *self);

/*
 * Opens a member of the group of a leader, given by its attributes and its descriptor.
 * Returns the descriptor or a negative errno.
 */
int event_group_open(const struct event_kind *member, const struct perf_event_attr *leader,
		     unsigned long open_flags, pid_t tid, int cpu, int leader_fd);

#endif
