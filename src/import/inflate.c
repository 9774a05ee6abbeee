/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/inflate.h"

#include <errno.h>
#include <inttypes.h>
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

static uint64_t limit_of(size_t size)
{
	uint64_t limit = (uint64_t)size * IMPORT_INFLATE_TIMES;

	if (limit < IMPORT_INFLATE_FREE_BYTES)
		return IMPORT_INFLATE_FREE_BYTES;
	return limit < IMPORT_INFLATE_MAX_BYTES ? limit : IMPORT_INFLATE_MAX_BYTES;
}

static int refuse_size(uint64_t limit, struct error *err)
{
	(void)error_set(err, -EFBIG, "it decompresses to more than %" PRIu64 " MB", limit >> 20);
	error_remedy(err, "if you trust it, decompress it with gunzip and read the result");
	return -EFBIG;
}

static int run(z_stream *stream, uint64_t limit, struct bytes *out, struct error *err)
{
	size_t start = out->size;
	int r = Z_OK;

	while (r != Z_STREAM_END) {
		uint8_t *place = bytes_reserve(out, STEP_BYTES);

		if (!place)
			return error_set(err, -ENOMEM, "out of memory");
		stream->next_out = place;
		stream->avail_out = STEP_BYTES;
		r = inflate(stream, Z_NO_FLUSH);
		out->size += STEP_BYTES - stream->avail_out;
		if (out->size - start > limit)
			return refuse_size(limit, err);
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
		return error_set(err, -EFBIG, "it does not fit into memory");
	/* The cast removes const, which zlib's interface does not support. */
	stream.next_in = (Bytef *)(uintptr_t)data;
	stream.avail_in = (uInt)size;
	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return error_set(err, -ENOMEM, "out of memory");
	r = run(&stream, limit_of(size), out, err);
	(void)inflateEnd(&stream); /* the state was sound */
	return r;
}
