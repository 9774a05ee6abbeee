/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_SELF_START_H
#define WICK_PRELOAD_SELF_START_H

/*
 * self_start: a program that nobody has started for a recording, and whose environment asks for
 * one. The library starts the recorder itself and leads the program, and all that it
 * starts, to its session.
 *
 *	WICK_MODE   heap: record the heap
 *	WICK_OUT    the recording; not there: a name of the time and the program
 *	WICK_TOOL   the recorder, where it is not found by itself
 */

#include <stdbool.h>

/*
 * Sees to it that the environment names a session. False when nothing was asked for, or
 * there is no recorder to be had; then that is said in a line on standard error.
 */
bool self_start_begin(void);

/* Says that the session of the recorder that it started is none to be joined. */
void self_start_tell_stranger(void);

#endif
