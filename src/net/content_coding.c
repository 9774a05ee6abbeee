/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/content_coding.h"

#include <errno.h>
#include <stdint.h>
#include <strings.h>

#include <zlib.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/error.h"

#define STEP_BYTES (256u << 10)
/* Frames with a larger window would need that much memory. */
#define ZSTD_WINDOW_LOG_MAX 23

static int refuse_large(size_t limit, struct error *err)
{
	(void)error_set(err, -EFBIG, "the body decompresses to more than the limit of %zu bytes",
			limit);
	error_remedy(err, "send shorter windows");
	return -EFBIG;
}

static int refuse_damaged(const char *coding, struct error *err)
{
	(void)error_set(err, -EBADMSG, "the body is not complete %s data", coding);
	error_remedy(err, "send it again, or without Content-Encoding");
	return -EBADMSG;
}

static int decode_gzip(const void *data, size_t size, size_t limit, struct bytes *out,
		       struct error *err)
{
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size};
	size_t start = out->size;
	int result = inflateInit2(&stream, 15 + 32); /* gzip or zlib */

	if (size > UINT32_MAX)
		return refuse_large(limit, err);
	while (result == Z_OK && out->size - start <= limit) {
		uint8_t *place = bytes_reserve(out, STEP_BYTES);

		if (!place)
			break;
		stream.next_out = place;
		stream.avail_out = STEP_BYTES;
		result = inflate(&stream, Z_NO_FLUSH);
		out->size += STEP_BYTES - stream.avail_out;
	}
	(void)inflateEnd(&stream); /* only frees */
	if (out->failed)
		return error_set(err, -ENOMEM, "out of memory");
	if (out->size - start > limit)
		return refuse_large(limit, err);
	return result == Z_STREAM_END ? 0 : refuse_damaged("gzip", err);
}

static int decode_zstd(const void *data, size_t size, size_t limit, struct bytes *out,
		       struct error *err)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	ZSTD_inBuffer in = {data, size, 0};
	size_t start = out->size;
	size_t left = 1;

	if (!context)
		return error_set(err, -ENOMEM, "out of memory");
	(void)ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
	while (left > 0 && !ZSTD_isError(left) && out->size - start <= limit) {
		ZSTD_outBuffer to = {bytes_reserve(out, STEP_BYTES), STEP_BYTES, 0};

		if (!to.dst)
			break;
		left = ZSTD_decompressStream(context, &to, &in);
		out->size += to.pos;
		if (left > 0 && to.pos == 0 && in.pos == in.size)
			break; /* cut off */
	}
	(void)ZSTD_freeDCtx(context); /* cannot fail */
	if (out->failed)
		return error_set(err, -ENOMEM, "out of memory");
	if (out->size - start > limit)
		return refuse_large(limit, err);
	return left == 0 ? 0 : refuse_damaged("zstd", err);
}

int content_decode(const char *coding, const void *data, size_t size, size_t limit,
		   struct bytes *out, struct error *err)
{
	if (!coding || !*coding || strcasecmp(coding, "identity") == 0) {
		if (size > limit)
			return refuse_large(limit, err);
		bytes_put(out, data, size);
		return out->failed ? error_set(err, -ENOMEM, "out of memory") : 0;
	}
	if (strcasecmp(coding, "gzip") == 0)
		return decode_gzip(data, size, limit, out, err);
	if (strcasecmp(coding, "zstd") == 0)
		return decode_zstd(data, size, limit, out, err);
	(void)error_set(err, -EOPNOTSUPP, "unknown Content-Encoding %.40s", coding);
	error_remedy(err, "use gzip, zstd or none");
	return -EOPNOTSUPP;
}

int content_encode_zstd(const void *data, size_t size, struct bytes *out, struct error *err)
{
	size_t room = ZSTD_compressBound(size);
	uint8_t *place = bytes_reserve(out, room);
	size_t n = place ? ZSTD_compress(place, room, data, size, ZSTD_CLEVEL_DEFAULT) : 0;

	if (!place || ZSTD_isError(n))
		return error_set(err, -ENOMEM, "out of memory");
	out->size += n;
	return 0;
}
