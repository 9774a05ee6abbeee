/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_HEAP_EXIT_SCAN_H
#define WICK_PRELOAD_HEAP_EXIT_SCAN_H

/*
 * exit_scan: a program that ends waits for the recorder to look for leaks, and what it needs to
 * know for that.
 */

#include <stdint.h>

/* Memory that the library has mapped for itself. */
void exit_scan_note_own(uint64_t start, uint64_t bytes);

/* A thread of the C library begins, with its functions between these. */
void exit_scan_note_stack(uint64_t low, uint64_t high);

/* What the thread of a slot is given that has not begun yet; NULL: it has. */
void exit_scan_note_argument(uint32_t index, const void *argument);

/* The session has begun. */
void exit_scan_begin(void);

/* This is a child of fork(), and has a session of its own. */
void exit_scan_forked(void);

#endif
