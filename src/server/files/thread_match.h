/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_FILES_THREAD_MATCH_H
#define WICK_SERVER_FILES_THREAD_MATCH_H

/*
 * thread_match: which recordings and threads the matches of a selector mean. A recording has the
 * labels "service", "process", "thread", "pid" and "tid", besides those that were recorded.
 */

#include <stdbool.h>
#include <stddef.h>

struct error;
struct file_thread;
struct store_match;

#define THREAD_LABEL_BYTES 64

/* The names of the labels of threads, NULL last. */
extern const char *const thread_labels[];

/* The value of a label of a thread; NULL: threads have no such label. */
const char *thread_label(const struct file_thread *thread, const char *name,
			 char scratch[THREAD_LABEL_BYTES]);

/* Whether a value matches. Expressions must match all of it. */
bool match_accepts(const struct store_match *match, const char *value);

/* Whether all matches about threads accept this one. */
bool matches_accept_thread(const struct store_match *matches, size_t count,
			   const struct file_thread *thread);

/* Whether all matches about the service accept this one. */
bool matches_accept_service(const struct store_match *matches, size_t count, const char *service);

/* Whether a match is about a thread. */
bool match_is_of_thread(const struct store_match *match);

#endif
