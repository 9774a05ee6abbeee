/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_NEWEST_RECORDING_H
#define WICK_CLI_NEWEST_RECORDING_H

/* newest_recording: finds the file to read if the user names none. */

struct error;

/*
 * Sets *ret to the name (without the directory) of the newest *.wick file in the directory that is
 * a recording and belongs to the user; the caller frees it. Returns -ENOENT if there is none; the
 * message then mentions recordings of other users.
 */
int newest_recording(const char *directory, char **ret, struct error *err);

#endif
