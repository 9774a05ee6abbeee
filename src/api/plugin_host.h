/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_API_PLUGIN_HOST_H
#define WICK_API_PLUGIN_HOST_H

/* plugin_host: calls of plug-ins' functions, and what those call in turn. */

#include <wick/plugin.h>

struct exporter_ops;
struct importer_ops;

/* Entries of our tables that call the functions of a plug-in, which must stay loaded. */
struct exporter_ops plugin_exporter_ops(const struct wick_plugin_exporter *exporter,
					const char *plugin);
struct importer_ops plugin_importer_ops(const struct wick_plugin_importer *importer,
					const char *plugin);

#endif
