/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/copied_parts.h"

#include <stddef.h>
#include <string.h>

bool copied_parts_read(void *parts, uint64_t address, void *ret, uint32_t size)
{
	const struct copied_parts *all = parts;

	for (size_t i = 0; i < COPIED_PARTS; i++) {
		const struct copied_part *part = &all->items[i];

		if (address < part->address || address - part->address > part->bytes ||
		    part->bytes - (address - part->address) < size)
			continue;
		memcpy(ret, part->copy + (address - part->address), size);
		return true;
	}
	return false;
}
