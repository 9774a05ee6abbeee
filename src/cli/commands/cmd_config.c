/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/config.h"
#include "cli/config_schema.h"
#include "cli/option_value.h"
#include "cli/text/config.h"

enum config_format { CONFIG_FORMAT_TEXT, CONFIG_FORMAT_JSON };

struct config_options {
	bool print;
	bool schema;
	enum config_format format;
};

/* One line or object for each key, with the value that the first command with that key has. */
struct printer {
	const struct command_context *context;
	const struct config *config;
	const struct config *preset;
	enum config_format format;
	struct bytes *out;
	struct json json;
};

static void put_row(struct printer *printer, const struct option_entry *entry)
{
	struct bytes value = {0};
	struct bytes safe = {0};

	option_put_value(&value, entry);
	bytes_put_u8(&value, 0);
	if (!value.failed)
		text_put_terminal(&safe, (const char *)value.data);
	bytes_put_u8(&safe, 0);
	if (safe.failed)
		printer->out->failed = true;
	else
		bytes_printf(printer->out, "%-28s = %-20s (%s", entry->spec->key,
			     (const char *)safe.data, option_source_name(entry->source));
	if (entry->origin) {
		bytes_printf(printer->out, " ");
		text_put_terminal(printer->out, entry->origin);
	}
	bytes_printf(printer->out, ")\n");
	bytes_fini(&value);
	bytes_fini(&safe);
}

static void put_object(struct printer *printer, const struct option_entry *entry)
{
	json_open_object(&printer->json, NULL);
	json_string(&printer->json, "key", entry->spec->key);
	schema_put_value(&printer->json, "value", entry);
	json_string(&printer->json, "source", option_source_name(entry->source));
	json_string(&printer->json, "origin", entry->origin);
	json_close(&printer->json);
}

static int put_key(struct printer *printer, const char *key, struct error *err)
{
	const struct command *const *commands = printer->context->commands;
	const struct option_entry *entry;
	struct command_values values;
	int r;

	r = command_values_init(&values, command_of_key(commands, key), err);
	if (r < 0)
		return r;
	r = config_apply_file(printer->preset, commands, &values.set, err);
	if (r == 0)
		r = config_apply_file(printer->config, commands, &values.set, err);
	if (r == 0)
		r = config_apply_environment(&values.set, err);
	entry = option_set_find_key(&values.set, key);
	if (r == 0 && printer->format == CONFIG_FORMAT_JSON)
		put_object(printer, entry);
	else if (r == 0)
		put_row(printer, entry);
	command_values_fini(&values);
	return r;
}

struct keys {
	VEC(const char *) list;
};

static int collect_keys(const struct option_spec *spec, struct keys *keys)
{
	int r = 0;

	for (; r == 0 && spec && spec->kind != OPTION_KIND_END; spec++) {
		if (spec->kind == OPTION_KIND_GROUP)
			r = collect_keys(spec->table, keys);
		else if (spec->key && !spec->hidden)
			r = vec_push(&keys->list, spec->key);
	}
	return r;
}

/* "section.key" sorts by section first. */
static int compare_keys(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int put_keys(struct printer *printer, struct error *err)
{
	const struct command *const *command;
	struct keys keys = {0};
	size_t i;
	int r = 0;

	for (command = printer->context->commands; *command && r == 0; command++)
		r = collect_keys((*command)->options, &keys);
	if (r < 0)
		(void)error_set(err, r, "out of memory");
	if (keys.list.count > 0)
		qsort(keys.list.items, keys.list.count, sizeof(*keys.list.items), compare_keys);
	for (i = 0; i < keys.list.count && r == 0; i++)
		if (i == 0 || strcmp(keys.list.items[i], keys.list.items[i - 1]) != 0)
			r = put_key(printer, keys.list.items[i], err);
	vec_fini(&keys.list);
	return r;
}

static int put_effective(struct printer *printer, struct error *err)
{
	const char *path = printer->config->path;
	int r;

	if (printer->format == CONFIG_FORMAT_JSON) {
		json_init(&printer->json, printer->out, true);
		json_open_object(&printer->json, NULL);
		json_string(&printer->json, "file", path);
		json_open_array(&printer->json, "values");
	} else {
		bytes_printf(printer->out, "# file: ");
		text_put_terminal(printer->out, path ? path : "none");
		bytes_put_u8(printer->out, '\n');
	}
	r = put_keys(printer, err);
	if (r < 0)
		return r;
	if (printer->format == CONFIG_FORMAT_JSON) {
		json_close(&printer->json);
		json_close(&printer->json);
	}
	return 0;
}

static int put_print(const struct command_context *context, const struct config_options *options,
		     struct bytes *out, struct error *err)
{
	struct config config;
	struct config preset;
	char strange[256];
	struct printer printer = {context, &config, &preset, options->format, out};
	int r = config_open_preset(&preset, context->globals->preset, err);

	if (r < 0)
		return r;
	r = config_open(&config, context->globals->config_path, err);
	if (r < 0) {
		config_fini(&preset);
		return r;
	}
	if (config.note[0])
		command_note(context, "%s", config.note);
	if (config_find_strange_variable(context->commands, strange, sizeof(strange)))
		command_note(context, "%s; ignored", strange);
	r = put_effective(&printer, err);
	config_fini(&config);
	config_fini(&preset);
	return r;
}

static int run_config(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct config_options *options = values;
	struct bytes text = {0};
	struct error err = {0};
	int status;
	int r;

	if (options->print && options->schema)
		return command_misused(context, "--print and --schema cannot be used together");
	if (options->schema)
		r = config_schema_put(&text, context->commands, &err);
	else
		r = put_print(context, options, &text, &err);
	if (r < 0) {
		(void)command_failed(context, &err);
		status = r == -ENOMEM ? COMMAND_FAILED : COMMAND_USAGE;
	} else {
		status = command_print(context, &text);
	}
	bytes_fini(&text);
	return status;
}

static const struct option_spec table[] = {
	{"print", 0, OPTION_FLAG(struct config_options, print),
	 .help = "show the effective configuration and where each value comes from (the default)"},
	{"schema", 0, OPTION_FLAG(struct config_options, schema),
	 .help = "print the JSON schema of the configuration file"},
	{"format", 0, OPTION_ENUM(struct config_options, format, "text", "json"),
	 .help = "output format"},
	OPTION_END,
};

const struct command command_config = {
	.name = "config",
	.reads_config = true,
	.summary = "show the effective configuration, or its schema",
	.synopsis = "[--print | --schema] [OPTIONS]",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct config_options),
	.defaults = &(const struct config_options){0},
	.run = run_config,
};
