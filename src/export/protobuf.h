/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_EXPORT_PROTOBUF_H
#define WICK_EXPORT_PROTOBUF_H

/*
 * protobuf: appends fields of Protocol Buffers messages to a buffer.
 *
 * A nested message is first written to a separate buffer, because its length precedes it. Values
 * equal to the default (0, "") are left out.
 */

#include <stddef.h>
#include <stdint.h>

struct bytes;

void protobuf_u64(struct bytes *out, uint32_t field, uint64_t value); /* uint64, bool */
void protobuf_i64(struct bytes *out, uint32_t field, int64_t value);  /* int64, enum */

/* The same, even if it is 0: for fields whose presence matters. */
void protobuf_set_u64(struct bytes *out, uint32_t field, uint64_t value);
void protobuf_fixed64(struct bytes *out, uint32_t field, uint64_t value);

/* A string: bytes that are not UTF-8 become U+FFFD, as the format requires. */
void protobuf_string(struct bytes *out, uint32_t field, const char *text);

/* Any bytes, or none. */
void protobuf_bytes(struct bytes *out, uint32_t field, const void *data, size_t size);

/* A message, even if empty, or packed numbers; clears it. */
void protobuf_message(struct bytes *out, uint32_t field, struct bytes *message);

#endif
