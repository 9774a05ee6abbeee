/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ERROR_H
#define WICK_ERROR_H

/*
 * error: a failure as a value. Functions of libwick return 0 or more, or a negative errno; those
 * that take a struct wick_error also describe the failure and a remedy. Pass NULL if you only need
 * the code.
 *
 * Other arguments may be NULL only where the header says so. Anywhere else NULL gives -EINVAL, or 0
 * or NULL from functions that return a count or a text.
 */

struct wick_error {
	int code;         /* negative errno */
	char text[768];   /* one line, without a full stop */
	char remedy[512]; /* "": no advice */
};

#endif
