/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_SESSION_FILE_H
#define WICK_PRELOAD_SESSION_FILE_H

/* session_file: finds the session that the environment names, and joins it. */

#include <stdbool.h>
#include <stdint.h>

struct session_control;
struct session_slot;

/* Maps the session's control. False when there is none, or none that we understand. */
bool session_file_find(void);

/*
 * Makes this program's own file and maps it. A child of fork names its parent, whose
 * modules it has; others 0.
 */
bool session_file_create(uint32_t forked_from);

/*
 * Makes sure that the ring of a slot has room in the file, and the slot itself where it is not one
 * of the first.
 */
bool session_file_room(uint32_t index);
struct session_slot *session_file_slot(uint32_t index);
uint64_t *session_file_ring(uint32_t index);

/* Whether the recorder has moved lately. Safe in handlers, as are the three below. */
bool session_file_recorder_moves(const struct session_control *control);

/* Whether one that does not move is gone for good, and not only stopped. */
bool session_file_recorder_is_gone(const struct session_control *control);

/* Whether a signal or a debugger has stopped it: it may go on, and may not. */
bool session_file_recorder_is_stopped(const struct session_control *control);

/* Asks the recorder to look. */
void session_file_wake(void);

/* Whether programs that this one starts would still find the library. */
bool session_file_has_library(void);

/* Unmaps what a child has of its parent's. */
void session_file_leave(void);

#endif
