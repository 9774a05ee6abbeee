/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PLUGIN_PLUGINS_H
#define WICK_PLUGIN_PLUGINS_H

/*
 * plugins: shared objects that bring formats, names, views and analysers of their own, as entries
 * of the same tables as those of wick. What is loaded is this object, and nobody's who is not given
 * it.
 *
 * Nothing is loaded with raised privileges, nor what others than root and the user can change.
 */

#include <stddef.h>

#include "plugin/plugin_host.h"

struct plugins;

/*
 * Loads the objects of paths, folders and files with colons between them; NULL or "": none.
 * Returns NULL without memory. What cannot be used, is not there or cannot be read is left out
 * with a warning; one that fails later on gets one then.
 */
struct plugins *plugins_load(const char *paths, plugin_warning_fn *warn, void *self);
void plugins_free(struct plugins *plugins); /* NULL is fine, here and below */

/* What they bring, NULL last. */
const struct exporter_ops *const *plugins_exporters(const struct plugins *plugins);
const struct importer_ops *const *plugins_importers(const struct plugins *plugins);
const struct name_source *const *plugins_name_sources(const struct plugins *plugins);
const struct view_ops *const *plugins_views(const struct plugins *plugins);
const struct analyser_ops *const *plugins_analysers(const struct plugins *plugins);

/* That of a name: one of wick, or of a plug-in; NULL when there is none. */
const struct exporter_ops *plugins_find_exporter(const struct plugins *plugins, const char *name);
const struct view_ops *plugins_find_view(const struct plugins *plugins, const char *name);
const struct analyser_ops *plugins_find_analyser(const struct plugins *plugins, const char *name);

#endif
