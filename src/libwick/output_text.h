/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIBWICK_OUTPUT_TEXT_H
#define WICK_LIBWICK_OUTPUT_TEXT_H

/* output_text: passes a result that was written in memory to the caller of the library. */

#include <stddef.h>

struct bytes;
struct error;

/* Writes it to a file, completely or not at all. */
int output_to_file(const struct bytes *text, const char *path, struct error *err);

/* Gives it to the caller, with a 0 byte at its end, and empties text. ret_size may be NULL. */
int output_to_memory(struct bytes *text, char **ret_text, size_t *ret_size, struct error *err);

#endif
