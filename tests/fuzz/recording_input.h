/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_RECORDING_INPUT_H
#define WICK_TESTS_RECORDING_INPUT_H

/*
 * recording_input: the fuzzer's bytes as a recording: as they are when they begin
 * like one, else, so that checksums do not stop everything, as the payloads of
 * chunks, each behind a byte with its type and whether a new epoch begins.
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/bytes.h"
#include "recording/chunk.h"
#include "recording/format.h"

/* Input is cut at bytes 0xfe 0xfe: each part is a chunk. */
static inline void recording_of_payloads(const uint8_t *data, size_t size, struct bytes *file)
{
	static struct chunk_codec *codec;
	static const uint8_t schema[] = {0, 1, 'a', 1, 'b', 1, 'c', 5};
	struct chunk_header header = {.type = CHUNK_SCHEMA};
	const uint8_t *end = data + size;

	if (!codec)
		codec = chunk_codec_new();
	bytes_put(file, RECORDING_MAGIC, RECORDING_MAGIC_BYTES);
	bytes_put_u16(file, RECORDING_MAJOR);
	bytes_put_u16(file, RECORDING_MINOR);
	bytes_put_u32(file, 0);
	(void)chunk_encode(codec, &header, schema, sizeof(schema), file);
	while (data < end) {
		const uint8_t *stop = memmem(data, (size_t)(end - data), "\xfe\xfe", 2);

		if (!stop)
			stop = end;
		header.sequence++;
		header.type = *data & 15;
		header.epoch += *data >> 7;
		if (stop > data)
			(void)chunk_encode(codec, &header, data + 1, (size_t)(stop - data) - 1,
					   file);
		data = stop == end ? end : stop + 2;
	}
}

static inline void recording_input(const uint8_t *data, size_t size, struct bytes *ret)
{
	if (size >= 4 && memcmp(data, RECORDING_MAGIC, 4) == 0)
		bytes_put(ret, data, size);
	else
		recording_of_payloads(data, size, ret);
}

#endif
