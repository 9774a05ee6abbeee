/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_EXIT_SCAN_H
#define WICK_PRELOAD_HEAP_EXIT_SCAN_H

/*
 * exit_scan: an exiting program waits for the recorder to scan for leaks; this collects what the
 * scan needs to know.
 */

#include <stdint.h>

/* Notes memory that the library mapped for itself. */
void exit_scan_note_own(uint64_t start, uint64_t bytes);

/* Notes a new thread of the C library, whose stack frames are between these addresses. */
void exit_scan_note_stack(uint64_t low, uint64_t high);

/* Notes the argument of a thread that has not started yet; NULL: it has. */
void exit_scan_note_argument(uint32_t index, const void *argument);

/* Call when the session has begun. */
void exit_scan_begin(void);

/* Call in a child of fork() that has its own session. */
void exit_scan_forked(void);

#endif
