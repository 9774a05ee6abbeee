/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugin/plugin_lists.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "export/export.h"
#include "import/import.h"
#include "symbol/name_source.h"
#include "view/report/analyser.h"
#include "view/view.h"

/* The size in the first version; later members were added since. */
#define OLDEST_BYTES offsetof(struct wick_plugin, resolvers)
/* Larger than any version of our struct: the size was not set. */
#define NEWEST_BYTES 4096u

/* The lengths of the lists, to restore them. */
struct lengths {
	size_t exporters, importers, sources, views, analysers;
};

/* Restores the previous end of the list. */
#define CUT(list, length)                                                                          \
	do {                                                                                       \
		(list)->count = (length);                                                          \
		(list)->items[(length)-1] = NULL;                                                  \
	} while (0)

/* The entry replaces the NULL at the end, and a new NULL follows it. */
#define APPEND(list, entry)                                                                        \
	((list)->items[(list)->count - 1] = (entry), vec_push((list), NULL) < 0 ? -ENOMEM : 0)

/* Whether an entry of a list, or one of our own, already has the name. */
#define IS_TAKEN(list, find, wanted)                                                               \
	({                                                                                         \
		bool is_taken = (find)(wanted) != NULL;                                            \
		for (size_t k = 0; k + 1 < (list)->count && !is_taken; k++)                        \
			is_taken = strcmp((list)->items[k]->name, (wanted)) == 0;                  \
		is_taken;                                                                          \
	})

int plugin_lists_init(struct plugin_lists *lists, plugin_warning_fn *warn, void *self)
{
	*lists = (struct plugin_lists){.warn = warn, .self = self};
	if (vec_push(&lists->exporters, NULL) < 0 || vec_push(&lists->importers, NULL) < 0 ||
	    vec_push(&lists->sources, NULL) < 0 || vec_push(&lists->views, NULL) < 0 ||
	    vec_push(&lists->analysers, NULL) < 0)
		return -ENOMEM;
	return 0;
}

void plugin_lists_fini(struct plugin_lists *lists)
{
	for (size_t i = 0; i < lists->memory.count; i++)
		free(lists->memory.items[i]);
	vec_fini(&lists->memory);
	vec_fini(&lists->exporters);
	vec_fini(&lists->importers);
	vec_fini(&lists->sources);
	vec_fini(&lists->views);
	vec_fini(&lists->analysers);
}

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

/* Memory that is freed with the lists; NULL if out of memory. */
static void *keep(struct plugin_lists *lists, size_t size)
{
	void *memory = malloc(size);

	if (memory && vec_push(&lists->memory, memory) == 0)
		return memory;
	free(memory);
	return NULL;
}

static bool is_name(const char *name)
{
	return name && *name &&
	       name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.")] == '\0' &&
	       strlen(name) < 64;
}

static int refuse_taken(const char *what, const char *name, struct error *err)
{
	return error_advise(err, error_set(err, -EEXIST, "there is already %s %s", what, name),
			    "load only one of the plug-ins that provide it, or rename it");
}

static int add_exporter(struct plugin_lists *lists, const struct wick_plugin_exporter *given,
			const char *plugin, struct error *err)
{
	struct exporter_ops *ops;

	if (!is_name(given->name) || !given->summary || !given->extension || !given->write)
		return error_set(err, -EINVAL,
				 "an exporter lacks name, summary, extension or write");
	if (IS_TAKEN(&lists->exporters, exporter_find, given->name))
		return refuse_taken("a format", given->name, err);
	ops = keep(lists, sizeof(*ops));
	if (!ops)
		return no_memory(err);
	*ops = plugin_exporter_ops(given, plugin);
	return APPEND(&lists->exporters, ops) < 0 ? no_memory(err) : 0;
}

static int add_importer(struct plugin_lists *lists, const struct wick_plugin_importer *given,
			const char *plugin, struct error *err)
{
	struct importer_ops *ops;

	if (!is_name(given->name) || !given->summary || !given->recognise || !given->read)
		return error_set(err, -EINVAL,
				 "an importer lacks name, summary, recognise or read");
	ops = keep(lists, sizeof(*ops));
	if (!ops)
		return no_memory(err);
	*ops = plugin_importer_ops(given, plugin);
	return APPEND(&lists->importers, ops) < 0 ? no_memory(err) : 0;
}

