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
 * where lock is its address and name the symbol there (null: unknown), total_percent is of all
 * waits for locks, longest is the longest single wait (null: unknown), and wakers are the threads
 * that ended the waits: for a mutex, those that held it.
 */

struct error;
struct json;
struct profile;
struct report;

/*
 * Checks that the profile was recorded with lock waits. 0, or a negative errno with the reason in
 * err.
 */
int lock_report_check(const struct profile *profile, struct error *err);

/* Append the rows. 0 or -ENOMEM. */
int lock_report_text(const struct report *report);
int lock_report_json(const struct report *report, struct json *json);

#endif
