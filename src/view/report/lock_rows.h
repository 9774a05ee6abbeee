/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_LOCK_ROWS_H
#define WICK_VIEW_REPORT_LOCK_ROWS_H

/*
 * lock_rows: the locks that threads waited for, from the labels of a profile's entries: how long,
 * how often, where the program waits, and where it wakes other threads.
 *
 * Functions of the C and C++ libraries are skipped: the waiting function is their caller.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct profile;

/*
 * A function that waits for a lock, or that ends the waits of others. The profile owns the texts.
 */
struct lock_party {
	const char *function; /* "": unknown */
	const char *call;     /* the function it calls to wait or to wake; "": none */
	const char *thread;   /* name of the thread without its id: thread_bytes long */
	uint32_t thread_bytes;
	int64_t total;
	uint64_t waits;
};

struct lock_parties {
	VEC(struct lock_party) list;
};

struct lock_row {
	const char *lock; /* its address, from the label */
	const char *name; /* "": unknown */
	int64_t total;
	uint64_t waits;
	int64_t longest;             /* longest single wait; 0: unknown */
	struct lock_parties waiters; /* longest first, as in wakers */
	struct lock_parties wakers;  /* empty: not recorded */
};

struct lock_rows {
	VEC(struct lock_row) items; /* longest first */
	int64_t total;
	uint64_t waits;
	bool has_wakers;
};

/* Makes the rows, with the totals of a value. The caller releases them even on failure. */
int lock_rows_make(const struct profile *profile, uint32_t value, struct lock_rows *ret);
void lock_rows_fini(struct lock_rows *rows);

/* Sorts by number of waits, most first. */
void lock_rows_sort_by_waits(struct lock_rows *rows);

#endif
