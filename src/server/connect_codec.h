/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_CONNECT_CODEC_H
#define WICK_SERVER_CONNECT_CODEC_H

/*
 * connect_codec: messages of the Connect protocol, which are protobuf or JSON: clients choose.
 *
 * Handlers see JSON alone. A table of fields describes each message, and turns protobuf into JSON
 * and back.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct bytes;
struct error;

enum connect_kind {
	CONNECT_STRING,
	CONNECT_INT64,
	CONNECT_FIXED64,
	CONNECT_BOOL,
	CONNECT_DOUBLE,
	CONNECT_MESSAGE
};

struct connect_field {
	const char *name; /* in JSON; NULL ends a table */
	uint32_t number;
	enum connect_kind kind;
	bool repeated;
	const struct connect_field *message;
};

/*
 * Returns a new value, NULL with an error if the text is not JSON, or has so many values that they
 * would take much more memory than the text.
 */
json_t *connect_parse(const void *data, size_t size, struct error *err);

/* Returns a new object, NULL with an error if the body is damaged. */
json_t *connect_read(const struct connect_field *fields, const void *data, size_t size,
		     bool is_json, struct error *err);

/* Appends the message. What has another type than the table says is left out. 64-bit numbers are
 * strings in JSON, as the protocol requires. */
void connect_write(const struct connect_field *fields, const json_t *message, bool as_json,
		   struct bytes *out);

/* In place of jansson's json_string(), because base/json.h has a function of that name. NULL if
 * the text is not UTF-8. */
json_t *connect_string(const char *text);

/* The value of a field that may be a number or a string with one. */
int64_t connect_number(const json_t *message, const char *name);
const char *connect_text(const json_t *message, const char *name); /* "" if missing */

#endif
