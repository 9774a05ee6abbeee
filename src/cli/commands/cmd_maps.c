/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/text/maps.h"
#include "proc/maps.h"
#include "proc/module_file.h"
#include "proc/process_info.h"

enum maps_format { MAPS_FORMAT_TEXT, MAPS_FORMAT_JSON };

struct maps_command_options {
	uint64_t pid;
	bool all;
	enum maps_format format;
};

struct printer {
	struct bytes out;
	struct json json;
	bool as_json;
	const struct maps *maps;
	struct module_files *files;
	pid_t pid;
};

static const char *name_of(const struct map_region *region)
{
	return region->path[0] ? region->path : "[anonymous]";
}

static void put_hex(struct json *json, const char *key, uint64_t value)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "0x%" PRIx64, value);
	json_string(json, key, text);
}

static int put_region(struct printer *printer, const struct map_region *region)
{
	char build_id[2 * BUILD_ID_MAX + 1];
	struct module_place place;
	int r = module_files_identify(printer->files, printer->pid, region, &place);

	if (r < 0)
		return r;
	build_id_format(&place.module.build_id, build_id);
	if (!printer->as_json) {
		bytes_printf(&printer->out, "%016" PRIx64 "-%016" PRIx64 " %016" PRIx64 " %-40s ",
			     region->start, region->end, place.bias, build_id[0] ? build_id : "-");
		text_put_terminal(&printer->out, name_of(region));
		bytes_printf(&printer->out, "%s%s%s%s\n",
			     region->kind == REGION_DELETED ? " (deleted)" : "",
			     place.unread ? " (bias guessed: " : "",
			     place.unread ? strerror(-place.unread) : "", place.unread ? ")" : "");
		return 0;
	}
	json_open_object(&printer->json, NULL);
	put_hex(&printer->json, "start", region->start);
	put_hex(&printer->json, "end", region->end);
	put_hex(&printer->json, "bias", place.bias);
	put_hex(&printer->json, "file_offset", region->file_offset);
	json_string(&printer->json, "path", name_of(region));
	json_string(&printer->json, "kind", region_kind_name(region->kind));
	json_string(&printer->json, "build_id", build_id[0] ? build_id : NULL);
	json_string(&printer->json, "bias_guessed", place.unread ? strerror(-place.unread) : NULL);
	json_close(&printer->json);
	return 0;
}

static int put_regions(struct printer *printer)
{
	size_t i;
	int r = 0;

	if (printer->as_json)
		json_open_array(&printer->json, "regions");
	else
		bytes_printf(&printer->out, "%-16s-%-16s %-16s %-40s library\n", "start", "end",
			     "bias", "build id");
	for (i = 0; i < printer->maps->count && r == 0; i++)
		r = put_region(printer, &printer->maps->items[i]);
	if (printer->as_json)
		json_close(&printer->json);
	return r;
}

static int put_address(struct printer *printer, uint64_t address)
{
	const struct map_region *region = maps_find(printer->maps, address);
	struct module_place place = {0};
	int r = region ? module_files_identify(printer->files, printer->pid, region, &place) : 0;

	if (r < 0)
		return r;
	if (!printer->as_json) {
		bytes_printf(&printer->out, "0x%" PRIx64 " ", address);
		text_put_terminal(&printer->out, region ? name_of(region) : "[unknown]");
		if (region)
			bytes_printf(&printer->out, "+0x%" PRIx64, address - place.bias);
		bytes_put_u8(&printer->out, '\n');
		return 0;
	}
	json_open_object(&printer->json, NULL);
	put_hex(&printer->json, "address", address);
	json_string(&printer->json, "library", region ? name_of(region) : "[unknown]");
	if (region) {
		put_hex(&printer->json, "offset", address - place.bias);
		put_hex(&printer->json, "file_offset",
			address - region->start + region->file_offset);
	}
	json_close(&printer->json);
	return 0;
}

static int put_addresses(struct printer *printer, int argc, char **argv)
{
	int i;
	int r = 0;

	if (printer->as_json)
		json_open_array(&printer->json, "addresses");
	for (i = 0; i < argc && r == 0; i++) {
		uint64_t address = 0;

		(void)number_parse_u64(argv[i], &address); /* checked before */
		r = put_address(printer, address);
	}
	if (printer->as_json)
		json_close(&printer->json);
	return r;
}

static int print_maps(const struct command_context *context, struct printer *printer, int argc,
		      char **argv)
{
	int status;
	int r;

	json_init(&printer->json, &printer->out, true);
	if (printer->as_json) {
		json_open_object(&printer->json, NULL);
		json_u64(&printer->json, "pid", (uint64_t)printer->pid);
		json_u64(&printer->json, "bad_lines", printer->maps->bad_lines);
	}
	r = argc > 0 ? put_addresses(printer, argc, argv) : put_regions(printer);
	if (printer->as_json)
		json_close(&printer->json);
	else if (printer->maps->bad_lines > 0)
		bytes_printf(&printer->out, "%zu lines of the map could not be parsed\n",
			     printer->maps->bad_lines);
	status = r < 0 ? command_failed(context, &(struct error){.text = "out of memory"})
		       : command_print(context, &printer->out);
	bytes_fini(&printer->out);
	return status;
}

static int run_maps(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct maps_command_options *options = values;
	struct printer printer = {.as_json = options->format == MAPS_FORMAT_JSON,
				  .pid = (pid_t)options->pid};
	struct maps maps = {0};
	struct error err;
	uint64_t ignored;
	int status;
	int i;

	if (options->pid == 0)
		return command_misused(context, "no process given: use -p PID");
	for (i = 0; i < argc; i++)
		if (number_parse_u64(argv[i], &ignored) < 0)
			return command_misused(context, "%s is not an address", argv[i]);
	/* The addresses may be data: look in all mappings. */
	if (maps_read(&maps, printer.pid, options->all || argc > 0 ? 0 : MAPS_EXECUTABLE_ONLY,
		      &err) < 0) {
		maps_fini(&maps);
		return command_failed(context, &err);
	}
	printer.maps = &maps;
	printer.files = module_files_new();
	status = printer.files ? print_maps(context, &printer, argc, argv)
			       : command_failed(context, &(struct error){.text = "out of memory"});
	module_files_free(printer.files);
	maps_fini(&maps);
	return status;
}

static const struct option_spec table[] = {
	{"pid", 'p', OPTION_U64(struct maps_command_options, pid), .argument = "PID", .min = 1,
	 .max = 4194304, .offer = OPTION_OFFER_PID, .help = "the process to look at"},
	{"all", 0, OPTION_FLAG(struct maps_command_options, all),
	 .help = "also show memory that is not executable"},
	{"format", 0, OPTION_ENUM(struct maps_command_options, format, "text", "json"),
	 .help = "output format"},
	OPTION_END,
};

const struct command command_maps = {
	.name = "maps",
	.summary = "show the library map of a process, or what addresses belong to",
	.synopsis = "-p PID [ADDRESS...]",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct maps_command_options),
	.defaults = &(const struct maps_command_options){0},
	.max_arguments = -1,
	.argument_help = "ADDRESS: 0x... or decimal",
	.run = run_maps,
};
