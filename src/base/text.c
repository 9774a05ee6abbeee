/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/text.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

#define REPLACEMENT 0xfffdu

static unsigned int sequence_length(uint8_t first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first < 0xe0)
		return 2;
	if (first >= 0xe0 && first < 0xf0)
		return 3;
	if (first >= 0xf0 && first < 0xf5)
		return 4;
	return 0;
}

unsigned int text_decode_utf8(const char *text, uint32_t *ret_char)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const uint8_t *at = (const uint8_t *)text;
	unsigned int n = sequence_length(*at);
	uint32_t value;
	unsigned int i;

	*ret_char = REPLACEMENT;
	if (n == 0)
		return 1;
	value = n == 1 ? *at : *at & (0x7fu >> n);
	for (i = 1; i < n; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 1;
		value = value << 6 | (at[i] & 0x3f);
	}
	if (value < least[n] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 1;
	*ret_char = value;
	return n;
}

static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/* Marks that reorder the text around them: a name must not rearrange a line. */
static bool is_bidi(uint32_t c)
{
	return (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x200e ||
	       c == 0x200f;
}

/* Appends printable ASCII up to one of the three, at once; returns where that ends. */
static const char *put_plain(struct bytes *out, const char *text, char first, char second,
			     char third)
{
	const char *at = text;

	while (*at >= 0x20 && *at < 0x7f && *at != first && *at != second && *at != third)
		at++;
	bytes_put(out, text, (size_t)(at - text));
	return at;
}

void text_put_terminal(struct bytes *out, const char *text)
{
	while (*(text = put_plain(out, text, '\0', '\0', '\0'))) {
		uint32_t c;
		unsigned int n = text_decode_utf8(text, &c);

		if (is_control(c) && n == 1)
			bytes_printf(out, "\\x%02x", (unsigned int)(uint8_t)*text);
		else if (is_control(c) || is_bidi(c) || (c == REPLACEMENT && n == 1))
			bytes_put(out, "\xef\xbf\xbd", 3);
		else
			bytes_put(out, text, n);
		text += n;
	}
}

static const char *xml_entity(uint32_t c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

/* Appends one character, or U+FFFD for one that must not be shown. */
static void put_shown(struct bytes *out, const char *text, unsigned int n, uint32_t c)
{
	if (is_control(c) || is_bidi(c) || c == 0xfffe || c == 0xffff ||
	    (c == REPLACEMENT && n == 1))
		bytes_put(out, "\xef\xbf\xbd", 3);
	else
		bytes_put(out, text, n);
}

void text_put_xml(struct bytes *out, const char *text)
{
	while (*text) {
		uint32_t c;
		unsigned int n = text_decode_utf8(text, &c);
		const char *entity = xml_entity(c);

		if (entity)
			bytes_put(out, entity, strlen(entity));
		else
			put_shown(out, text, n, c);
		text += n;
	}
}

void text_put_plain(struct bytes *out, const char *text)
{
	while (*text) {
		uint32_t c;
		unsigned int n = text_decode_utf8(text, &c);

		put_shown(out, text, n, c);
		text += n;
	}
}

void text_put_json(struct bytes *out, const char *text)
{
	while (*(text = put_plain(out, text, '"', '\\', '<'))) {
		uint32_t c;
		unsigned int n = text_decode_utf8(text, &c);

		if (c == '<') /* C++ has many of them */
			bytes_put(out, "\\u003c", 6);
		else if (c == '"' || c == '\\')
			bytes_printf(out, "\\%c", (char)c);
		else if (is_control(c) || is_bidi(c) || c == 0x2028 || c == 0x2029)
			bytes_printf(out, "\\u%04x", (unsigned int)c);
		else if (c == REPLACEMENT && n == 1)
			bytes_put(out, "\xef\xbf\xbd", 3);
		else
			bytes_put(out, text, n);
		text += n;
	}
}

void text_put_csv(struct bytes *out, const char *text)
{
	const char *quote;
	struct bytes part = {0};

	bytes_put_u8(out, '"');
	/* A spreadsheet evaluates what looks like a formula, even in quotes; this makes it text. */
	if (*text && strchr("=+-@", *text))
		bytes_put_u8(out, '\'');
	/* What is safe for a terminal is safe elsewhere; quotes are doubled. */
	text_put_terminal(&part, text);
	bytes_put_u8(&part, '\0');
	for (text = part.failed ? "" : (const char *)part.data; (quote = strchr(text, '"'));
	     text = quote + 1) {
		bytes_put(out, text, (size_t)(quote - text));
		bytes_put(out, "\"\"", 2);
	}
	bytes_put(out, text, strlen(text));
	bytes_put_u8(out, '"');
	out->failed = out->failed || part.failed;
	bytes_fini(&part);
}

void text_put_shell(struct bytes *out, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789./_-+=:@,%";

	if (*text && text[strspn(text, plain)] == '\0') {
		bytes_put(out, text, strlen(text));
		return;
	}
	bytes_put_u8(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			bytes_put(out, "'\\''", 4);
		else
			bytes_put_u8(out, is_control((uint8_t)*text) && (uint8_t)*text < 0x80
						  ? '?'
						  : (uint8_t)*text);
	}
	bytes_put_u8(out, '\'');
}
