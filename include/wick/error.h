/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ERROR_H
#define WICK_ERROR_H

/*
 * error: a failure as a value. Functions of libwick return 0 or more, or a
 * negative errno; those that take a struct wick_error also say what failed in
 * words, and what would help. NULL is fine when only the code is wanted.
 *
 * What else may be NULL is said where it is; NULL in any other place is -EINVAL, and 0 or
 * NULL of functions that return a count or a text.
 */

struct wick_error {
	int code;         /* negative errno */
	char text[768];   /* one line, without a full stop */
	char remedy[512]; /* "" when there is nothing to advise */
};

#endif
