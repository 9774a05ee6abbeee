/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/vec.h"

#include <string.h>

int vec_grow(void **items, size_t *capacity, size_t want, size_t item_bytes)
{
	size_t next = *capacity < 16 ? 16 : *capacity + *capacity / 2;
	void *grown;

	if (next < want)
		next = want;
	if (next > SIZE_MAX / item_bytes)
		return -ENOMEM;
	grown = realloc(*items, next * item_bytes);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	*capacity = next;
	return 0;
}

int vec_fill(void **items, size_t *capacity, size_t n, size_t item_bytes)
{
	if (n > 0 && n > *capacity && vec_grow(items, capacity, n, item_bytes) < 0)
		return -ENOMEM;
	if (n > 0)
		memset(*items, 0xff, n * item_bytes);
	return 0;
}
