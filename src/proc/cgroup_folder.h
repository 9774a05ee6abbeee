/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_CGROUP_FOLDER_H
#define WICK_PROC_CGROUP_FOLDER_H

/*
 * cgroup_folder: where control groups are. Their file system is mounted in one place here and
 * in another there; a group is named by its folder, or as /proc/PID/cgroup prints it.
 */

#include <stdbool.h>
#include <stddef.h>

struct error;

/* The first folder of a list of mounts where cgroup2 is; false: there is none, or no room. */
bool cgroup_mount_find(const char *mounts, char *ret, size_t size);

/* The folder of a group, of either name. 0 or a negative errno. */
int cgroup_folder_find(const char *name, char *ret, size_t size, struct error *err);

/* How a group is named, as a remedy. */
void cgroup_folder_advise(struct error *err);

#endif
