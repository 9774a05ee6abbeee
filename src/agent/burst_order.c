/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/burst_order.h"

#include <stdio.h>

#include <jansson.h>

#define RATE_MAX_HZ 1000
#define SECONDS_MAX 600

static uint32_t limited(const json_t *object, const char *key, json_int_t most)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value <= 0 ? 0 : (uint32_t)(value < most ? value : most);
}

static void copy(const json_t *object, const char *key, char *ret, size_t size)
{
	const char *text = json_string_value(json_object_get(object, key));

	(void)snprintf(ret, size, "%s", text ? text : "");
}

bool burst_order_parse(const char *text, struct burst_order *ret)
{
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	const json_t *burst = json_object_get(root, "burst");

	*ret = (struct burst_order){
		.rate_hz = limited(burst, "rate", RATE_MAX_HZ),
		.seconds = limited(burst, "seconds", SECONDS_MAX),
	};
	copy(burst, "id", ret->id, sizeof(ret->id));
	copy(burst, "service", ret->service, sizeof(ret->service));
	json_decref(root);
	return ret->rate_hz > 0 && ret->seconds > 0;
}
