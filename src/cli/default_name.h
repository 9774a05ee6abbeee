/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_DEFAULT_NAME_H
#define WICK_CLI_DEFAULT_NAME_H

/*
 * default_name: names for output files that the user did not name. The caller frees them; NULL if
 * out of memory.
 */

/* The input with another ending, in the current directory; "-" becomes "wick". */
char *default_name(const char *input, const char *extension);

/*
 * wick-YYYYmmdd-HHMMSS-NAME.wick for a recording of a program or process, with -2, -3 … after the
 * name if the file exists.
 */
char *default_recording_name(const char *name);

#endif
