/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are copied as they are");

void bytes_fini(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){0};
}

void bytes_clear(struct bytes *bytes)
{
	bytes->size = 0;
	bytes->failed = false;
}

uint8_t *bytes_reserve(struct bytes *bytes, size_t n)
{
	size_t want = bytes->size + n;

	if (bytes->failed)
		return NULL;
	if (want < n) {
		bytes->failed = true;
		return NULL;
	}
	if (want > bytes->capacity) {
		size_t next = bytes->capacity ? bytes->capacity * 2 : 256;
		uint8_t *grown;

		if (next < want)
			next = want;
		grown = realloc(bytes->data, next);
		if (!grown) {
			bytes->failed = true;
			return NULL;
		}
		bytes->data = grown;
		bytes->capacity = next;
	}
	return bytes->data + bytes->size;
}

void bytes_put(struct bytes *bytes, const void *data, size_t n)
{
	uint8_t *place;

	if (n == 0)
		return;
	place = bytes_reserve(bytes, n);
	if (!place)
		return;
	memcpy(place, data, n);
	bytes->size += n;
}

void bytes_put_u8(struct bytes *bytes, uint8_t value)
{
	bytes_put(bytes, &value, sizeof(value));
}

void bytes_put_u16(struct bytes *bytes, uint16_t value)
{
	bytes_put(bytes, &value, sizeof(value));
}

void bytes_put_u32(struct bytes *bytes, uint32_t value)
{
	bytes_put(bytes, &value, sizeof(value));
}

void bytes_put_u64(struct bytes *bytes, uint64_t value)
{
	bytes_put(bytes, &value, sizeof(value));
}

void bytes_put_varint(struct bytes *bytes, uint64_t value)
{
	uint8_t *place = bytes_reserve(bytes, 10);

	if (place)
		bytes->size = (size_t)(varint_write(place, value) - bytes->data);
}

void bytes_put_string(struct bytes *bytes, const char *text, size_t n)
{
	bytes_put_varint(bytes, n);
	bytes_put(bytes, text, n);
}

void bytes_printf(struct bytes *bytes, const char *format, ...)
{
	va_list args;
	uint8_t *place;
	int n;

	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	place = n < 0 ? NULL : bytes_reserve(bytes, (size_t)n + 1);
	if (!place)
		return;
	va_start(args, format);
	(void)vsnprintf((char *)place, (size_t)n + 1, format, args); /* measured above */
	va_end(args);
	bytes->size += (size_t)n;
}

const uint8_t *cursor_take(struct cursor *cursor, size_t n)
{
	const uint8_t *taken = cursor->at;

	if (cursor->failed || n > cursor_left(cursor)) {
		cursor->failed = true;
		cursor->at = cursor->end;
		return NULL;
	}
	cursor->at += n;
	return taken;
}

uint8_t cursor_u8(struct cursor *cursor)
{
	const uint8_t *place = cursor_take(cursor, 1);

	return place ? *place : 0;
}

uint16_t cursor_u16(struct cursor *cursor)
{
	const uint8_t *place = cursor_take(cursor, sizeof(uint16_t));
	uint16_t value = 0;

	if (place)
		memcpy(&value, place, sizeof(value));
	return value;
}

uint32_t cursor_u32(struct cursor *cursor)
{
	const uint8_t *place = cursor_take(cursor, sizeof(uint32_t));
	uint32_t value = 0;

	if (place)
		memcpy(&value, place, sizeof(value));
	return value;
}

uint64_t cursor_u64(struct cursor *cursor)
{
	const uint8_t *place = cursor_take(cursor, sizeof(uint64_t));
	uint64_t value = 0;

	if (place)
		memcpy(&value, place, sizeof(value));
	return value;
}

uint64_t cursor_varint_slow(struct cursor *cursor)
{
	uint64_t value = 0;
	unsigned int shift;

	for (shift = 0; shift < 64 && cursor->at < cursor->end; shift += 7) {
		uint8_t byte = *cursor->at++;

		if (shift == 63 && byte > 1)
			break; /* more than 64 bits */
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	cursor->failed = true;
	cursor->at = cursor->end;
	return 0;
}

uint64_t cursor_varint_max(struct cursor *cursor, uint64_t max)
{
	uint64_t value = cursor_varint(cursor);

	if (value > max) {
		cursor->failed = true;
		cursor->at = cursor->end;
		return 0;
	}
	return value;
}
