/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_ERROR_H
#define WICK_BASE_ERROR_H

/*
 * error: a failure as a value: a code to act on, words to read, a remedy to try.
 *
 * The text names the thing that failed, in lower case and without a full stop.
 * The remedy, when there is one, is a command or setting that would help; the
 * command line prints it on a line of its own.
 *
 * Every function accepts a NULL err: the caller wants the code only.
 */

struct error {
	int code; /* negative errno; 0 when unset */
	char text[768];
	char remedy[512];
};

/* Sets code and text, clears the remedy. Returns code. */
int error_set(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Like error_set() with ": <strerror(-code)>" appended. Returns code. */
int error_errno(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "<format>: " before the text that is there. Returns code. */
int error_prefix(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets the remedy line. */
void error_remedy(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
