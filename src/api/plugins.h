/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_API_PLUGINS_H
#define WICK_API_PLUGINS_H

/*
 * plugins: shared objects that bring formats of their own, as entries of the same tables as
 * those of wick. What is loaded is this object, and nobody's who is not given it.
 *
 * Nothing is loaded with raised privileges, nor what others than root and the user can change.
 */

#include <stddef.h>

struct exporter_ops;
struct importer_ops;
struct error;
struct plugins;

/* Called with a line for people about each one that is left out. */
typedef void plugin_warning_fn(void *self, const struct error *err);

/*
 * Loads the objects of paths, folders and files with colons between them; NULL or "": none.
 * Returns NULL without memory. What cannot be used is left out with a warning.
 */
struct plugins *plugins_load(const char *paths, plugin_warning_fn *warn, void *self);
void plugins_free(struct plugins *plugins); /* NULL is fine, here and below */

/* What they bring, NULL last. */
const struct exporter_ops *const *plugins_exporters(const struct plugins *plugins);
const struct importer_ops *const *plugins_importers(const struct plugins *plugins);

/* The format of a name: one of wick, or of a plug-in; NULL when there is none. */
const struct exporter_ops *plugins_find_exporter(const struct plugins *plugins, const char *name);

#endif
