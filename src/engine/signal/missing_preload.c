/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/missing_preload.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proc/process_info.h"
#include "wire/session.h"

#define OTHER_ENGINES "use --engine ptrace, or as root --engine ebpf"
#define BY_TIME                                                                                    \
	"the heap can only be recorded from inside; wick record --engine ptrace shows where time " \
	"goes"
/* A text followed by an alternative. */
#define ADVISE(text) (absence->heap ? text BY_TIME : text OTHER_ENGINES)
#define OUTSIDE "an empty environment (env -i), a static or setuid program or another user"

static int stat_program(pid_t pid, struct stat *ret)
{
	char path[PATH_MAX];

	process_path(path, sizeof(path), pid, "exe");
	return stat(path, ret) < 0 ? -errno : 0;
}

void missing_preload_join(struct missing_preload *absence, pid_t pid)
{
	struct stat status;

	absence->joined++;
	if (pid != absence->pid || stat_program(pid, &status) < 0)
		return;
	absence->device = status.st_dev;
	absence->inode = status.st_ino;
	absence->became_other = false;
}

void missing_preload_look(struct missing_preload *absence)
{
	struct stat status;
	int r;

	if (absence->inode == 0)
		return;
	r = stat_program(absence->pid, &status);
	if (r == 0)
		absence->became_other =
			status.st_dev != absence->device || status.st_ino != absence->inode;
	else if (r == -EACCES) /* it was ours, and no longer is */
		absence->became_other = true;
}

static bool is_marked(const char *folder, const char *mark)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, mark);
	return access(path, F_OK) == 0;
}

const char *missing_preload_tell(const struct missing_preload *absence, const char *folder,
				 bool none)
{
	if (is_marked(folder, SESSION_LIMITED))
		return ADVISE("programs with a file size limit (ulimit -f) were not recorded; "
			      "raise the limit, or: ");
	if (is_marked(folder, SESSION_NO_ROOM))
		return "no space to record some programs; free some in /dev/shm, or set TMPDIR to "
		       "a directory with free space";
	if (absence->became_other)
		return ADVISE(
			"the program executed another one that did not load the library: " OUTSIDE
			" prevents it; ");
	if (!none)
		return NULL;
	if (absence->joined == 0)
		return ADVISE("the program did not load the library: " OUTSIDE " prevents it; ");
	if (absence->heap && absence->sampled)
		return "no allocation was sampled, or none reached the library; use a smaller "
		       "--sample, or leave it out to record all";
	if (absence->heap)
		return "no call of malloc() reached the library. A program with a statically "
		       "linked allocator calls that one: link the allocator dynamically; wick "
		       "record shows where time goes";
	if (absence->silent_ends > 0)
		return ADVISE("the program ended early, or executed another one that did not load "
			      "the library: " OUTSIDE " prevents it; ");
	return NULL;
}
