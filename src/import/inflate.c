/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/inflate.h"

#include <errno.h>
#include <limits.h>

#include <zlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "import/import.h"

#define STEP_BYTES (256u << 10)
#define GZIP_WINDOW (15 + 16) /* 16: with the header of a gzip file */

bool inflate_is_gzip(const uint8_t *data, size_t size)
{
	return size > 2 && data[0] == 0x1f && data[1] == 0x8b;
}

static int run(z_stream *stream, struct bytes *out, struct error *err)
{
	int r = Z_OK;

	while (r != Z_STREAM_END) {
		uint8_t *place = bytes_reserve(out, STEP_BYTES);

		if (!place || out->size > IMPORT_MAX_BYTES)
			return error_set(err, -EFBIG, "it inflates to more than fits into memory");
		stream->next_out = place;
		stream->avail_out = STEP_BYTES;
		r = inflate(stream, Z_NO_FLUSH);
		out->size += STEP_BYTES - stream->avail_out;
		if (r == Z_BUF_ERROR)
			return error_set(err, -EBADMSG, "its compressed data is cut off");
		if (r != Z_OK && r != Z_STREAM_END)
			return error_set(err, -EBADMSG, "its compressed data is damaged");
	}
	return 0;
}

int inflate_gzip(const uint8_t *data, size_t size, struct bytes *out, struct error *err)
{
	z_stream stream = {0};
	int r;

	if (size > UINT_MAX)
		return error_set(err, -EFBIG, "it is larger than fits into memory");
	/* The cast takes const away, which zlib's interface has no place for. */
	stream.next_in = (Bytef *)(uintptr_t)data;
	stream.avail_in = (uInt)size;
	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return error_set(err, -ENOMEM, "out of memory");
	r = run(&stream, out, err);
	(void)inflateEnd(&stream); /* the state was sound */
	return r;
}
