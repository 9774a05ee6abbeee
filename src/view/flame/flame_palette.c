/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/flame/flame_palette.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/vec.h"

/* clang-format off */

/* Hues after Okabe and Ito, distinguishable by most colour-blind people. */
static const struct flame_swatch category[] = {
	{"g", NULL, 0xdcdcd8, 0x8d9096, 1},
	{"t", "truncated", 0xece06e, 0xbfb243, 3},
	{"i", "inlined", 0xaca2e4, 0x8a80c4, 3},
	{"p", "program", 0xf0a044, 0xc48134, 3},
	{"l", "library", 0x78b9e5, 0x4f8fbc, 3},
	{"k", "kernel", 0xd28fb9, 0xab6b93, 3},
	{"u", "no symbol", 0xb9b9b9, 0x828282, 3},
	{"j", "JIT", 0x5dbd99, 0x3f9474, 3},
	{"y", "interpreted", 0xb5d15c, 0x8aa53b, 3},
};

/* Alternately light and dark, so that brightness alone distinguishes neighbours. */
static const struct flame_swatch cvd[] = {
	{"g", NULL, 0xe4e4e0, 0xe4e4e0, 1},
	{"t", "truncated", 0xf4f4f4, 0xf4f4f4, 3},
	{"i", "inlined", 0x9c4a00, 0x9c4a00, 3, .white = true},
	{"p", "program", 0xffd080, 0xffd080, 3},
	{"l", "library", 0x0069a6, 0x0069a6, 3, .white = true},
	{"k", "kernel", 0xf5cfe4, 0xf5cfe4, 3},
	{"u", "no symbol", 0x626262, 0x626262, 3, .white = true},
	{"j", "JIT", 0xe6f3a6, 0xe6f3a6, 3},
	{"y", "interpreted", 0x1d6b2c, 0x1d6b2c, 3, .white = true},
};

/* Maximum contrast, with patterns. */
static const struct flame_swatch contrast[] = {
	{"g", NULL, 0xf2f2f2, 0xf2f2f2, 1},
	{"t", "truncated", 0xffffff, 0xffffff, 1, .pattern = '+', .line = 0xc8c8c8},
	{"i", "inlined", 0x5a2500, 0x5a2500, 1, .white = true, .pattern = '|', .line = 0x854010},
	{"p", "program", 0xffffff, 0xffffff, 1},
	{"l", "library", 0x00306a, 0x00306a, 1, .white = true, .pattern = '/', .line = 0x0a5096},
	{"k", "kernel", 0xffffff, 0xffffff, 1, .pattern = '-', .line = 0xd8a8c4},
	{"u", "no symbol", 0x363636, 0x363636, 1, .white = true},
	{"j", "JIT", 0xffffff, 0xffffff, 1, .pattern = '\\', .line = 0xa8cf80},
	{"y", "interpreted", 0x0c4019, 0x0c4019, 1, .white = true},
};

static const struct flame_swatch language[] = {
	{"g", NULL, 0xdcdcd8, 0x8d9096, 1},
	{"c", "C", 0x78b9e5, 0x4f8fbc, 3},
	{"x", "C++", 0x9aa4ec, 0x7f8ad2, 3},
	{"r", "Rust", 0xe8915c, 0xc97a48, 3},
	{"o", "Go", 0x6fcfd2, 0x46a2a5, 3},
	{"y", "Python", 0xf2cf58, 0xc2a136, 3},
	{"b", "Ruby", 0xe57d87, 0xcb6872, 3},
	{"s", "JavaScript, JIT", 0x9fd06a, 0x79a847, 3},
	{"a", "assembly", 0xd0b896, 0xa8906d, 3},
	{"k", "kernel", 0xd28fb9, 0xab6b93, 3},
	{"u", "unknown", 0xb9b9b9, 0x828282, 3},
};

