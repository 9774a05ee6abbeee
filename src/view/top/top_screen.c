/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/top/top_screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define CUT "~"

struct range {
	uint32_t first;
	uint32_t last;
};

static bool is_in(const struct range *ranges, size_t count, uint32_t c)
{
	for (size_t i = 0; i < count; i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* Terminals agree on these; the C library would need a locale. */
static uint32_t char_columns(uint32_t c)
{
	static const struct range none[] = {
		{0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},   {0x610, 0x61a},
		{0x64b, 0x65f},   {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
		{0x2060, 0x2064}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
		{0xfeff, 0xfeff},
	};
	static const struct range two[] = {
		{0x1100, 0x115f},   {0x2e80, 0x303e},   {0x3041, 0xa4cf},   {0xa960, 0xa97c},
		{0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe30, 0xfe6f},   {0xff00, 0xff60},
		{0xffe0, 0xffe6},   {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff},
		{0x20000, 0x3fffd},
	};

	if (c < 0x300)
		return 1;
	if (is_in(none, ARRAY_SIZE(none), c))
		return 0;
	return is_in(two, ARRAY_SIZE(two), c) ? 2 : 1;
}

uint32_t top_text_columns(const char *text)
{
	uint32_t columns = 0;

	while (*text) {
		uint32_t c;

		text += text_decode_utf8(text, &c);
		columns += char_columns(c);
	}
	return columns;
}

void top_screen_clear(struct top_screen *screen, uint32_t columns, uint32_t rows)
{
	bytes_clear(&screen->text);
	screen->spans.count = 0;
	screen->columns = columns;
	screen->rows = rows;
}

void top_screen_fini(struct top_screen *screen)
{
	bytes_fini(&screen->text);
	vec_fini(&screen->spans);
}

/* Appends as much of text as fits; returns its width. */
static uint32_t put_cut(struct bytes *out, const char *text, uint32_t width)
{
	bool fits = top_text_columns(text) <= width;
	uint32_t room = fits ? width : width - 1;
	uint32_t used = 0;

	while (*text) {
		uint32_t c;
		unsigned int n = text_decode_utf8(text, &c);

		if (used + char_columns(c) > room)
			break;
		used += char_columns(c);
		bytes_put(out, text, n);
		text += n;
	}
	if (fits)
		return used;
	bytes_printf(out, CUT);
	return used + 1;
}

void top_screen_put(struct top_screen *screen, struct top_span field, const char *text)
{
	struct bytes safe = {0};
	uint32_t used;

	if (field.row >= screen->rows || field.column >= screen->columns || field.width == 0)
		return;
	if (field.width > screen->columns - field.column)
		field.width = screen->columns - field.column;
	text_put_terminal(&safe, text);
	bytes_put_u8(&safe, '\0');
	field.text = screen->text.size;
	used = safe.failed ? 0 : put_cut(&screen->text, (const char *)safe.data, field.width);
	for (; used < field.width; used++)
		bytes_put_u8(&screen->text, ' ');
	field.size = screen->text.size - field.text;
	if (safe.failed || vec_push(&screen->spans, field) < 0)
		screen->text.failed = true;
	bytes_fini(&safe);
}

static int compare_places(const void *a, const void *b)
{
	const struct top_span *x = *(const struct top_span *const *)a;
	const struct top_span *y = *(const struct top_span *const *)b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return (x->column > y->column) - (x->column < y->column);
}

static void end_line(struct bytes *out, size_t start)
{
	while (out->size > start && out->data[out->size - 1] == ' ')
		out->size--;
	bytes_put_u8(out, '\n');
}

void top_screen_print(const struct top_screen *screen, struct bytes *out)
{
	const struct top_span **spans = calloc(screen->spans.count + 1, sizeof(const void *));
	size_t start = out->size;
	uint32_t row = 0;
	uint32_t column = 0;

	if (!spans) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < screen->spans.count; i++)
		spans[i] = &screen->spans.items[i];
	qsort(spans, screen->spans.count, sizeof(const void *), compare_places);
	for (size_t i = 0; i < screen->spans.count; i++) {
		const struct top_span *span = spans[i];

		for (; row < span->row; row++, column = 0, start = out->size)
			end_line(out, start);
		for (; column < span->column; column++)
			bytes_put_u8(out, ' ');
		bytes_put(out, screen->text.data + span->text, span->size);
		column = span->column + span->width;
	}
	end_line(out, start);
	free(spans);
}
