/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/config_schema.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/config.h"
#include "cli/option_value.h"

static void put_real(struct json *json, const char *key, double value)
{
	if (value == floor(value) && value >= 0 && value < 9e15)
		json_u64(json, key, (uint64_t)value);
	else
		json_double(json, key, value, 3);
}

static void put_text_value(struct json *json, const char *key, const struct option_entry *entry)
{
	struct bytes text = {0};

	option_put_value(&text, entry);
	bytes_put_u8(&text, 0);
	if (text.failed)
		json->out->failed = true;
	else
		json_string(json, key, text.size > 1 ? (const char *)text.data : NULL);
	bytes_fini(&text);
}

static void put_list(struct json *json, const char *key, const struct option_list *list)
{
	size_t i;

	json_open_array(json, key);
	for (i = 0; i < list->count; i++)
		json_string(json, NULL, list->items[i]);
	json_close(json);
}

static void put_numbers(struct json *json, const char *key, const struct option_numbers *numbers)
{
	size_t i;

	json_open_array(json, key);
	for (i = 0; i < numbers->count; i++)
		json_u64(json, NULL, numbers->items[i]);
	json_close(json);
}

static bool is_off(const struct option_entry *entry)
{
	if (!entry->spec->off)
		return false;
	if (entry->spec->kind == OPTION_KIND_DOUBLE)
		return *(const double *)entry->place == 0;
	return *(const uint64_t *)entry->place == 0;
}

void schema_put_value(struct json *json, const char *key, const struct option_entry *entry)
{
	switch (entry->spec->kind) {
	case OPTION_KIND_FLAG:
	case OPTION_KIND_TOGGLE:
		json_bool(json, key, *(const bool *)entry->place);
		break;
	case OPTION_KIND_U64:
		if (is_off(entry))
			json_string(json, key, entry->spec->off);
		else if (*(const uint64_t *)entry->place == UINT64_MAX)
			json_string(json, key, NULL);
		else
			json_u64(json, key, *(const uint64_t *)entry->place);
		break;
	case OPTION_KIND_DOUBLE:
		if (is_off(entry))
			json_string(json, key, entry->spec->off);
		else
			put_real(json, key, *(const double *)entry->place);
		break;
	case OPTION_KIND_LIST:
	case OPTION_KIND_PAIRS:
		put_list(json, key, entry->place);
		break;
	case OPTION_KIND_NUMBERS:
		put_numbers(json, key, entry->place);
		break;
	case OPTION_KIND_STRING:
	case OPTION_KIND_ENUM:
	case OPTION_KIND_DURATION:
	case OPTION_KIND_SIZE:
		put_text_value(json, key, entry);
		break;
	case OPTION_KIND_END:
	case OPTION_KIND_IGNORED:
	case OPTION_KIND_ALIAS:
	case OPTION_KIND_GROUP:
		break;
	}
}

static void put_string_array(struct json *json, const char *key, const char *const *words)
{
	json_open_array(json, key);
	for (; *words; words++)
		json_string(json, NULL, *words);
	json_close(json);
}

/* Numbers have bounds; a word for "off" is a second alternative. */
static void put_number_type(struct json *json, const struct option_spec *spec)
{
	if (spec->off) {
		json_open_array(json, "anyOf");
		json_open_object(json, NULL);
	}
	json_string(json, "type", spec->kind == OPTION_KIND_U64 ? "integer" : "number");
	if (spec->kind == OPTION_KIND_U64 || spec->min != 0 || spec->max != 0)
		put_real(json, "minimum", spec->min);
	if (spec->max != 0)
		put_real(json, "maximum", spec->max);
	if (spec->off) {
		json_close(json);
		json_open_object(json, NULL);
		json_string(json, "const", spec->off);
		json_close(json);
		json_close(json);
	}
}

