/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_CGROUP_FOLDER_H
#define WICK_PROC_CGROUP_FOLDER_H

/*
 * cgroup_folder: finds control groups. Their file system may be mounted anywhere; a group is given
 * by its folder, or as /proc/PID/cgroup prints it.
 */

#include <stdbool.h>
#include <stddef.h>

struct error;

/* The first cgroup2 folder in a list of mounts; false without one, or without room. */
bool cgroup_mount_find(const char *mounts, char *ret, size_t size);

/* The folder of a group, given in either way. 0 or a negative errno. */
int cgroup_folder_find(const char *name, char *ret, size_t size, struct error *err);

/* Sets a remedy that says how to name a group. */
void cgroup_folder_advise(struct error *err);

#endif
