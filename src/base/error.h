/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_ERROR_H
#define WICK_BASE_ERROR_H

/*
 * error: a failure as a value: a code to act on, words to read, a remedy to try.
 *
 * The text names the thing that failed and the reason, in lower case and without a full
 * stop. The remedy is a command or setting that would help; the command line prints it
 * on a line of its own. Failures of the system come with one by their code: whoever knows
 * better sets another, and text of our own always needs one. scripts/list-messages.py
 * checks that.
 *
 * Every function accepts a NULL err: the caller wants the code only.
 */

struct error {
	int code; /* negative errno; 0 when unset */
	char text[768];
	char remedy[512];
};

/* Sets code and text; the remedy is that of the code, if it has one whatever failed. Returns code.
 */
int error_set(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Like error_set() with ": <what the system says of the code>" and a remedy. Returns code. */
int error_errno(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Like error_errno() where it is about a file or folder: the remedy is one for those. */
int error_file(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "<format>: " before the text that is there. Returns code. */
int error_prefix(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets the remedy line. */
void error_remedy(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Sets the remedy line when there is none: for whoever knows what was done, not what failed.
 * Returns code.
 */
int error_advise(struct error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
