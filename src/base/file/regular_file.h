/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_FILE_REGULAR_FILE_H
#define WICK_BASE_FILE_REGULAR_FILE_H

/*
 * regular_file: opens files whose paths somebody else wrote: recordings, profiles of other
 * programs, ELF files, debug links, memory maps.
 *
 * Such a path may name a device or a FIFO, where merely opening it has effects: a watchdog starts,
 * a tape rewinds, a writer that waits for a reader continues. So the file type is checked before
 * the file is opened.
 */

struct stat;

/*
 * Opens a file for reading and returns what fstat() reports. Returns a descriptor, or -errno:
 * -EINVAL for anything but a regular file.
 */
int regular_file_open(const char *path, struct stat *ret);

/* The same for a descriptor that was opened with O_PATH. The caller still closes it. */
int regular_file_reopen(int place, struct stat *ret);

#endif
