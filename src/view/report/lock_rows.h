/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_LOCK_ROWS_H
#define WICK_VIEW_REPORT_LOCK_ROWS_H

/*
 * lock_rows: the locks that threads have waited for, from the labels of a profile's entries:
 * how long, how often, where the program waits, and where it lets others go on.
 *
 * Functions of the C and C++ libraries are passed over: what waits is who calls them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct profile;

/* Who waits for a lock, or who ends the waits of others. Texts belong to the profile. */
struct lock_party {
	const char *function; /* "" when it is not known */
	const char *call;     /* that it calls to wait, or to wake; "" for none */
	const char *thread;   /* name of the thread, without its id: so many bytes */
	uint32_t thread_bytes;
	int64_t total;
	uint64_t waits;
};

struct lock_parties {
	VEC(struct lock_party) list;
};

struct lock_row {
	const char *lock; /* where it lies, as the label says */
	const char *name; /* "" when nobody knows */
	int64_t total;
	uint64_t waits;
	int64_t longest;             /* one of the waits; 0: not known */
	struct lock_parties waiters; /* the longest first, as the next */
	struct lock_parties wakers;  /* none: the recording does not tell */
};

struct lock_rows {
	VEC(struct lock_row) items; /* the longest first */
	int64_t total;
	uint64_t waits;
	bool has_wakers;
};

/* Makes the rows, with the totals of a value. The caller releases them in any case. */
int lock_rows_make(const struct profile *profile, uint32_t value, struct lock_rows *ret);
void lock_rows_fini(struct lock_rows *rows);

/* Puts the lock first that was waited for most often. */
void lock_rows_sort_by_waits(struct lock_rows *rows);

#endif
