/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_LEB_H
#define WICK_BASE_LEB_H

/*
 * leb: bounded reads of DWARF's numbers at a pointer, for loops that process every byte. Each
 * returns the position after the number, or NULL if it does not end before `end`. A NULL position
 * gives NULL again, so consecutive reads need one check.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"

static inline const uint8_t *leb_skip(const uint8_t *at, const uint8_t *end)
{
	while (at && at < end)
		if (!(*at++ & 0x80))
			return at;
	return NULL;
}

/* Bits past the 64th are dropped. */
static inline const uint8_t *leb_read(const uint8_t *at, const uint8_t *end, uint64_t *ret)
{
	unsigned int shift = 0;
	uint64_t value = 0;

	if (!at)
		return NULL;
	if (at < end && *at < 0x80) {
		*ret = *at;
		return at + 1;
	}
	while (at < end) {
		uint8_t byte = *at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			*ret = value;
			return at;
		}
	}
	return NULL;
}

static inline const uint8_t *leb_read_signed(const uint8_t *at, const uint8_t *end, int64_t *ret)
{
	unsigned int shift = 0;
	uint64_t value = 0;

	while (at && at < end) {
		uint8_t byte = *at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (byte & 0x80)
			continue;
		if (shift < 64 && (byte & 0x40))
			value |= ~0ull << shift;
		*ret = (int64_t)value;
		return at;
	}
	return NULL;
}

/* A number of 1 to 8 bytes. */
static inline const uint8_t *fixed_read(const uint8_t *at, const uint8_t *end, size_t n,
					uint64_t *ret)
{
	uint64_t value = 0;

	if (!at || (size_t)(end - at) < n)
		return NULL;
	switch (n) { /* copies of a known size are one instruction each */
	case 1:
		value = *at;
		break;
	case 2:
		memcpy(&value, at, 2);
		break;
	case 4:
		memcpy(&value, at, 4);
		break;
	case 8:
		memcpy(&value, at, 8);
		break;
	default:
		memcpy(&value, at, n);
		break;
	}
	*ret = value;
	return at + n;
}

static inline const uint8_t *bytes_skip(const uint8_t *at, const uint8_t *end, uint64_t n)
{
	return at && n <= (uint64_t)(end - at) ? at + n : NULL;
}

/* The same through a cursor, which fails if the number never ends. */
static inline int64_t cursor_sleb(struct cursor *cursor)
{
	int64_t value = 0;
	const uint8_t *after = leb_read_signed(cursor->at, cursor->end, &value);

	if (!after) {
		cursor->failed = true;
		return 0;
	}
	cursor->at = after;
	return value;
}

#endif
