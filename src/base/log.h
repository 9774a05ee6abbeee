/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_LOG_H
#define WICK_BASE_LOG_H

/*
 * log: shows why wick did what it did. WICK_LOG is LEVEL or LEVEL:FILE. Lines go to stderr, or are
 * appended to the file; each line is one write, so those of several processes do not mix. The file
 * is created, and refused, like results (base/file/outfile.h). A pipe without a reader does not
 * block, and one whose reader has gone does not kill the program.
 *
 *	error	only errors: commands print no notes
 *	warn	also notes and warnings of commands: the default
 *	info	what was chosen: engines, configuration, plug-ins, rates
 *	debug	what was found: symbol files, unwind tables, rings
 *	trace	what else was tried, and everything the kernel and its libraries report
 *
 * The variable is read once, at the first use: the level is the one setting that belongs to the
 * process and not to an object, because code anywhere may log. Any thread may call; errno is
 * preserved.
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

/* Whether lines of this level are written: to check before doing work for one. */
bool log_wants(enum log_level level);

void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What is wrong with WICK_LOG: 0, or a negative errno. An invalid value is ignored. */
int log_check(struct error *err);

/*
 * Parses LEVEL[:FILE]; NULL and "" are the default. *ret_file is "" without a file. Returns 0 or
 * -EINVAL with a list of the levels.
 */
int log_parse(const char *text, enum log_level *ret_level, const char **ret_file,
	      struct error *err);

#endif
