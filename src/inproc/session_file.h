/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_INPROC_SESSION_FILE_H
#define WICK_INPROC_SESSION_FILE_H

/* session_file: finds the session that the environment names, and joins it. */

#include <stdbool.h>
#include <stdint.h>

/* Maps the session's control. False when there is none, or none that we understand. */
bool session_file_find(void);

/*
 * Makes this program's own file and maps it. A child of fork names its parent, whose
 * modules it has; others 0.
 */
bool session_file_create(uint32_t forked_from);

/* Makes sure that the ring of a slot has room in the file. */
bool session_file_room(uint32_t index);

/* Asks the recorder to look. Safe in handlers. */
void session_file_wake(void);

/* Unmaps what a child has of its parent's. */
void session_file_leave(void);

#endif
