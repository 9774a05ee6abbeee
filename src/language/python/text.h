/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_PYTHON_TEXT_H
#define WICK_LANGUAGE_PYTHON_TEXT_H

/*
 * text: copies and compares the strings of an interpreter. The memory is not trusted: lengths are
 * limited.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct python_code_layout;
struct python_reader;

/*
 * Copies a string object, at most `most` characters of it, as UTF-8 without control characters.
 * Returns 0, -EFAULT if it cannot be read, -EINVAL if it is not a string, or -ENOMEM. The caller
 * frees *ret.
 */
int python_text_read(const struct python_code_layout *layout, const struct python_reader *reader,
		     uint64_t address, size_t most, char **ret);

/* Whether the object is a string of these ASCII characters, at most 64. */
bool python_text_equals(const struct python_code_layout *layout, const struct python_reader *reader,
			uint64_t address, const char *text);

#endif
