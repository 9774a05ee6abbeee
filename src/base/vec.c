/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/vec.h"

void *vec_grow(void *items, size_t *capacity, size_t want, size_t item_bytes)
{
	size_t next = *capacity < 16 ? 16 : *capacity + *capacity / 2;
	void *grown;

	if (next < want)
		next = want;
	if (next > SIZE_MAX / item_bytes)
		return items;
	grown = realloc(items, next * item_bytes);
	if (!grown)
		return items;
	*capacity = next;
	return grown;
}
