/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_SELF_START_H
#define WICK_PRELOAD_SELF_START_H

/*
 * self_start: for a program that wick did not start, but whose environment asks for a recording.
 * The library starts the recorder itself, and the program and its children join its session.
 *
 *	WICK_MODE   heap: record the heap
 *	WICK_OUT    the recording; unset: a name made of the time and the program
 *	WICK_TOOL   the recorder, if it cannot be found
 */

#include <stdbool.h>

/*
 * Makes the environment name a session. False if no recording was requested, or if there is no
 * recorder; then it prints a line to standard error.
 */
bool self_start_begin(void);

/* Reports that the session of the started recorder has another version and cannot be joined. */
void self_start_tell_stranger(void);

#endif
