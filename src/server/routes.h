/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_ROUTES_H
#define WICK_SERVER_ROUTES_H

/*
 * routes: the paths of the server. Each handler is in a file named after what it does; `self` is a
 * struct server. docs/reference/http-api.md and openapi.json describe them.
 */

#include "net/http_server.h"

extern const struct http_route server_routes[];
extern const size_t server_route_count;

/* push_routes.c */
http_handler route_push;

/* pyroscope_push.c, otlp_push.c */
http_handler route_pyroscope_ingest;
http_handler route_pyroscope_push;
http_handler route_otlp_push;

/* symbol_routes.c */
http_handler route_symbols_upload;
http_handler route_symbols;

/* profile_routes.c */
http_handler route_profile;
http_handler route_diff;

/* heat_routes.c */
http_handler route_heat;

/* list_routes.c */
http_handler route_top;
http_handler route_series;
http_handler route_services;
http_handler route_hosts;
http_handler route_releases;
http_handler route_types;
http_handler route_labels;
http_handler route_gaps;

/* status_routes.c */
http_handler route_agents;
http_handler route_burst;
http_handler route_bursts;
http_handler route_healthz;
http_handler route_metrics;

/* live_routes.c */
http_handler route_live;

/* session_routes.c */
http_handler route_session;
http_handler route_login;
http_handler route_logout;

/* querier_routes.c */
http_handler route_profile_types;
http_handler route_label_names;
http_handler route_label_values;
http_handler route_querier_series;
http_handler route_merge_stacktraces;
http_handler route_select_series;
http_handler route_querier_diff;

#endif
