/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/flame/flame_palette.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Contrast after WCAG 2: of relative luminances, 1 … 21. */

static double linear(uint32_t channel)
{
	double c = channel / 255.0;

	return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double luminance(uint32_t color)
{
	return 0.2126 * linear(color >> 16 & 0xff) + 0.7152 * linear(color >> 8 & 0xff) +
	       0.0722 * linear(color & 0xff);
}

static double contrast(uint32_t a, uint32_t b)
{
	double x = luminance(a) + 0.05;
	double y = luminance(b) + 0.05;

	return x > y ? x / y : y / x;
}

/* What is seen of a colour over a page. */
static uint32_t over(uint32_t color, uint32_t page, double opacity)
{
	uint32_t seen = 0;
	int bits;

	for (bits = 16; bits >= 0; bits -= 8)
		seen |= (uint32_t)((color >> bits & 0xff) * opacity +
				   (page >> bits & 0xff) * (1 - opacity))
			<< bits;
	return seen;
}

static void assert_contrast(const char *what, uint32_t a, uint32_t b, double least)
{
	if (contrast(a, b) < least)
		fail_msg("%s: #%06x on #%06x is %.2f:1", what, a, b, contrast(a, b));
}

static void what_is_written_on_a_color_can_be_read(void **state)
{
	enum flame_colors colors;
	size_t i;
	uint32_t shade;
	int dark;

	for (colors = FLAME_COLORS_CATEGORY; colors <= FLAME_COLORS_ORANGE_BLUE; colors++) {
		const struct flame_palette *palette = flame_palette_of(colors);

		for (i = 0; i < palette->count; i++) {
			const struct flame_swatch *swatch = &palette->swatches[i];
			uint32_t text = swatch->white ? 0xffffff : FLAME_TEXT;

			if (swatch->pattern)
				assert_contrast(swatch->class, text, swatch->line, 4.5);
			for (shade = 0; shade < swatch->shades * 2; shade++) {
				uint32_t fill;

				dark = shade % 2;
				fill = flame_palette_shade(swatch, dark != 0, shade / 2);
				assert_contrast(swatch->class, text, fill, 4.5);
				/* Callers of a zoomed box are dimmed. */
				assert_contrast(swatch->class, dark ? 0xffffff : FLAME_TEXT,
						dark ? over(fill, FLAME_PAGE_DARK, 0.3)
						     : over(fill, FLAME_PAGE, 0.45),
						4.5);
			}
		}
	}
	assert_contrast("hit", 0xffffff, FLAME_HIT, 4.5);
}

static void text_on_every_hue_can_be_read(void **state)
{
	uint32_t hue;
	uint32_t shade;

	for (hue = 0; hue < 360; hue++)
		for (shade = 0; shade < 4; shade++)
			assert_contrast("hue", FLAME_TEXT, flame_palette_hue(hue, shade), 4.5);
}

static void neighbours_of_careful_palettes_differ(void **state)
{
	static const enum flame_colors careful[] = {FLAME_COLORS_CVD, FLAME_COLORS_CONTRAST};
	size_t n;
	size_t i;
	uint32_t a;
	uint32_t b;
	int dark;

	for (n = 0; n < 2; n++) {
		const struct flame_palette *palette = flame_palette_of(careful[n]);

		assert_true(palette->edge != 0);
		for (i = 0; i < palette->count * 2; i++) {
			const struct flame_swatch *swatch = &palette->swatches[i / 2];

			dark = i % 2;
			for (a = 0; a < swatch->shades; a++) {
				uint32_t fill = flame_palette_shade(swatch, dark != 0, a);

				assert_contrast(swatch->class, fill, palette->edge, 3);
				/* The first swatch is that of processes. */
				for (b = 0; i / 2 > 1 && b < swatch[-1].shades; b++)
					assert_contrast(
						swatch->class, fill,
						flame_palette_shade(&swatch[-1], dark != 0, b), 3);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_on_a_color_can_be_read),
		cmocka_unit_test(text_on_every_hue_can_be_read),
		cmocka_unit_test(neighbours_of_careful_palettes_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
