/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_LANGUAGE_H
#define WICK_VIEW_LANGUAGE_H

/* language: the language of a function, guessed from its file and its name. */

struct profile;
struct profile_function;

enum language {
	LANGUAGE_UNKNOWN = 0,
	LANGUAGE_C,
	LANGUAGE_CPP,
	LANGUAGE_RUST,
	LANGUAGE_GO,
	LANGUAGE_PYTHON,
	LANGUAGE_RUBY,
	LANGUAGE_SCRIPT, /* JavaScript and other JIT-compiled code */
	LANGUAGE_ASSEMBLY,
	LANGUAGE_KERNEL,
	LANGUAGES
};

const char *language_name(enum language language); /* as people write it */

/* The language that a word means, in any case: a name, or "cpp", "javascript"; LANGUAGES: none. */
enum language language_of_word(const char *word);

enum language language_of(const struct profile *profile, const struct profile_function *function);

#endif
