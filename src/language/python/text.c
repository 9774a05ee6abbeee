/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/python/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "language/python/layout.h"
#include "unwind/python_walk.h"

/* Members of strings, the same in all versions. */
#define LENGTH 16u
#define STATE 32u
#define HEAD_BYTES 40u
#define STATE_KIND(state) ((state) >> 2 & 7u) /* bytes of a character */
#define STATE_COMPACT(state) ((state) >> 5 & 1u)
#define STATE_ASCII(state) ((state) >> 6 & 1u)

#define TEXT_MAX (1u << 20) /* characters; what has more is no string */
#define COMPARED_MAX 64u

/* A character as UTF-8. Control characters and what is none are shown as '?'. */
static void put_character(struct bytes *out, uint32_t character)
{
	if (character < 0x20 || character == 0x7f || character > 0x10ffff ||
	    (character >= 0xd800 && character < 0xe000))
		character = '?';
	if (character < 0x80) {
		bytes_put_u8(out, (uint8_t)character);
		return;
	}
	if (character < 0x800) {
		bytes_put_u8(out, (uint8_t)(0xc0 | character >> 6));
	} else if (character < 0x10000) {
		bytes_put_u8(out, (uint8_t)(0xe0 | character >> 12));
		bytes_put_u8(out, (uint8_t)(0x80 | (character >> 6 & 0x3f)));
	} else {
		bytes_put_u8(out, (uint8_t)(0xf0 | character >> 18));
		bytes_put_u8(out, (uint8_t)(0x80 | (character >> 12 & 0x3f)));
		bytes_put_u8(out, (uint8_t)(0x80 | (character >> 6 & 0x3f)));
	}
	bytes_put_u8(out, (uint8_t)(0x80 | (character & 0x3f)));
}

static uint32_t character_at(const uint8_t *characters, size_t i, uint32_t kind)
{
	uint16_t two;
	uint32_t four;

	if (kind == 1)
		return characters[i];
	if (kind == 4) {
		memcpy(&four, characters + i * 4, sizeof(four));
		return four;
	}
	memcpy(&two, characters + i * 2, sizeof(two));
	return two;
}

int python_text_read(const struct python_code_layout *layout, const struct python_reader *reader,
		     uint64_t address, size_t most, char **ret)
{
	uint8_t head[HEAD_BYTES];
	struct bytes text = {0};
	uint8_t *characters;
	uint64_t length;
	uint32_t state;
	uint32_t kind;

	if (!reader->read(reader->context, address, head, sizeof(head)))
		return -EFAULT;
	memcpy(&length, head + LENGTH, sizeof(length));
	memcpy(&state, head + STATE, sizeof(state));
	kind = STATE_KIND(state);
	/* A function may have an instance of a subclass of str as its name: that is not read. */
	if (!STATE_COMPACT(state) || (kind != 1 && kind != 2 && kind != 4) || length > TEXT_MAX)
		return -EINVAL;
	if (length > most)
		length = most;
	characters = malloc(length * kind + 1);
	if (!characters)
		return -ENOMEM;
	address += STATE_ASCII(state) ? layout->ascii_bytes : layout->unicode_bytes;
	if (!reader->read(reader->context, address, characters, (uint32_t)(length * kind))) {
		free(characters);
		return -EFAULT;
	}
	for (size_t i = 0; i < length; i++)
		put_character(&text, character_at(characters, i, kind));
	bytes_put_u8(&text, 0);
	free(characters);
	if (text.failed) {
		bytes_fini(&text);
		return -ENOMEM;
	}
	*ret = (char *)text.data;
	return 0;
}

bool python_text_equals(const struct python_code_layout *layout, const struct python_reader *reader,
			uint64_t address, const char *text)
{
	size_t size = strlen(text);
	uint8_t bytes[HEAD_BYTES];
	char characters[COMPARED_MAX];
	uint64_t length;
	uint32_t state;

	if (size > sizeof(characters) ||
	    !reader->read(reader->context, address, bytes, sizeof(bytes)))
		return false;
	memcpy(&length, bytes + LENGTH, sizeof(length));
	memcpy(&state, bytes + STATE, sizeof(state));
	return length == size && STATE_COMPACT(state) && STATE_ASCII(state) &&
	       reader->read(reader->context, address + layout->ascii_bytes, characters,
			    (uint32_t)size) &&
	       memcmp(characters, text, size) == 0;
}
