/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PLUGIN_PLUGIN_HOST_H
#define WICK_PLUGIN_PLUGIN_HOST_H

/* plugin_host: calls the functions of plug-ins, and provides the functions that they may call. */

#include <stdbool.h>

#include <wick/plugin.h>

struct analyser_ops;
struct exporter_ops;
struct importer_ops;
struct name_source;
struct view_ops;

/* Table entries that call the functions of a plug-in, which must stay loaded. */
struct exporter_ops plugin_exporter_ops(const struct wick_plugin_exporter *exporter,
					const char *plugin);
struct importer_ops plugin_importer_ops(const struct wick_plugin_importer *importer,
					const char *plugin);

struct view_ops plugin_view_ops(const struct wick_plugin_view *view, const char *plugin);
struct analyser_ops plugin_analyser_ops(const struct wick_plugin_analyser *analyser,
					const char *plugin);

struct error;

/* Called with warnings for the user. */
typedef void plugin_warning_fn(void *self, const struct error *err);

/* A resolver of a plug-in, and the callback for its failures. */
struct plugin_resolver {
	const struct wick_plugin_resolver *given;
	plugin_warning_fn *warn; /* optional */
	void *self;
	bool has_failed;
};

/* The entry borrows the resolver. */
struct name_source plugin_name_source(struct plugin_resolver *resolver, const char *plugin);

#endif
