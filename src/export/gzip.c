/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/gzip.h"

#include <limits.h>
#include <stdlib.h>

#include <zlib.h>

#include "base/bytes.h"

#define OUTPUT_BYTES (64u << 10)
#define GZIP_WINDOW (15 + 16) /* 16: with the header of a gzip file */

struct gzip {
	z_stream stream;
	struct bytes *out;
};

struct gzip *gzip_new(struct bytes *out)
{
	struct gzip *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return NULL;
	gzip->out = out;
	if (deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return NULL;
	}
	return gzip;
}

void gzip_free(struct gzip *gzip)
{
	if (!gzip)
		return;
	(void)deflateEnd(&gzip->stream); /* it returns an error for unfinished data */
	free(gzip);
}

static void run(struct gzip *gzip, int flush)
{
	int r = Z_OK;

	do {
		uint8_t *place = bytes_reserve(gzip->out, OUTPUT_BYTES);

		if (!place)
			return;
		gzip->stream.next_out = place;
		gzip->stream.avail_out = OUTPUT_BYTES;
		r = deflate(&gzip->stream, flush);
		gzip->out->size += OUTPUT_BYTES - gzip->stream.avail_out;
	} while (r == Z_OK && gzip->stream.avail_out == 0);
	if (flush == Z_FINISH && r != Z_STREAM_END)
		gzip->out->failed = true;
}

void gzip_put(struct gzip *gzip, struct bytes *data)
{
	if (data->failed || data->size > UINT_MAX) {
		gzip->out->failed = true;
		return;
	}
	gzip->stream.next_in = data->data;
	gzip->stream.avail_in = (uInt)data->size;
	run(gzip, Z_NO_FLUSH);
	bytes_clear(data);
}

void gzip_finish(struct gzip *gzip)
{
	gzip->stream.next_in = NULL;
	gzip->stream.avail_in = 0;
	run(gzip, Z_FINISH);
}
