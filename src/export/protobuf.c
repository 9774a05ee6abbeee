/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/protobuf.h"

#include "base/bytes.h"
#include "base/text.h"

enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_LENGTH = 2 };

static void put_tag(struct bytes *out, uint32_t field, enum wire_type type)
{
	bytes_put_varint(out, (uint64_t)field << 3 | type);
}

void protobuf_u64(struct bytes *out, uint32_t field, uint64_t value)
{
	if (value != 0)
		protobuf_set_u64(out, field, value);
}

void protobuf_set_u64(struct bytes *out, uint32_t field, uint64_t value)
{
	put_tag(out, field, WIRE_VARINT);
	bytes_put_varint(out, value);
}

void protobuf_fixed64(struct bytes *out, uint32_t field, uint64_t value)
{
	if (value == 0)
		return;
	put_tag(out, field, WIRE_64);
	bytes_put_u64(out, value);
}

void protobuf_i64(struct bytes *out, uint32_t field, int64_t value)
{
	protobuf_u64(out, field, (uint64_t)value);
}

void protobuf_string(struct bytes *out, uint32_t field, const char *text)
{
	struct bytes clean = {0};
	uint32_t c;

	while (*text) {
		unsigned int n = text_decode_utf8(text, &c);

		if (c == 0xfffd)
			bytes_put(&clean, "\xef\xbf\xbd", 3);
		else
			bytes_put(&clean, text, n);
		text += n;
	}
	protobuf_message(out, field, &clean);
	bytes_fini(&clean);
}

void protobuf_bytes(struct bytes *out, uint32_t field, const void *data, size_t size)
{
	put_tag(out, field, WIRE_LENGTH);
	bytes_put_string(out, data, size);
}

void protobuf_message(struct bytes *out, uint32_t field, struct bytes *message)
{
	put_tag(out, field, WIRE_LENGTH);
	bytes_put_string(out, (const char *)message->data, message->size);
	if (message->failed)
		out->failed = true;
	bytes_clear(message);
}
