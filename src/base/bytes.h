/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_BYTES_H
#define WICK_BASE_BYTES_H

/*
 * bytes: a growing byte buffer to write into, and a bounded cursor to read from.
 *
 * A buffer that runs out of memory turns "failed" and ignores further writes,
 * so that a run of puts needs one check at its end. A cursor that is asked for
 * more than it has turns "failed", answers zeros and never reads out of bounds,
 * so that hostile input needs one check at its end as well.
 *
 * Numbers are little-endian; varints are LEB128 of at most ten bytes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
	uint8_t *data;
	size_t size;
	size_t capacity;
	bool failed;
};

void bytes_fini(struct bytes *bytes);
void bytes_clear(struct bytes *bytes); /* keeps the memory */

/* Makes room for n more bytes and returns where they go, NULL when failed. */
uint8_t *bytes_reserve(struct bytes *bytes, size_t n);

void bytes_put(struct bytes *bytes, const void *data, size_t n);
void bytes_put_u8(struct bytes *bytes, uint8_t value);
void bytes_put_u16(struct bytes *bytes, uint16_t value);
void bytes_put_u32(struct bytes *bytes, uint32_t value);
void bytes_put_u64(struct bytes *bytes, uint64_t value);
void bytes_put_varint(struct bytes *bytes, uint64_t value);
void bytes_put_string(struct bytes *bytes, const char *text, size_t n); /* varint length, bytes */
void bytes_printf(struct bytes *bytes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Maps small negative and positive numbers to small unsigned ones. */
static inline uint64_t zigzag_encode(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t zigzag_decode(uint64_t value)
{
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Writes a varint at place, which has room for ten bytes. Returns the end. */
static inline uint8_t *varint_write(uint8_t *place, uint64_t value)
{
	while (value >= 0x80) {
		*place++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*place++ = (uint8_t)value;
	return place;
}

/* The same for values that take one byte as often as two, where a branch would be mispredicted. */
static inline uint8_t *varint_write_any(uint8_t *place, uint64_t value)
{
	bool is_long = value >= 0x80;

	if (__builtin_expect(value >= 0x4000, 0))
		return varint_write(place, value);
	place[0] = (uint8_t)(value | (uint64_t)is_long << 7);
	place[1] = (uint8_t)(value >> 7); /* always fits, even if it does not count */
	return place + 1 + is_long;
}

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static inline struct cursor cursor_of(const void *data, size_t size)
{
	const uint8_t *start = data;

	/* Nothing may be added to NULL, not even 0. */
	return (struct cursor){.at = start, .end = start ? start + size : start};
}

static inline size_t cursor_left(const struct cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/* Returns n bytes and steps over them, NULL when there are fewer. */
const uint8_t *cursor_take(struct cursor *cursor, size_t n);
uint8_t cursor_u8(struct cursor *cursor);
uint16_t cursor_u16(struct cursor *cursor);
uint32_t cursor_u32(struct cursor *cursor);
uint64_t cursor_u64(struct cursor *cursor);
uint64_t cursor_varint_slow(struct cursor *cursor);

static inline uint64_t cursor_varint(struct cursor *cursor)
{
	if (cursor->at < cursor->end && *cursor->at < 0x80)
		return *cursor->at++;
	return cursor_varint_slow(cursor);
}

/* A varint that must not exceed max; a larger one fails the cursor. */
uint64_t cursor_varint_max(struct cursor *cursor, uint64_t max);

#endif
