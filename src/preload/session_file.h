/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_SESSION_FILE_H
#define WICK_PRELOAD_SESSION_FILE_H

/* session_file: finds the session that the environment names, and joins it. */

#include <stdbool.h>
#include <stdint.h>

struct session_control;
struct session_slot;

/* Maps the session's control. False: none, or an unknown version. */
bool session_file_find(void);

/*
 * Creates and maps the file of this program. A child of fork passes its parent, whose modules it
 * has; others pass 0.
 */
bool session_file_create(uint32_t forked_from);

/*
 * Makes sure that the file has space for the ring of a slot, and for the slot itself if it is not
 * one of the first.
 */
bool session_file_room(uint32_t index);
struct session_slot *session_file_slot(uint32_t index);
uint64_t *session_file_ring(uint32_t index);

/* Whether the recorder has been active recently. Async-signal-safe, as are the three below. */
bool session_file_recorder_moves(const struct session_control *control, uint64_t now_ns);

/* Whether an inactive recorder is gone for good, and not only stopped. */
bool session_file_recorder_is_gone(const struct session_control *control);

/* Whether a signal or a debugger has stopped it: it may or may not continue. */
bool session_file_recorder_is_stopped(const struct session_control *control);

/* Wakes the recorder. */
void session_file_wake(void);

/* Whether programs started by this one would still find the library. */
bool session_file_has_library(void);

/* Unmaps what a child inherited from its parent. */
void session_file_leave(void);

#endif
