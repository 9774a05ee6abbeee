/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_FILE_REGULAR_FILE_H
#define WICK_BASE_FILE_REGULAR_FILE_H

/*
 * regular_file: opens files whose paths somebody else wrote: recordings, profiles of
 * other programs, ELF files, debug links, memory maps.
 *
 * Such a path may name a device or a FIFO, where opening alone has effects: a watchdog
 * starts, a tape rewinds, a writer that waits for a reader goes on. The kind of the file is
 * therefore checked before it is opened.
 */

struct stat;

/*
 * Opens a file for reading and reports what fstat() does. Returns a descriptor, or
 * -errno: -EINVAL for what is not a regular file.
 */
int regular_file_open(const char *path, struct stat *ret);

/* The same for a descriptor that was opened with O_PATH. The caller still closes it. */
int regular_file_reopen(int place, struct stat *ret);

#endif
