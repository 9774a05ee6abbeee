/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_ERROR_H
#define WICK_BASE_ERROR_H

/*
 * error: a failure as a value: a code to act on, a text to read, a remedy to try.
 *
 * The text names the thing that failed and the reason, in lower case and without a full stop. The
 * remedy is a command or setting that would help; the command line prints it on a line of its own.
 * System errors have a default remedy for each code; a caller that knows a better one replaces it.
 * Our own texts always need a remedy: scripts/list-messages.py checks that.
 *
 * Every function accepts a NULL err: the caller only wants the code.
 */

struct error {
	int code; /* negative errno; 0 when unset */
	char text[768];
	char remedy[512];
};

/*
 * Sets code and text, and the remedy for codes that have one regardless of what failed. Returns
 * code.
 */
int error_set(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Like error_set() with ": <the system's text for the code>" and a remedy. Returns code. */
int error_errno(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Like error_errno() for a file or folder, with a remedy for those. */
int error_file(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "<format>: " before the existing text. Returns code. */
int error_prefix(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets the remedy line. */
void error_remedy(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Sets the remedy if there is none yet: for callers that know what was attempted but not what
 * failed. Returns code.
 */
int error_advise(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
