/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_LANGUAGE_H
#define WICK_VIEW_LANGUAGE_H

/*
 * language: what a function was written in, as far as its file and its name tell.
 */

struct profile;
struct profile_function;

enum language {
	LANGUAGE_UNKNOWN = 0,
	LANGUAGE_C,
	LANGUAGE_CPP,
	LANGUAGE_RUST,
	LANGUAGE_GO,
	LANGUAGE_PYTHON,
	LANGUAGE_SCRIPT, /* JavaScript, and what else was compiled while it ran */
	LANGUAGE_ASSEMBLY,
	LANGUAGE_KERNEL,
};

enum language language_of(const struct profile *profile, const struct profile_function *function);

#endif
