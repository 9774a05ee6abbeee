/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/target_watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/engine.h"

void target_watch_begin(struct target_watch *watch, const struct target *target)
{
	size_t i;

	watch->target = target;
	if (target->kind != TARGET_PROCESSES)
		return;
	for (i = 0; i < target->count && watch->count < TARGET_WATCH_MAX; i++) {
		int fd = (int)syscall(SYS_pidfd_open, target->ids[i], 0);

		if (fd < 0 && errno != ESRCH)
			return; /* before Linux 5.3 */
		if (fd >= 0)
			watch->pid_fds[watch->count++] = fd;
	}
	watch->all = i == target->count;
}

void target_watch_fini(struct target_watch *watch)
{
	while (watch->count > 0)
		(void)close(watch->pid_fds[--watch->count]);
}

/* Whether all have ended. Ended ones are no longer polled, because they stay readable. */
static bool all_ended(struct target_watch *watch)
{
	for (size_t i = watch->count; i-- > 0;) {
		struct pollfd fd = {.fd = watch->pid_fds[i], .events = POLLIN};

		if (poll(&fd, 1, 0) <= 0)
			continue;
		(void)close(watch->pid_fds[i]);
		watch->pid_fds[i] = watch->pid_fds[--watch->count];
	}
	return watch->count == 0;
}

bool target_watch_ended(struct target_watch *watch)
{
	const struct target *target = watch->target;

	if (target->kind == TARGET_MACHINE || target->kind == TARGET_CGROUP)
		return false;
	if (watch->all)
		return all_ended(watch);
	for (size_t i = 0; i < target->count; i++)
		if (kill(target->ids[i], 0) == 0 || errno == EPERM)
			return false;
	return true;
}
