/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PRELOAD_PATH_TEXT_H
#define WICK_PRELOAD_PATH_TEXT_H

/* path_text: builds text of bounded length without the C library. */

#include <stddef.h>
#include <stdint.h>

struct path {
	char *text; /* NUL-terminated after the first addition */
	size_t size;
	size_t length;
};

#define PATH_IN(buffer) ((struct path){(buffer), sizeof(buffer), 0})

/* Text that does not fit is cut off. */
static inline void path_add_part(struct path *path, const char *text, size_t length)
{
	for (; length > 0 && path->length < path->size - 1; length--)
		path->text[path->length++] = *text++;
	path->text[path->length] = '\0';
}

static inline void path_add(struct path *path, const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	path_add_part(path, text, length);
}

static inline void path_number(struct path *path, uint64_t number)
{
	char digits[21];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do
		digits[--at] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	path_add(path, digits + at);
}

#endif
