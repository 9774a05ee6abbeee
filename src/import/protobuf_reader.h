/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_PROTOBUF_READER_H
#define WICK_IMPORT_PROTOBUF_READER_H

/*
 * protobuf_reader: the fields of a message of Protocol Buffers, one by one. It never reads outside
 * the message, and never recurses: the caller decides which fields are messages.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

/* One field of a message. */
struct protobuf_field {
	uint32_t number;
	uint64_t value;     /* of numbers */
	struct cursor body; /* of texts, messages and packed numbers */
	bool packed;        /* the field has a body */
};

/* Moves to the next field. Returns false at the end, or if the cursor failed. */
bool protobuf_next(struct cursor *in, struct protobuf_field *ret);

/* The numbers of a repeated field, packed or one by one. */
bool protobuf_number(struct protobuf_field *field, uint64_t *ret);

#endif