static void put_items(struct json *json, const char *single, const char *items)
{
	json_open_array(json, "anyOf");
	if (single) {
		json_open_object(json, NULL);
		json_string(json, "type", single);
		json_close(json);
	}
	json_open_object(json, NULL);
	json_string(json, "type", "array");
	json_open_object(json, "items");
	json_string(json, "type", items);
	json_close(json);
	json_close(json);
	if (!single) { /* key=value pairs may also be an object */
		json_open_object(json, NULL);
		json_string(json, "type", "object");
		json_open_object(json, "additionalProperties");
		json_string(json, "type", items);
		json_close(json);
		json_close(json);
	}
	json_close(json);
}

static void put_type(struct json *json, const struct option_spec *spec)
{
	static const char *const number_or_text[] = {"number", "string", NULL};

	switch (spec->kind) {
	case OPTION_KIND_FLAG:
	case OPTION_KIND_TOGGLE:
		json_string(json, "type", "boolean");
		break;
	case OPTION_KIND_U64:
	case OPTION_KIND_DOUBLE:
		put_number_type(json, spec);
		break;
	case OPTION_KIND_STRING:
	case OPTION_KIND_ENUM:
		json_string(json, "type", "string");
		if (spec->words && !spec->more_words)
			put_string_array(json, "enum", spec->words);
		break;
	case OPTION_KIND_DURATION:
	case OPTION_KIND_SIZE:
		put_string_array(json, "type", number_or_text);
		break;
	case OPTION_KIND_LIST:
		put_items(json, "string", "string");
		break;
	case OPTION_KIND_PAIRS:
		put_items(json, NULL, "string");
		break;
	case OPTION_KIND_NUMBERS:
		put_items(json, "integer", "integer");
		break;
	case OPTION_KIND_END:
	case OPTION_KIND_IGNORED:
	case OPTION_KIND_ALIAS:
	case OPTION_KIND_GROUP:
		break;
	}
}

static void put_property(struct json *json, const struct option_entry *entry)
{
	json_open_object(json, strchr(entry->spec->key, '.') + 1);
	json_string(json, "description", entry->spec->help);
	put_type(json, entry->spec);
	if (entry->spec->kind != OPTION_KIND_STRING || *(char *const *)entry->place)
		schema_put_value(json, "default", entry);
	json_close(json);
}

static int put_section(struct json *json, const struct command *const *commands,
		       const char *section, struct error *err)
{
	size_t n = strlen(section);
	size_t i;
	size_t j;
	int r;

	json_open_object(json, section);
	json_string(json, "type", "object");
	json_bool(json, "additionalProperties", false);
	json_open_object(json, "properties");
	for (i = 0; commands[i]; i++) {
		struct command_values values;

		r = command_values_init(&values, commands[i], err);
		if (r < 0)
			return r;
		for (j = 0; j < values.set.count; j++) {
			const char *key = values.set.entries[j].spec->key;

			if (key && strncmp(key, section, n) == 0 && key[n] == '.' &&
			    command_of_key(commands, key) == commands[i])
				put_property(json, &values.set.entries[j]);
		}
		command_values_fini(&values);
	}
	json_close(json);
	json_close(json);
	return 0;
}

int config_schema_put(struct bytes *out, const struct command *const *commands, struct error *err)
{
	struct json json;
	size_t i;
	int r;

	json_init(&json, out, true);
	json_open_object(&json, NULL);
	json_string(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_string(&json, "title", "wick configuration");
	json_string(&json, "type", "object");
	json_bool(&json, "additionalProperties", false);
	json_open_object(&json, "properties");
	json_open_object(&json, "$schema");
	json_string(&json, "type", "string");
	json_close(&json);
	for (i = 0; config_sections[i]; i++) {
		r = put_section(&json, commands, config_sections[i], err);
		if (r < 0)
			return r;
	}
	json_close(&json);
	json_close(&json);
	return out->failed ? error_set(err, -ENOMEM, "out of memory") : 0;
}
