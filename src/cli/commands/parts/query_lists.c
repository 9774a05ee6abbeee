/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/parts/query_lists.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/quantity.h"
#include "base/text.h"

static const char *text_of(const json_t *item, const char *key)
{
	const char *text = json_string_value(json_object_get(item, key));

	return text ? text : "";
}

static json_int_t number_of(const json_t *item, const char *key)
{
	return json_integer_value(json_object_get(item, key));
}

static void put_time(struct bytes *out, json_int_t time_s)
{
	time_t time = (time_t)time_s;
	struct tm local;
	char text[32] = "";

	if (time_s > 0 && localtime_r(&time, &local))
		(void)strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
	bytes_printf(out, "%-21s", text);
}

static void put_agent(const json_t *item, json_int_t now, struct bytes *out)
{
	bytes_printf(out, "%-9s%6" PRId64 " s  %6.1f/%-6.1f %8" PRId64 " s %8" PRId64 "  ",
		     text_of(item, "health"), (int64_t)(now - number_of(item, "seen")),
		     json_number_value(json_object_get(item, "rate_achieved")),
		     json_number_value(json_object_get(item, "rate_asked")),
		     (int64_t)number_of(item, "clock_offset_s"),
		     (int64_t)number_of(item, "windows"));
	text_put_terminal(out, text_of(item, "host"));
	if (*text_of(item, "problem")) {
		bytes_printf(out, "  ");
		text_put_terminal(out, text_of(item, "problem"));
	} else if (*text_of(item, "last_gap")) {
		bytes_printf(out, "  last gap: ");
		text_put_terminal(out, text_of(item, "last_gap"));
	}
	bytes_put_u8(out, '\n');
}

static void put_function(const json_t *item, struct bytes *out)
{
	bytes_printf(out, "%16" PRId64 "%16" PRId64 "%12" PRId64 "  ",
		     (int64_t)number_of(item, "self"), (int64_t)number_of(item, "value"),
		     (int64_t)number_of(item, "samples"));
	text_put_terminal(out, text_of(item, "name"));
	bytes_put_u8(out, '\n');
}

static void put_item(const json_t *item, struct bytes *out)
{
	put_time(out, number_of(item, "from"));
	put_time(out, number_of(item, "to"));
	bytes_printf(out, "%12" PRId64 "%18" PRId64 "  ", (int64_t)number_of(item, "samples"),
		     (int64_t)number_of(item, "value"));
	text_put_terminal(out, text_of(item, "name"));
	if (*text_of(item, "detail")) {
		bytes_printf(out, "  ");
		text_put_terminal(out, text_of(item, "detail"));
	}
	bytes_put_u8(out, '\n');
}

static void put_head(const char *key, struct bytes *out)
{
	if (strcmp(key, "agents") == 0)
		bytes_printf(out, "%-9s%8s  %13s %10s %8s  host\n", "health", "seen", "rate/asked",
			     "clock", "windows");
	else if (strcmp(key, "functions") == 0)
		bytes_printf(out, "%16s%16s%12s  function\n", "self", "total", "samples");
	else
		bytes_printf(out, "%-21s%-21s%12s%18s  name\n", "first", "last", "samples",
			     "value");
}

int query_list_put(const struct bytes *answer, const char *key, struct bytes *out,
		   struct error *err)
{
	json_t *root = json_loadb((const char *)answer->data, answer->size, 0, NULL);
	const json_t *list = json_object_get(root, key);
	size_t i;

	if (!json_is_array(list)) {
		json_decref(root);
		(void)error_set(err, -EBADMSG, "the server's answer has no list of %s", key);
		error_remedy(err, "check that --server names a wick server of this version");
		return -EBADMSG;
	}
	put_head(key, out);
	for (i = 0; i < json_array_size(list); i++) {
		const json_t *item = json_array_get(list, i);

		if (strcmp(key, "agents") == 0)
			put_agent(item, number_of(root, "now"), out);
		else if (strcmp(key, "functions") == 0)
			put_function(item, out);
		else
			put_item(item, out);
	}
	if (json_is_true(json_object_get(root, "more")))
		bytes_printf(out, "… and more\n");
	json_decref(root);
	return 0;
}

bool query_gate_tripped(const struct bytes *answer)
{
	json_t *root = json_loadb((const char *)answer->data, answer->size, 0, NULL);
	const json_t *gates = json_object_get(root, "gates");
	bool tripped = false;
	size_t i;

	for (i = 0; i < json_array_size(gates); i++)
		tripped |= json_is_true(json_object_get(json_array_get(gates, i), "tripped"));
	json_decref(root);
	return tripped;
}