/* By the self share of the function. */
static const struct flame_swatch heat[] = {
	{"g", NULL, 0xdcdcd8, 0x8d9096, 1},
	{"h0", "self 0%", 0xfff8dc, 0xd9d2b4, 1},
	{"h1", "0.1%", 0xffeab0, 0xe0cb8f, 1},
	{"h2", "0.5%", 0xfed87c, 0xe3bd66, 1},
	{"h3", "1%", 0xfdbf5c, 0xe3a74e, 1},
	{"h4", "2.5%", 0xfba04c, 0xe38c42, 1},
	{"h5", "5%", 0xf58045, 0xe1743e, 1},
	{"h6", "10% and more", 0xea6048, 0xdf5a44, 1},
};

static const struct flame_swatch hues[] = {
	{"g", NULL, 0xdcdcd8, 0x8d9096, 1},
};

/* For comparisons: more in red (orange for the colour-blind), less in blue. */
static const struct flame_swatch red_blue[] = {
	{"g", NULL, 0xdcdcd8, 0x8d9096, 1},
	{"same", NULL, 0xe2e2de, 0xa3a5a9, 1},
	{"m1", NULL, 0xfbdcd2, 0xfbdcd2, 1}, {"m2", NULL, 0xf7b8a5, 0xf7b8a5, 1},
	{"m3", NULL, 0xf18f78, 0xf18f78, 1}, {"m4", NULL, 0xe86450, 0xe86450, 1},
	{"d1", NULL, 0xd7e5f4, 0xd7e5f4, 1}, {"d2", NULL, 0xb1cdea, 0xb1cdea, 1},
	{"d3", NULL, 0x85b2de, 0x85b2de, 1}, {"d4", NULL, 0x5b96d0, 0x5b96d0, 1},
};

static const struct flame_swatch orange_blue[] = {
	{"g", NULL, 0xdcdcd8, 0x8d9096, 1},
	{"same", NULL, 0xe2e2de, 0xa3a5a9, 1},
	{"m1", NULL, 0xfdebd0, 0xfdebd0, 1}, {"m2", NULL, 0xfbcf94, 0xfbcf94, 1},
	{"m3", NULL, 0xf4ad52, 0xf4ad52, 1}, {"m4", NULL, 0xe0891b, 0xe0891b, 1},
	{"d1", NULL, 0xd7e5f4, 0xd7e5f4, 1}, {"d2", NULL, 0xb1cdea, 0xb1cdea, 1},
	{"d3", NULL, 0x85b2de, 0x85b2de, 1}, {"d4", NULL, 0x5b96d0, 0x5b96d0, 1},
};

static const struct flame_palette palettes[] = {
	[FLAME_COLORS_CATEGORY] = {category, ARRAY_SIZE(category), 0},
	[FLAME_COLORS_MODULE] = {hues, ARRAY_SIZE(hues), 0},
	[FLAME_COLORS_HASH] = {hues, ARRAY_SIZE(hues), 0},
	[FLAME_COLORS_HEAT] = {heat, ARRAY_SIZE(heat), 0},
	[FLAME_COLORS_CVD] = {cvd, ARRAY_SIZE(cvd), 0x010101, .edge_hides = true},
	[FLAME_COLORS_CONTRAST] = {contrast, ARRAY_SIZE(contrast), 0x8a8a8a},
	[FLAME_COLORS_LANGUAGE] = {language, ARRAY_SIZE(language), 0},
	[FLAME_COLORS_RED_BLUE] = {red_blue, ARRAY_SIZE(red_blue), 0},
	[FLAME_COLORS_ORANGE_BLUE] = {orange_blue, ARRAY_SIZE(orange_blue), 0},
};

/* clang-format on */

const struct flame_palette *flame_palette_of(enum flame_colors colors)
{
	return &palettes[colors];
}

const struct flame_swatch *flame_palette_find(const struct flame_palette *palette,
					      const char *class)
{
	size_t i;

	for (i = 0; i < palette->count; i++)
		if (strcmp(palette->swatches[i].class, class) == 0)
			return &palette->swatches[i];
	return NULL;
}

/* Each shade is slightly lighter; dark ones stay dark enough for white text. */
uint32_t flame_palette_shade(const struct flame_swatch *swatch, bool dark, uint32_t shade)
{
	uint32_t color = dark ? swatch->dark : swatch->light;
	uint32_t parts = shade * (swatch->white ? 3 : 12); /* of a hundred */
	uint32_t result = 0;
	int bits;

	for (bits = 16; bits >= 0; bits -= 8) {
		uint32_t channel = color >> bits & 0xff;

		result |= (channel + (255 - channel) * parts / 100) << bits;
	}
	return result;
}

