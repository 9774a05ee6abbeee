/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_NEWEST_RECORDING_H
#define WICK_CLI_NEWEST_RECORDING_H

/* newest_recording: what is looked at when no file is given. */

struct error;

/*
 * The name of the newest *.wick of the user in a directory that is a recording, without that; the
 * caller frees *ret. -ENOENT in words when there is none, with those of other users.
 */
int newest_recording(const char *directory, char **ret, struct error *err);

#endif
