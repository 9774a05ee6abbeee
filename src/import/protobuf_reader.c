/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/protobuf_reader.h"

enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_LENGTH = 2, WIRE_32 = 5 };

bool protobuf_next(struct cursor *in, struct protobuf_field *ret)
{
	uint64_t tag;
	size_t n;
	const uint8_t *data;

	if (cursor_left(in) == 0 || in->failed)
		return false;
	tag = cursor_varint(in);
	*ret = (struct protobuf_field){.number = (uint32_t)(tag >> 3)};
	switch (tag & 7) {
	case WIRE_VARINT:
		ret->value = cursor_varint(in);
		break;
	case WIRE_64:
		ret->value = cursor_u64(in);
		break;
	case WIRE_32:
		ret->value = cursor_u32(in);
		break;
	case WIRE_LENGTH:
		n = cursor_varint_max(in, cursor_left(in));
		data = cursor_take(in, n);
		if (data)
			ret->body = cursor_of(data, n);
		ret->packed = true;
		break;
	default:
		in->failed = true;
	}
	return !in->failed;
}

bool protobuf_number(struct protobuf_field *field, uint64_t *ret)
{
	if (!field->packed) {
		*ret = field->value;
		field->packed = true; /* that was all */
		field->body = (struct cursor){0};
		return true;
	}
	if (field->body.failed || cursor_left(&field->body) == 0)
		return false;
	*ret = cursor_varint(&field->body);
	return true;
}