uint32_t flame_palette_hue(uint32_t hue, uint32_t shade)
{
	double lightness = 0.66 + 0.05 * (shade % 4);
	double chroma = (1 - fabs(2 * lightness - 1)) * 0.62;
	uint32_t color = 0;
	int i;

	for (i = 0; i < 3; i++) {
		double k = fmod(i * 240.0 + hue, 360) / 60; /* red, green, blue a third apart */
		double up = fmax(0, fmin(1, fabs(k - 3) - 1));

		color = color << 8 | (uint32_t)((lightness - chroma / 2 + chroma * up) * 255);
	}
	return color;
}

static void put_class(struct bytes *out, const struct flame_swatch *swatch, uint32_t shade)
{
	bytes_printf(out, ".%s", swatch->class);
	if (swatch->shades > 1)
		bytes_printf(out, "%" PRIu32, shade);
}

static void put_swatch(struct bytes *out, const struct flame_swatch *swatch, bool dark)
{
	uint32_t shade;

	for (shade = 0; shade < swatch->shades; shade++) {
		bytes_printf(out, ".wick-flame ");
		put_class(out, swatch, shade);
		if (swatch->pattern)
			bytes_printf(out, " { fill: url(#wick-%s); }", swatch->class);
		else
			bytes_printf(out, " { fill: #%06" PRIx32 "; }",
				     flame_palette_shade(swatch, dark, shade));
		if (swatch->white && !dark) {
			bytes_printf(out, " .wick-flame ");
			put_class(out, swatch, shade);
			bytes_printf(out, " + text { fill: #fff; }");
		}
		bytes_put_u8(out, shade + 1 < swatch->shades ? ' ' : '\n');
	}
}

void flame_palette_put_style(const struct flame_palette *palette, struct bytes *out)
{
	size_t i;

	for (i = 0; i < palette->count; i++)
		put_swatch(out, &palette->swatches[i], false);
	if (palette->edge)
		bytes_printf(out,
			     ".wick-flame[data-edged] .frames { stroke: #%06" PRIx32
			     "; stroke-width: 1; stroke-opacity: 1; }\n",
			     palette->edge);
	if (palette->edge_hides)
		bytes_printf(out, ".wick-flame rect.thin { stroke: none; }\n");
	bytes_printf(out, ".wick-flame rect.hit { fill: #%06x; }\n", FLAME_HIT);
	bytes_printf(out, "@media screen and (prefers-color-scheme: dark) {\n");
	for (i = 0; i < palette->count; i++)
		if (palette->swatches[i].dark != palette->swatches[i].light)
			put_swatch(out, &palette->swatches[i], true);
	bytes_printf(out, "}\n");
}

void flame_palette_put_patterns(const struct flame_palette *palette, struct bytes *out)
{
	static const struct {
		char kind;
		const char *path;
	} paths[] = {
		{'/', "M-2 2 2-2M0 8 8 0M6 10 10 6"},
		{'\\', "M-2 6 2 10M0 0 8 8M6-2 10 2"},
		{'|', "M4 0V8"},
		{'-', "M0 4H8"},
		{'+', "M4 0V8M0 4H8"},
	};
	size_t i;
	size_t k;

	for (i = 0; i < palette->count; i++) {
		const struct flame_swatch *swatch = &palette->swatches[i];

		for (k = 0; k < ARRAY_SIZE(paths); k++)
			if (paths[k].kind == swatch->pattern)
				bytes_printf(out,
					     "<pattern id=\"wick-%s\" width=\"8\" height=\"8\" "
					     "patternUnits=\"userSpaceOnUse\"><path "
					     "fill=\"#%06" PRIx32 "\" d=\"M0 0H8V8H0Z\"/><path "
					     "stroke=\"#%06" PRIx32
					     "\" stroke-width=\"2\" d=\"%s\"/></pattern>\n",
					     swatch->class, swatch->light, swatch->line,
					     paths[k].path);
	}
}
