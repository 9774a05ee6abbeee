/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/cgroup_folder.h"

#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "base/error.h"

#define MOUNTS "/proc/self/mounts"

static bool copy(char *ret, size_t size, const char *first, const char *second)
{
	int n = snprintf(ret, size, "%s%s", first, second);

	return n >= 0 && (size_t)n < size;
}

bool cgroup_mount_find(const char *mounts, char *ret, size_t size)
{
	char line[2 * PATH_MAX];
	FILE *file = setmntent(mounts, "re");
	struct mntent entry;
	bool found = false;

	while (file && !found && getmntent_r(file, &entry, line, (int)sizeof(line)))
		found = strcmp(entry.mnt_type, "cgroup2") == 0 &&
			copy(ret, size, entry.mnt_dir, "");
	if (file)
		(void)endmntent(file); /* always 1 */
	return found;
}

static bool is_on(const char *folder, unsigned long magic)
{
	struct statfs status;

	return statfs(folder, &status) == 0 && (unsigned long)status.f_type == magic;
}

void cgroup_folder_advise(struct error *err)
{
	char mount[PATH_MAX];

	if (cgroup_mount_find(MOUNTS, mount, sizeof(mount)))
		error_remedy(err,
			     "give a directory below %s, or what this prints: sed -n 's/^0:://p' "
			     "/proc/PID/cgroup",
			     mount);
	else
		error_remedy(err, "no cgroup2 file system is mounted here: sudo mount -t cgroup2 "
				  "none FOLDER");
}

int cgroup_folder_find(const char *name, char *ret, size_t size, struct error *err)
{
	char mount[PATH_MAX];

	if (is_on(name, CGROUP2_SUPER_MAGIC) && copy(ret, size, name, ""))
		return 0;
	if (cgroup_mount_find(MOUNTS, mount, sizeof(mount)) &&
	    (name[0] == '/' ||
	     copy(mount + strlen(mount), sizeof(mount) - strlen(mount), "/", "")) &&
	    copy(ret, size, mount, name) && is_on(ret, CGROUP2_SUPER_MAGIC))
		return 0;
	/*
	 * One of the old version may belong to the perf_event controller: the kernel checks that.
	 */
	if (is_on(name, CGROUP_SUPER_MAGIC) && copy(ret, size, name, ""))
		return 0;
	(void)error_set(err, -ENOENT,
			access(name, F_OK) == 0 ? "%s is not a control group that events can watch"
						: "no such control group: %s",
			name);
	cgroup_folder_advise(err);
	return -ENOENT;
}
