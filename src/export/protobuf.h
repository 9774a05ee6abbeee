/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_PROTOBUF_H
#define WICK_EXPORT_PROTOBUF_H

/*
 * protobuf: the fields of Protocol Buffers messages, appended to a buffer.
 *
 * A message inside another is written to a buffer of its own first, since its
 * length stands before it. Values that equal the default (0, "") are left out.
 */

#include <stddef.h>
#include <stdint.h>

struct bytes;

void protobuf_u64(struct bytes *out, uint32_t field, uint64_t value); /* uint64, bool */
void protobuf_i64(struct bytes *out, uint32_t field, int64_t value);  /* int64, enum */

/* The same, also when it is 0: where a field that is there says something. */
void protobuf_set_u64(struct bytes *out, uint32_t field, uint64_t value);
void protobuf_fixed64(struct bytes *out, uint32_t field, uint64_t value);

/* A string: bytes that are not UTF-8 come out as U+FFFD, as the format demands. */
void protobuf_string(struct bytes *out, uint32_t field, const char *text);

/* Bytes of any kind, also none. */
void protobuf_bytes(struct bytes *out, uint32_t field, const void *data, size_t size);

/* A message, also an empty one, or packed numbers; clears it. */
void protobuf_message(struct bytes *out, uint32_t field, struct bytes *message);

#endif
