/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/text/list.h"
#include "engine/engine.h"
#include "engine/perf/event.h"
#include "export/export.h"
#include "import/import.h"
#include "plugin/plugins.h"
#include "symbol/name_source.h"
#include "view/report/analyser.h"
#include "view/view.h"

enum list_format { LIST_FORMAT_TEXT, LIST_FORMAT_JSON };

struct list_options {
	enum list_format format;
};

/* One list, as lines of text or as a JSON array. */
struct lister {
	struct bytes *out;
	struct json json;
	bool as_json;
	const struct plugins *plugins;
};

static void open_list(struct lister *lister, const char *name)
{
	if (lister->as_json)
		json_open_array(&lister->json, name);
	else
		bytes_printf(lister->out, "%s%s:\n", lister->out->size > 0 ? "\n" : "", name);
}

static void put_row(struct lister *lister, const char *name, const char *summary, const char *why)
{
	if (!lister->as_json) {
		bytes_printf(lister->out, "  %-24s %s%s%s%s\n", name, summary,
			     why ? " (not available: " : "", why ? why : "", why ? ")" : "");
		return;
	}
	json_open_object(&lister->json, NULL);
	json_string(&lister->json, "name", name);
	json_string(&lister->json, "summary", summary);
	json_bool(&lister->json, "available", !why);
	json_string(&lister->json, "reason", why);
	json_close(&lister->json);
}

/* An entry of a plug-in: its texts may contain anything and are escaped for the terminal. */
static void put_plugin_row(struct lister *lister, const char *name, const char *summary,
			   const char *plugin)
{
	struct bytes safe = {0};

	text_put_terminal(&safe, summary);
	bytes_printf(&safe, " (plug-in %s)", plugin);
	bytes_put_u8(&safe, 0);
	if (safe.failed)
		lister->out->failed = true;
	else
		put_row(lister, name, (const char *)safe.data, NULL);
	bytes_fini(&safe);
}

static void close_list(struct lister *lister)
{
	if (lister->as_json)
		json_close(&lister->json);
}

static void list_engines(struct lister *lister)
{
	size_t i;

	open_list(lister, "engines");
	for (i = 0; engine_table[i]; i++) {
		struct error err = {0};
		int r = engine_table[i]->probe(&err);

		put_row(lister, engine_table[i]->name, engine_table[i]->summary,
			r < 0 ? err.text : NULL);
	}
	close_list(lister);
}

static void list_events(struct lister *lister)
{
	const struct event_kind *kind;

	open_list(lister, "events");
	for (kind = event_kinds; kind->name; kind++)
		put_row(lister, kind->name, kind->summary,
			event_works(kind) ? NULL : "this machine cannot count it");
	put_row(lister, "GROUP:NAME", "a kernel tracepoint, such as sched:sched_wakeup",
		access("/sys/kernel/tracing/events", R_OK) == 0
			? NULL
			: "as root, run: mount -t tracefs tracefs /sys/kernel/tracing");
	put_row(lister, "uprobe:FILE:FUNCTION",
		"entry to a function of a program or library (uretprobe: return from it)",
		access("/sys/bus/event_source/devices/uprobe/type", R_OK) == 0
			? NULL
			: "this kernel has no such events");
	close_list(lister);
}

static void list_formats(struct lister *lister)
{
	const struct exporter_ops *const *more;
	size_t i;

	open_list(lister, "formats");
	for (i = 0; exporters[i]; i++)
		put_row(lister, exporters[i]->name, exporters[i]->summary, NULL);
	more = plugins_exporters(lister->plugins);
	for (i = 0; more[i]; i++)
		put_plugin_row(lister, more[i]->name, more[i]->summary, more[i]->plugin);
	close_list(lister);
}

static void list_imports(struct lister *lister)
{
	const struct importer_ops *const *more;
	size_t i;

	open_list(lister, "imports");
	for (i = 0; importers[i]; i++)
		put_row(lister, importers[i]->name, importers[i]->summary, NULL);
	more = plugins_importers(lister->plugins);
	for (i = 0; more[i]; i++)
		put_plugin_row(lister, more[i]->name, more[i]->summary, more[i]->plugin);
	close_list(lister);
}

static void list_views(struct lister *lister)
{
	const struct view_ops *const *more = plugins_views(lister->plugins);
	size_t i;

	open_list(lister, "views");
	for (i = 0; views[i]; i++)
		put_row(lister, views[i]->name, views[i]->summary, NULL);
	for (i = 0; more[i]; i++)
		put_plugin_row(lister, more[i]->name, more[i]->summary, more[i]->plugin);
	close_list(lister);
}

static void list_analysers(struct lister *lister)
{
	const struct analyser_ops *const *more = plugins_analysers(lister->plugins);
	size_t i;

	open_list(lister, "analysers");
	for (i = 0; analysers[i]; i++)
		put_row(lister, analysers[i]->name, analysers[i]->summary, NULL);
	for (i = 0; more[i]; i++)
		put_plugin_row(lister, more[i]->name, more[i]->summary, more[i]->plugin);
	close_list(lister);
}

static void list_resolvers(struct lister *lister)
{
	const struct name_source *const *more = plugins_name_sources(lister->plugins);
	size_t i;

	open_list(lister, "resolvers");
	put_row(lister, "files", "symbol tables and debug information; used first", NULL);
	for (i = 0; more[i]; i++)
		put_plugin_row(lister, more[i]->name, more[i]->summary, more[i]->plugin);
	close_list(lister);
}

static const struct {
	const char *name;
	void (*list)(struct lister *lister);
} lists[] = {
	{"engines", list_engines},     {"events", list_events}, {"formats", list_formats},
	{"imports", list_imports},     {"views", list_views},   {"analysers", list_analysers},
	{"resolvers", list_resolvers},
};

static int run_list(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct list_options *options = values;
	struct bytes text = {0};
	struct lister lister = {.out = &text,
				.as_json = options->format == LIST_FORMAT_JSON,
				.plugins = context->plugins};
	bool found = false;
	size_t i;
	int status;

	json_init(&lister.json, &text, true);
	if (lister.as_json)
		json_open_object(&lister.json, NULL);
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		if (argc > 0 && strcmp(argv[0], lists[i].name) != 0)
			continue;
		found = true;
		lists[i].list(&lister);
	}
	if (lister.as_json)
		json_close(&lister.json);
	status = found ? command_print(context, &text)
		       : command_misused(context,
					 "unknown list %s: use engines, events, formats, imports, "
					 "views, analysers or resolvers",
					 argv[0]);
	bytes_fini(&text);
	return status;
}

static const struct option_spec table[] = {
	{"format", 0, OPTION_ENUM(struct list_options, format, "text", "json"),
	 .help = "output format"},
	OPTION_END,
};

const struct command command_list = {
	.name = "list",
	.summary = "list engines, events, formats and plug-ins",
	.synopsis = "[engines|events|formats|imports|views|analysers|resolvers]",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct list_options),
	.defaults = &(const struct list_options){0},
	.max_arguments = 1,
	.argument_help =
		"engines, events, formats (to write), imports (to read), views (wick report --by), "
		"analysers (wick report --analyse) or resolvers (which find names)",
	.argument_words = (const char *const[]){"engines", "events", "formats", "imports", "views",
						"analysers", "resolvers", NULL},
	.run = run_list,
};
