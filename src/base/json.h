/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_JSON_H
#define WICK_BASE_JSON_H

/*
 * json: a streaming JSON writer. It handles commas, nesting and escaping; bytes that are not UTF-8
 * come out as U+FFFD, control bytes as \u00xx, '<' as \u003c so that the result can be put inside a
 * <script>.
 *
 *	json_open_object(&json, NULL);
 *	json_string(&json, "name", "main");
 *	json_open_array(&json, "lines");
 *	json_u64(&json, NULL, 42);
 *	json_close(&json);
 *	json_close(&json);
 *
 * A key is NULL inside arrays and at the top.
 */

#include <stdbool.h>
#include <stdint.h>

struct bytes;

#define JSON_MAX_DEPTH 64

struct json {
	struct bytes *out; /* borrowed */
	bool pretty;
	int depth; /* at most JSON_MAX_DEPTH; deeper nesting fails out */
	bool has_items[JSON_MAX_DEPTH];
	char closers[JSON_MAX_DEPTH];
};

void json_init(struct json *json, struct bytes *out, bool pretty);
void json_open_object(struct json *json, const char *key);
void json_open_array(struct json *json, const char *key);
void json_close(struct json *json);
void json_string(struct json *json, const char *key, const char *value); /* NULL writes null */
void json_u64(struct json *json, const char *key, uint64_t value);
void json_i64(struct json *json, const char *key, int64_t value);
void json_double(struct json *json, const char *key, double value, int decimals);
void json_bool(struct json *json, const char *key, bool value);

#endif
