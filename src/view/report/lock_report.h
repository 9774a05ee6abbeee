/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_LOCK_REPORT_H
#define WICK_VIEW_REPORT_LOCK_REPORT_H

/*
 * lock_report: the rows of a report by lock, as text or as the JSON keys
 *
 *	by, rows [{lock, name, total, total_percent, waits, mean, longest,
 *	           waiters [{function, call, thread, total, waits}],
 *	           wakers [the same]}], more
 *
 * where lock is where it lies and name the symbol there (null: none is known), total_percent is
 * of all waits for locks, longest one of them (null: it is not known), and wakers are those who
 *ended the waits: of a mutex, who held it.
 */

struct error;
struct json;
struct profile;
struct report;

/*
 * Whether a profile can tell of locks: 0, or a negative errno with words when it was made in a way
 * that they are not in it.
 */
int lock_report_check(const struct profile *profile, struct error *err);

/* Append the rows. 0 or -ENOMEM. */
int lock_report_text(const struct report *report);
int lock_report_json(const struct report *report, struct json *json);

#endif
