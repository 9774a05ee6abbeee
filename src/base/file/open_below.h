/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_FILE_OPEN_BELOW_H
#define WICK_BASE_FILE_OPEN_BELOW_H

/*
 * open_below: opens files whose names somebody else chose.
 *
 * A name leads to a file below a folder or nowhere: "..", hidden names and links that leave the
 * folder are refused. Anything but a regular file is refused before it is opened, so that devices
 * and the writers of pipes notice nothing.
 *
 * The caller can name users who must be able to read the file as well. This is decided by the mode
 * bits, ignoring their groups. If we are root, the kernel decides, which also knows the parent
 * folders and access lists: the file is opened with the credentials of each user. Only the calling
 * thread changes credentials, and it has its own back when the call returns.
 */

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#define OPEN_BELOW_NOBODY 65534u /* can read only what everybody can read */

/*
 * Opens folder/name for reading and returns what fstat() reports. Returns a descriptor, -EPERM when
 * one of the users may not read it, or another -errno.
 */
int open_below(const char *folder, const char *name, const uid_t *users, size_t count,
	       struct stat *ret);

#endif
