/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_LOG_H
#define WICK_BASE_LOG_H

/*
 * log: what a person wants to see who asks why wick did what it did. WICK_LOG is LEVEL or
 * LEVEL:FILE. Lines go to stderr, or to the end of the file; each is written at once, so those of
 * several processes do not mix. The file is made and refused as results are (base/file/outfile.h);
 *a pipe that nobody reads is not waited for, and one whose reader has gone ends no program.
 *
 *	error	errors alone: commands keep their notes to themselves
 *	warn	notes and warnings of commands too: the default
 *	info	what was chosen: engines, configuration, plug-ins, rates
 *	debug	what was found: symbol files, unwind tables, rings
 *	trace	what was tried besides, and all that the kernel and its libraries say
 *
 * The variable is read once, at the first question: the level is the one setting that belongs to
 * the process and not to an object, for code anywhere may have something to say.
 * Any thread may call; errno stays as it is.
 */

#include <stdbool.h>
#include <stddef.h>

struct error;

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
	LOG_LEVEL_TRACE,
	LOG_LEVELS
};

/* Whether lines of that level are wanted: to ask before some work is done for one. */
bool log_wants(enum log_level level);

void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What is wrong with WICK_LOG: 0, or a negative errno. It counts as not given then. */
int log_check(struct error *err);

/*
 * Takes the form LEVEL[:FILE] apart; NULL and "" are the default. *ret_file is "" for none.
 * Returns 0 or -EINVAL with the levels there are.
 */
int log_parse(const char *text, enum log_level *ret_level, const char **ret_file,
	      struct error *err);

#endif
