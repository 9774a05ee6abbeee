/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/parts/status_json.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/json.h"

struct status_json {
	struct bytes bytes;
	struct json json;
};

struct status_json *status_json_new(void)
{
	struct status_json *json = calloc(1, sizeof(*json));

	if (!json)
		return NULL;
	json_init(&json->json, &json->bytes, true);
	json_open_array(&json->json, NULL);
	return json;
}

void status_json_open(struct status_json *json)
{
	json_open_object(&json->json, NULL);
}

void status_json_put(struct status_json *json, struct status_value value)
{
	if (value.kind == STATUS_NOTHING)
		return;
	if (value.kind == STATUS_NUMBER)
		json_i64(&json->json, value.key, value.number);
	else if (value.kind == STATUS_REAL)
		json_double(&json->json, value.key, value.real, 3);
	else
		json_string(&json->json, value.key,
			    value.kind == STATUS_STRING ? value.text : NULL);
}

void status_json_open_list(struct status_json *json, const char *key)
{
	json_open_array(&json->json, key);
}

void status_json_close(struct status_json *json)
{
	json_close(&json->json);
}

const struct bytes *status_json_end(struct status_json *json)
{
	json_close(&json->json);
	return &json->bytes;
}

void status_json_free(struct status_json *json)
{
	if (!json)
		return;
	bytes_fini(&json->bytes);
	free(json);
}
