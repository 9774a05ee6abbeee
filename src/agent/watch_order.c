/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/watch_order.h"

#include <jansson.h>

#define WINDOW_MIN_S 5
#define WINDOW_MAX_S 600

uint32_t watch_order_parse(const char *text)
{
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	json_int_t window_s = json_integer_value(json_object_get(root, "window_s"));

	json_decref(root);
	if (window_s <= 0)
		return 0;
	return window_s < WINDOW_MIN_S   ? WINDOW_MIN_S
	       : window_s > WINDOW_MAX_S ? WINDOW_MAX_S
					 : (uint32_t)window_s;
}
