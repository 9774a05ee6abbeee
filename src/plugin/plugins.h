/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PLUGIN_PLUGINS_H
#define WICK_PLUGIN_PLUGINS_H

/*
 * plugins: loads shared objects that add formats, names, views and analysers, as entries of the
 * same kind of tables that wick uses. The loaded plug-ins belong to this object: there is no global
 * list.
 *
 * Nothing is loaded with elevated privileges, nor any file that users other than root and the
 * current one can change.
 */

#include <stddef.h>

#include "plugin/plugin_host.h"

struct plugins;

/*
 * Loads the objects in `paths`, a colon-separated list of folders and files; NULL or "": none.
 * Returns NULL if out of memory. Plug-ins that do not exist, or cannot be read or used, are skipped
 * with a warning; a resolver that fails later causes a warning then.
 */
struct plugins *plugins_load(const char *paths, plugin_warning_fn *warn, void *self);
void plugins_free(struct plugins *plugins); /* NULL is fine, here and below */

/* What they provide, NULL last. */
const struct exporter_ops *const *plugins_exporters(const struct plugins *plugins);
const struct importer_ops *const *plugins_importers(const struct plugins *plugins);
const struct name_source *const *plugins_name_sources(const struct plugins *plugins);
const struct view_ops *const *plugins_views(const struct plugins *plugins);
const struct analyser_ops *const *plugins_analysers(const struct plugins *plugins);

/* Finds one by name, in wick or in a plug-in; NULL: none. */
const struct exporter_ops *plugins_find_exporter(const struct plugins *plugins, const char *name);
const struct view_ops *plugins_find_view(const struct plugins *plugins, const char *name);
const struct analyser_ops *plugins_find_analyser(const struct plugins *plugins, const char *name);

#endif
