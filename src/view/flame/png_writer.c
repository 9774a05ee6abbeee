/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/flame/png_writer.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/bytes.h"

/*
 * A file is a mark and chunks: length, type, data, checksum of type and data. The pixels are one
 * stream of zlib in any number of IDAT chunks; each row begins with the number of its filter. 2 is
 * "up", the difference from the row above: most pixels equal those above, so most bytes become 0.
 */

#define FILTER_UP 2
#define IDAT_BYTES (64u * 1024)
#define CHANNELS 3u

struct png_writer {
	struct bytes *out;
	z_stream zlib;
	uint32_t width_px;
	uint8_t *last;     /* the previous row */
	uint8_t *filtered; /* the current row, with its filter */
	uint8_t packed[IDAT_BYTES];
};

static void put_u32(struct bytes *out, uint32_t value)
{
	const uint8_t data[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16),
				(uint8_t)(value >> 8), (uint8_t)value};

	bytes_put(out, data, sizeof(data));
}

static void put_chunk(struct bytes *out, const char *type, const uint8_t *data, uint32_t size)
{
	uLong check = crc32(0, (const Bytef *)type, 4);

	put_u32(out, size);
	bytes_put(out, type, 4);
	if (size > 0) {
		bytes_put(out, data, size);
		check = crc32(check, data, size);
	}
	put_u32(out, (uint32_t)check);
}

static void put_head(struct png_writer *png, uint32_t height_px)
{
	static const uint8_t mark[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
	struct bytes head = {0};

	bytes_put(png->out, mark, sizeof(mark));
	put_u32(&head, png->width_px);
	put_u32(&head, height_px);
	bytes_put(&head, "\x08\x02\0\0\0", 5); /* 8 bits, red green blue, the usual methods */
	if (head.failed)
		png->out->failed = true;
	else
		put_chunk(png->out, "IHDR", head.data, (uint32_t)head.size);
	bytes_fini(&head);
}

struct png_writer *png_writer_new(struct bytes *out, uint32_t width_px, uint32_t height_px)
{
	struct png_writer *png = calloc(1, sizeof(*png));
	size_t row = (size_t)width_px * CHANNELS;

	if (!png)
		return NULL;
	png->out = out;
	png->width_px = width_px;
	png->last = calloc(row + 1, 1);
	png->filtered = malloc(row + 1);
	if (!png->last || !png->filtered ||
	    deflateInit(&png->zlib, Z_DEFAULT_COMPRESSION) != Z_OK) {
		free(png->last);
		free(png->filtered);
		free(png);
		return NULL;
	}
	png->zlib.next_out = png->packed;
	png->zlib.avail_out = IDAT_BYTES;
	put_head(png, height_px);
	return png;
}

static void put_packed(struct png_writer *png)
{
	uint32_t size = IDAT_BYTES - png->zlib.avail_out;

	if (size > 0)
		put_chunk(png->out, "IDAT", png->packed, size);
	png->zlib.next_out = png->packed;
	png->zlib.avail_out = IDAT_BYTES;
}

void png_writer_row(struct png_writer *png, const uint32_t *pixels)
{
	uint8_t *to = png->filtered;
	uint8_t *last = png->last;
	uint32_t i;
	int shift;

	*to++ = FILTER_UP;
	for (i = 0; i < png->width_px; i++)
		for (shift = 16; shift >= 0; shift -= 8) {
			uint8_t channel = (uint8_t)(pixels[i] >> shift);

			*to++ = (uint8_t)(channel - *last);
			*last++ = channel;
		}
	png->zlib.next_in = png->filtered;
	png->zlib.avail_in = (uInt)(to - png->filtered);
	while (png->zlib.avail_in > 0) {
		(void)deflate(&png->zlib, Z_NO_FLUSH); /* it can only run out of output space */
		if (png->zlib.avail_out == 0)
			put_packed(png);
	}
}

void png_writer_finish(struct png_writer *png)
{
	while (deflate(&png->zlib, Z_FINISH) == Z_OK)
		put_packed(png);
	put_packed(png);
	put_chunk(png->out, "IEND", NULL, 0);
}

void png_writer_free(struct png_writer *png)
{
	if (!png)
		return;
	(void)deflateEnd(&png->zlib); /* only frees */
	free(png->last);
	free(png->filtered);
	free(png);
}
