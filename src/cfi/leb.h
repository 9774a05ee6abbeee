/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_LEB_H
#define WICK_CFI_LEB_H

/* leb: DWARF's signed variable-length numbers, read through a bounded cursor. */

#include <stdint.h>

#include "base/bytes.h"

/* Bytes past the 64th bit are stepped over; a number that never ends fails the cursor. */
static inline int64_t cursor_sleb(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		uint8_t byte;

		if (cursor->at >= cursor->end) {
			cursor->failed = true;
			return 0;
		}
		byte = *cursor->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (shift + 7 < 64 && (byte & 0x40))
			value |= ~0ull << (shift + 7);
		return (int64_t)value;
	}
}

#endif
