/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PLUGIN_PLUGIN_LISTS_H
#define WICK_PLUGIN_PLUGIN_LISTS_H

/*
 * plugin_lists: lists of the exporters, importers and so on from loaded plug-ins, as table entries.
 */

#include "base/vec.h"
#include "plugin/plugin_host.h"

struct error;

struct plugin_lists {
	/* NULL last. Each entry is allocated separately, so it does not move when a list grows. */
	VEC(const struct exporter_ops *) exporters;
	VEC(const struct importer_ops *) importers;
	VEC(const struct name_source *) sources;
	VEC(const struct view_ops *) views;
	VEC(const struct analyser_ops *) analysers;

	/* private */
	VEC(void *) memory;
	plugin_warning_fn *warn; /* for resolvers that fail */
	void *self;
};

/* Returns 0 or -ENOMEM. Must be released in any case. */
int plugin_lists_init(struct plugin_lists *lists, plugin_warning_fn *warn, void *self);
void plugin_lists_fini(struct plugin_lists *lists);

/* Adds everything from a plug-in, or nothing. The plug-in must stay loaded. */
int plugin_lists_add(struct plugin_lists *lists, const struct wick_plugin *plugin,
		     struct error *err);

#endif
