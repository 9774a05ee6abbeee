/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_FILE_OPEN_BELOW_H
#define WICK_BASE_FILE_OPEN_BELOW_H

/*
 * open_below: reads files whose names somebody else has chosen.
 *
 * A name leads to a file below a folder or nowhere: "..", hidden names and links that leave the
 * folder are refused, and so is what is not a regular file, before it is opened: devices and the
 * writers of pipes notice nothing.
 *
 * Users can be given who have to be able to read it as well, by the bits of its mode, where
 * their groups do not count. For root the kernel decides, which knows the folders above and
 * access lists too: the file is opened with the rights of each of them. Only the calling thread
 * is touched, and has its rights back when the call returns.
 */

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#define OPEN_BELOW_NOBODY 65534u /* the user who may read what all may read */

/*
 * Opens folder/name for reading and tells what fstat() does. Returns a descriptor, -EPERM when
 * one of the users may not read it, or another -errno.
 */
int open_below(const char *folder, const char *name, const uid_t *users, size_t count,
	       struct stat *ret);

#endif
