/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/event_group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/scope.h"
#include "engine/perf/event.h"

static bool is_named(const struct event_group *group, const struct event_kind *kind)
{
	bool found = group->leader == kind;

	for (size_t i = 0; i < group->member_count; i++)
		found |= group->members[i] == kind;
	return found;
}

static int add(struct event_group *group, const char *name, struct error *err)
{
	const struct event_kind *kind = event_find(name, err);

	if (!kind)
		return -EINVAL;
	if (is_named(group, kind))
		return error_advise(
			err, error_set(err, -EINVAL, "%s is listed twice among the events", name),
			"name each event once");
	if (!group->leader)
		group->leader = kind;
	else if (group->member_count < EVENT_MEMBERS_MAX)
		group->members[group->member_count++] = kind;
	else
		return error_advise(err,
				    error_set(err, -EINVAL,
					      "at most %u events can be counted together",
					      EVENT_MEMBERS_MAX + 1),
				    "record the others in a separate run");
	return 0;
}

int event_group_parse(const char *text, struct event_group *ret, struct error *err)
{
	struct event_group group = {0};
	SCOPED(mem) char *copy = strdup(text);
	char *rest = copy;
	char *name;
	int r = 0;

	if (!copy)
		return error_set(err, -ENOMEM, "out of memory");
	while (r == 0 && (name = strsep(&rest, ",")))
		r = add(&group, name, err);
	if (r == 0)
		*ret = group;
	return r;
}

int event_group_open(const struct event_kind *member, const struct perf_event_attr *leader,
		     unsigned long open_flags, pid_t tid, int cpu, int leader_fd)
{
	struct perf_event_attr attr = *leader;
	long fd;

	attr.type = member->type;
	attr.config = member->config;
	attr.config1 = member->config1;
	attr.config2 = member->config2;
	/* It only counts, while its leader counts. */
	attr.freq = 0;
	attr.sample_period = 0;
	attr.disabled = 0;
	attr.enable_on_exec = 0;
	attr.mmap = attr.mmap2 = attr.build_id = attr.comm = attr.comm_exec = attr.task = 0;
	fd = syscall(SYS_perf_event_open, &attr, tid, cpu, leader_fd,
		     PERF_FLAG_FD_CLOEXEC | open_flags);
	return fd < 0 ? -errno : (int)fd;
}

static void note_why(const struct event_kind *kind, int code,
		     void (*note)(void *self, const char *text), void *self)
{
	char text[192];
	const char *why = "this machine cannot count it; see: wick list events";

	if (code == -EACCES || code == -EPERM)
		why = "it is not allowed here; run as root, or: sudo sysctl "
		      "kernel.perf_event_paranoid=1";
	else if (code == -EINVAL || code == -ENOSPC)
		why = "the CPU cannot count it together with the others; name fewer events";
	(void)snprintf(text, sizeof(text), "%s is left out: %s", kind->name, why); /* it fits */
	note(self, text);
}

void event_group_probe(struct event_group *group, const struct event_request *request,
		       void (*note)(void *self, const char *text), void *self)
{
	struct event_group works = {.leader = group->leader};
	struct event_request own = *request;
	struct event_grant grant;
	int fds[EVENT_MEMBERS_MAX];
	int leader_fd;

	own.kind = group->leader;
	own.enable_on_exec = false;
	event_grant_init(&grant, &own);
	leader_fd = event_open(&grant, 0, -1, NULL);
	if (leader_fd < 0)
		return;
	for (size_t i = 0; i < group->member_count; i++) {
		int fd = event_group_open(group->members[i], &grant.attr, 0, 0, -1, leader_fd);

		if (fd < 0) {
			note_why(group->members[i], fd, note, self);
			continue;
		}
		fds[works.member_count] = fd;
		works.members[works.member_count++] = group->members[i];
	}
	for (size_t i = 0; i < works.member_count; i++)
		(void)close(fds[i]); /* it was never enabled */
	(void)close(leader_fd);
	*group = works;
}
