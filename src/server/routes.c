/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/routes.h"

#include "base/vec.h"
#include "net/token.h"
#include "server/page/page_routes.h"

#define QUERIER "/querier.v1.QuerierService/"

/* One on each line. */
/* clang-format off */
const struct http_route server_routes[] = {
	{"GET", "/", TOKEN_NONE, route_page, .light = true},
	{"GET", "/page/{name}", TOKEN_NONE, route_page, .light = true},
	{"GET", "/api/session", TOKEN_NONE, route_session, .light = true},
	{"POST", "/api/login", TOKEN_NONE, route_login},
	{"POST", "/api/logout", TOKEN_NONE, route_logout},
	{"POST", "/api/push", TOKEN_WRITE, route_push},
	{"POST", "/ingest", TOKEN_WRITE, route_pyroscope_ingest},
	{"POST", "/pyroscope/ingest", TOKEN_WRITE, route_pyroscope_ingest},
	{"POST", "/push.v1.PusherService/Push", TOKEN_WRITE, route_pyroscope_push},
	{"POST", "/v1development/profiles", TOKEN_WRITE, route_otlp_push},
	{"POST", "/api/symbols/{build_id}", TOKEN_WRITE, route_symbols_upload},
	{"GET", "/api/symbols", TOKEN_READ, route_symbols},
	{"GET", "/api/profile", TOKEN_READ, route_profile},
	{"GET", "/api/diff", TOKEN_READ, route_diff},
	{"GET", "/api/top", TOKEN_READ, route_top},
	{"GET", "/api/series", TOKEN_READ, route_series},
	{"GET", "/api/services", TOKEN_READ, route_services},
	{"GET", "/api/hosts", TOKEN_READ, route_hosts},
	{"GET", "/api/releases", TOKEN_READ, route_releases},
	{"GET", "/api/types", TOKEN_READ, route_types},
	{"GET", "/api/labels", TOKEN_READ, route_labels},
	{"GET", "/api/gaps", TOKEN_READ, route_gaps},
	{"GET", "/api/heat", TOKEN_READ, route_heat},
	{"GET", "/api/agents", TOKEN_READ, route_agents},
	{"GET", "/api/live", TOKEN_READ, route_live},
	{"GET", "/api/bursts", TOKEN_READ, route_bursts},
	{"POST", "/api/burst", TOKEN_ADMIN, route_burst},
	{"POST", QUERIER "ProfileTypes", TOKEN_READ, route_profile_types},
	{"POST", QUERIER "LabelNames", TOKEN_READ, route_label_names},
	{"POST", QUERIER "LabelValues", TOKEN_READ, route_label_values},
	{"POST", QUERIER "Series", TOKEN_READ, route_querier_series},
	{"POST", QUERIER "SelectMergeStacktraces", TOKEN_READ, route_merge_stacktraces},
	{"POST", QUERIER "SelectSeries", TOKEN_READ, route_select_series},
	{"POST", QUERIER "Diff", TOKEN_READ, route_querier_diff},
	{"GET", "/metrics", TOKEN_READ, route_metrics, .light = true},
	{"GET", "/healthz", TOKEN_NONE, route_healthz, .light = true},
};
/* clang-format on */

const size_t server_route_count = ARRAY_SIZE(server_routes);
