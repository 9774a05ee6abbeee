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
	"the heap is seen from inside alone; wick record --engine ptrace shows where time goes"
/* A text, and what to do instead. */
#define ADVISE(text) (absence->heap ? text BY_TIME : text OTHER_ENGINES)
#define OUTSIDE "an emptied environment (env -i), a static or setuid program or another user"

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
	else if (r == -EACCES) /* it was ours, and is not any more */
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
		return ADVISE("programs whose files may not grow (ulimit -f) were not recorded; "
			      "raise the limit; else: ");
	if (is_marked(folder, SESSION_NO_ROOM))
		return "there was no room for what some programs record; free some in /dev/shm, "
		       "or set TMPDIR to a folder that has some";
	if (absence->became_other)
		return ADVISE("the program became another that the library is not in: " OUTSIDE
			      " keep it out; ");
	if (!none)
		return NULL;
	if (absence->joined == 0)
		return ADVISE("the library did not get into the program: " OUTSIDE
			      " keep it out; ");
	if (absence->heap && absence->sampled)
		return "of the blocks that the program asked for none was chosen, or none came to "
		       "the library; give a smaller --sample, or leave it out to see all";
	if (absence->heap)
		return "no call of malloc() came to the library. A program that has its allocator "
		       "linked into it calls that one: link the allocator dynamically; wick record "
		       "shows where time goes";
	if (absence->silent_ends > 0)
		return ADVISE("what was started ended soon, or became another program that the "
			      "library is not in: " OUTSIDE " keep it out; ");
	return NULL;
}