static int add_resolver(struct plugin_lists *lists, const struct wick_plugin_resolver *given,
			const char *plugin, struct error *err)
{
	struct plugin_resolver *resolver;
	struct name_source *source;

	if (!is_name(given->name) || !given->summary || !given->resolve)
		return error_set(err, -EINVAL, "a resolver lacks name, summary or resolve");
	resolver = keep(lists, sizeof(*resolver));
	source = keep(lists, sizeof(*source));
	if (!resolver || !source)
		return no_memory(err);
	*resolver =
		(struct plugin_resolver){.given = given, .warn = lists->warn, .self = lists->self};
	*source = plugin_name_source(resolver, plugin);
	return APPEND(&lists->sources, source) < 0 ? no_memory(err) : 0;
}

static int add_view(struct plugin_lists *lists, const struct wick_plugin_view *given,
		    const char *plugin, struct error *err)
{
	struct view_ops *ops;

	if (!is_name(given->name) || !given->summary || !given->write)
		return error_set(err, -EINVAL, "a view lacks name, summary or write");
	if (IS_TAKEN(&lists->views, view_find, given->name))
		return refuse_taken("a view", given->name, err);
	ops = keep(lists, sizeof(*ops));
	if (!ops)
		return no_memory(err);
	*ops = plugin_view_ops(given, plugin);
	return APPEND(&lists->views, ops) < 0 ? no_memory(err) : 0;
}

static int add_analyser(struct plugin_lists *lists, const struct wick_plugin_analyser *given,
			const char *plugin, struct error *err)
{
	struct analyser_ops *ops;

	if (!is_name(given->name) || !given->summary || !given->analyse)
		return error_set(err, -EINVAL, "an analyser lacks name, summary or analyse");
	if (strcmp(given->name, ANALYSERS_ALL) == 0 ||
	    IS_TAKEN(&lists->analysers, analyser_find, given->name))
		return refuse_taken("an analyser", given->name, err);
	ops = keep(lists, sizeof(*ops));
	if (!ops)
		return no_memory(err);
	*ops = plugin_analyser_ops(given, plugin);
	return APPEND(&lists->analysers, ops) < 0 ? no_memory(err) : 0;
}

/* Copies the members that we know; those beyond must be empty. */
static int take(const struct wick_plugin *plugin, struct wick_plugin *ret, struct error *err)
{
	const unsigned char *bytes = (const unsigned char *)plugin;

	if (plugin->abi != WICK_PLUGIN_ABI)
		return error_advise(
			err,
			error_set(err, -ENOEXEC,
				  "it was built for plug-in ABI %u, but this wick has %u",
				  plugin->abi, WICK_PLUGIN_ABI),
			"rebuild it with the include/wick/plugin.h of this wick");
	if (plugin->size < OLDEST_BYTES || plugin->size > NEWEST_BYTES || !is_name(plugin->name))
		return error_set(err, -EINVAL, "it has no size or no name");
	for (size_t i = sizeof(*ret); i < plugin->size; i++)
		if (bytes[i] != 0)
			return error_set(err, -E2BIG,
					 "it was built for a newer wick and uses parts that this "
					 "one does not know");
	*ret = (struct wick_plugin){0};
	(void)memcpy(ret, plugin, plugin->size < sizeof(*ret) ? plugin->size : sizeof(*ret));
	return 0;
}

static int add_all(struct plugin_lists *lists, const struct wick_plugin *plugin, struct error *err)
{
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && plugin->exporters && plugin->exporters[i]; i++)
		r = add_exporter(lists, plugin->exporters[i], plugin->name, err);
	for (i = 0; r == 0 && plugin->importers && plugin->importers[i]; i++)
		r = add_importer(lists, plugin->importers[i], plugin->name, err);
	for (i = 0; r == 0 && plugin->resolvers && plugin->resolvers[i]; i++)
		r = add_resolver(lists, plugin->resolvers[i], plugin->name, err);
	for (i = 0; r == 0 && plugin->views && plugin->views[i]; i++)
		r = add_view(lists, plugin->views[i], plugin->name, err);
	for (i = 0; r == 0 && plugin->analysers && plugin->analysers[i]; i++)
		r = add_analyser(lists, plugin->analysers[i], plugin->name, err);
	return r;
}

int plugin_lists_add(struct plugin_lists *lists, const struct wick_plugin *plugin,
		     struct error *err)
{
	const struct lengths before = {lists->exporters.count, lists->importers.count,
				       lists->sources.count, lists->views.count,
				       lists->analysers.count};
	struct wick_plugin known;
	int r = take(plugin, &known, err);

	if (r < 0)
		return r;
	r = add_all(lists, &known, err);
	if (r < 0) {
		CUT(&lists->exporters, before.exporters);
		CUT(&lists->importers, before.importers);
		CUT(&lists->sources, before.sources);
		CUT(&lists->views, before.views);
		CUT(&lists->analysers, before.analysers);
	}
	return r;
}
