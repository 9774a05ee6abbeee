/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_EVENT_GROUP_H
#define WICK_ENGINE_PERF_EVENT_GROUP_H

/*
 * event_group: events that are counted together. The first, the leader, is sampled;
 * each of its samples tells how far the others, the members, have counted.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

struct error;
struct event_kind;
struct event_wish;

#define EVENT_MEMBERS_MAX 7u

struct event_group {
	const struct event_kind *leader;
	const struct event_kind *members[EVENT_MEMBERS_MAX];
	size_t member_count;
};

/* Parses "a,b,c". Returns 0 or -EINVAL. */
int event_group_parse(const char *text, struct event_group *ret, struct error *err);

/*
 * Leaves out the members that cannot be counted here, or not with the others, and
 * tells of each in words. A leader that does not work is left to whoever opens it.
 */
void event_group_probe(struct event_group *group, const struct event_wish *wish,
		       void (*tell)(void *self, const char *text), void *self);

/*
 * Opens a member beside its leader, whose attributes and descriptor are given. Returns
 * the descriptor or a negative errno.
 */
int event_group_open(const struct event_kind *member, const struct perf_event_attr *leader,
		     unsigned long open_flags, pid_t tid, int cpu, int leader_fd);

#endif
