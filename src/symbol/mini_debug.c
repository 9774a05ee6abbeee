/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/mini_debug.h"

#include <elf.h>
#include <errno.h>
#include <stdint.h>

#include <lzma.h>

#include "base/bytes.h"
#include "base/scope.h"
#include "elf/elf.h"

#define MAX_STORED_BYTES (64ull << 20)
#define MAX_INFLATED_BYTES (256ull << 20)
#define MAX_DECODER_BYTES (128ull << 20) /* dictionary of "xz -9": 64 MiB and a little */
#define STEP_BYTES (256u << 10)

static void scope_release_decoder(lzma_stream *stream)
{
	lzma_end(stream);
}

static void scope_release_bytes(struct bytes *bytes)
{
	bytes_fini(bytes);
}

static int inflate_all(lzma_stream *stream, struct bytes *out)
{
	lzma_ret r = LZMA_OK;

	while (r == LZMA_OK) {
		stream->next_out = bytes_reserve(out, STEP_BYTES);
		stream->avail_out = STEP_BYTES;
		if (!stream->next_out)
			return -ENOMEM;
		r = lzma_code(stream, LZMA_FINISH);
		out->size += STEP_BYTES - stream->avail_out;
		if (out->size > MAX_INFLATED_BYTES)
			return -EFBIG;
	}
	if (r == LZMA_MEMLIMIT_ERROR)
		return -EFBIG;
	return r == LZMA_STREAM_END ? 0 : -EBADMSG;
}

int mini_debug_inflate(struct elf_file *elf, void **ret_image, size_t *ret_size)
{
	const struct elf_section *section = elf_section_find(elf, ".gnu_debugdata");
	SCOPED(decoder) lzma_stream stream = LZMA_STREAM_INIT;
	SCOPED(bytes) struct bytes out = {0};
	SCOPED(mem) void *data = NULL;
	size_t size;
	int r;

	if (!section || section->type == SHT_NOBITS || section->size == 0)
		return -ENOENT;
	if (section->size > MAX_STORED_BYTES)
		return -EFBIG;
	r = elf_section_read(elf, section, &data, &size, NULL);
	if (r < 0)
		return r;
	if (lzma_stream_decoder(&stream, MAX_DECODER_BYTES, 0) != LZMA_OK)
		return -ENOMEM;
	stream.next_in = data;
	stream.avail_in = size;
	r = inflate_all(&stream, &out);
	if (r < 0)
		return r;
	*ret_size = out.size;
	*ret_image = scope_take(&out.data);
	return 0;
}
