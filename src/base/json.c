/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>

#include "base/bytes.h"
#include "base/text.h"

void json_init(struct json *json, struct bytes *out, bool pretty)
{
	*json = (struct json){.out = out, .pretty = pretty};
}

static void new_line(struct json *json)
{
	int i;

	if (!json->pretty)
		return;
	bytes_put_u8(json->out, '\n');
	for (i = 0; i < json->depth; i++)
		bytes_put(json->out, "  ", 2);
}

/* Comma, line break and key: what precedes any value. */
static void begin_value(struct json *json, const char *key)
{
	if (json->depth > 0) {
		if (json->has_items[json->depth - 1])
			bytes_put_u8(json->out, ',');
		json->has_items[json->depth - 1] = true;
		new_line(json);
	}
	if (!key)
		return;
	bytes_put_u8(json->out, '"');
	text_put_json(json->out, key);
	bytes_put(json->out, "\": ", json->pretty ? 3 : 2);
}

static void open(struct json *json, const char *key, char opener, char closer)
{
	begin_value(json, key);
	bytes_put_u8(json->out, (uint8_t)opener);
	if (json->depth >= JSON_MAX_DEPTH) {
		json->out->failed = true;
		return;
	}
	json->has_items[json->depth] = false;
	json->closers[json->depth++] = closer;
}

void json_open_object(struct json *json, const char *key)
{
	open(json, key, '{', '}');
}

void json_open_array(struct json *json, const char *key)
{
	open(json, key, '[', ']');
}

void json_close(struct json *json)
{
	if (json->depth == 0)
		return;
	json->depth--;
	if (json->has_items[json->depth])
		new_line(json);
	bytes_put_u8(json->out, (uint8_t)json->closers[json->depth]);
	if (json->depth == 0 && json->pretty)
		bytes_put_u8(json->out, '\n');
}

void json_string(struct json *json, const char *key, const char *value)
{
	begin_value(json, key);
	if (!value) {
		bytes_put(json->out, "null", 4);
		return;
	}
	bytes_put_u8(json->out, '"');
	text_put_json(json->out, value);
	bytes_put_u8(json->out, '"');
}

void json_u64(struct json *json, const char *key, uint64_t value)
{
	begin_value(json, key);
	bytes_printf(json->out, "%" PRIu64, value);
}

void json_i64(struct json *json, const char *key, int64_t value)
{
	begin_value(json, key);
	bytes_printf(json->out, "%" PRId64, value);
}

void json_double(struct json *json, const char *key, double value, int decimals)
{
	begin_value(json, key);
	if (isfinite(value))
		bytes_printf(json->out, "%.*f", decimals, value);
	else
		bytes_put(json->out, "null", 4);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin_value(json, key);
	if (value)
		bytes_put(json->out, "true", 4);
	else
		bytes_put(json->out, "false", 5);
}
