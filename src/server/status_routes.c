/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "server/names/debuginfod_client.h"
#include "server/routes.h"
#include "server/state.h"
#include "store/store.h"

static uint64_t now(void)
{
	return clock_realtime_ns() / NS_PER_SEC;
}

void route_agents(void *self, const struct http_call *request, struct http_response *response)
{
	struct server *server = self;
	struct json json;

	(void)request; /* it has no parameters */
	json_init(&json, &response->body, false);
	json_open_object(&json, NULL);
	json_u64(&json, "now", now());
	json_open_array(&json, "agents");
	agents_json(&server->agents, &json, now());
	json_close(&json);
	json_close(&json);
	bytes_put_u8(&response->body, '\n');
}

void route_burst(void *self, const struct http_call *request, struct http_response *response)
{
	struct server *server = self;
	struct burst burst = {0};
	struct error err = {0};
	struct json json;
	int r = burst_parse(&burst, request->body, request->body_size, &err);

	(void)snprintf(burst.by, sizeof(burst.by), "%s", request->who); /* it fits */
	if (r == 0)
		r = bursts_ask(&server->bursts, &burst, server->config->burst_interval_s, now(),
			       &burst, &err);
	if (r < 0) {
		http_refuse_error(response, r == -EBUSY ? 409 : 0, &err);
		return;
	}
	json_init(&json, &response->body, false);
	json_open_object(&json, NULL);
	json_string(&json, "id", burst.id);
	json_string(&json, "service", burst.service);
	json_u64(&json, "rate", burst.rate_hz);
	json_u64(&json, "seconds", burst.seconds);
	json_u64(&json, "hosts", burst.hosts);
	json_close(&json);
	bytes_put_u8(&response->body, '\n');
}

static void put_burst(const struct burst *burst, struct json *json)
{
	json_open_object(json, NULL);
	json_string(json, "id", burst->id);
	json_string(json, "service", burst->service);
	json_u64(json, "rate", burst->rate_hz);
	json_u64(json, "seconds", burst->seconds);
	json_u64(json, "hosts", burst->hosts);
	json_u64(json, "asked", burst->asked_s);
	json_string(json, "by", burst->by);
	json_u64(json, "started", burst_started_s(burst));
	json_u64(json, "hosts_started", burst->host_count);
	json_close(json);
}

void route_bursts(void *self, const struct http_call *request, struct http_response *response)
{
	struct server *server = self;
	struct burst *bursts = calloc(BURSTS_MAX, sizeof(*bursts));
	size_t count = bursts ? bursts_list(&server->bursts, bursts) : 0;
	struct json json;
	size_t i;

	(void)request; /* it has no parameters */
	json_init(&json, &response->body, false);
	json_open_object(&json, NULL);
	json_u64(&json, "now", now());
	json_open_object(&json, "limits");
	json_u64(&json, "hosts", server->config->burst_hosts);
	json_u64(&json, "interval_s", server->config->burst_interval_s);
	json_u64(&json, "rate_max", BURST_RATE_MAX);
	json_u64(&json, "seconds_max", BURST_SECONDS_MAX);
	json_close(&json);
	json_open_array(&json, "bursts");
	for (i = 0; i < count; i++)
		put_burst(&bursts[i], &json);
	json_close(&json);
	json_close(&json);
	bytes_put_u8(&response->body, '\n');
	if (!bursts)
		http_refuse(response, 503, "out of memory");
	free(bursts);
}

void route_healthz(void *self, const struct http_call *request, struct http_response *response)
{
	(void)self;
	(void)request; /* whoever asks: the server answers */
	bytes_printf(&response->body, "{\"status\": \"ok\", \"version\": \"%s\"}\n", WICK_VERSION);
}

static void put_store(struct store *store, struct bytes *out)
{
	struct store_stats stats;

	store_stats(store, &stats);
	metrics_put_value(out, "wick_store_batches_total", "counter", "Batches stored.",
			  (double)stats.batches);
	metrics_put_value(out, "wick_store_commits_total", "counter",
			  "Transactions that these took.", (double)stats.commits);
	metrics_put_value(out, "wick_store_rows", "gauge", "Rows in the store.",
			  (double)stats.rows);
	metrics_put_value(out, "wick_store_hot_rows", "gauge", "Rows that are not in files yet.",
			  (double)stats.hot_rows);
	metrics_put_value(out, "wick_store_stacks", "gauge", "Distinct stacks.",
			  (double)stats.stacks);
	metrics_put_value(out, "wick_store_functions", "gauge", "Distinct functions.",
			  (double)stats.functions);
	metrics_put_value(out, "wick_store_series", "gauge", "Distinct sets of labels.",
			  (double)stats.series);
	metrics_put_value(out, "wick_store_series_overflowed_total", "counter",
			  "Sets of labels that were merged because a service had too many.",
			  (double)stats.overflowed_series);
	metrics_put_value(out, "wick_store_damaged_files", "gauge",
			  "Damaged files, which are left out of answers.",
			  (double)stats.damaged_files);
	metrics_put_value(out, "wick_store_bytes", "gauge", "Size on disk.", (double)stats.bytes);
}

static void put_symbols(struct server *server, struct bytes *out)
{
	struct naming_stats names = naming_stats(server->naming);
	struct symbol_folder_stats folder = symbol_folder_stats(&server->symbols);
	struct debuginfod_stats fetched = debuginfod_client_stats(server->debuginfod);

	metrics_put_value(out, "wick_server_symbol_lookups_total", "counter",
			  "Addresses that were looked up in symbols.", (double)names.looked_up);
	metrics_put_value(out, "wick_server_symbol_hits_total", "counter",
			  "Addresses of those that got a name.", (double)names.named);
	metrics_put_value(out, "wick_server_symbol_failures_total", "counter",
			  "Failures while looking up names.", (double)names.failures);
	metrics_put_value(out, "wick_server_unnamed_addresses", "gauge",
			  "Addresses in the store without a name.", (double)names.unnamed);
	metrics_put_value(out, "wick_server_symbols_missing", "gauge",
			  "Modules whose symbols are nowhere.", (double)names.lacking);
	metrics_put_value(out, "wick_server_symbol_files", "gauge", "Files of symbols kept.",
			  (double)folder.files);
	metrics_put_value(out, "wick_server_symbol_bytes", "gauge", "Their size.",
			  (double)folder.bytes);
	metrics_put_value(out, "wick_server_debuginfod_fetched_total", "counter",
			  "Debug files fetched from debuginfod servers.", (double)fetched.fetched);
	metrics_put_value(out, "wick_server_debuginfod_bytes_total", "counter", "Their size.",
			  (double)fetched.bytes);
	metrics_put_value(out, "wick_server_debuginfod_failures_total", "counter",
			  "Failed requests to debuginfod servers.", (double)fetched.failures);
}

void server_metrics(struct server *server, struct bytes *out)
{
	struct http_server_stats http;
	size_t all;
	size_t late;

	http_server_stats(server->http, &http);
	agents_count(&server->agents, now(), &all, &late);
	bytes_printf(out,
		     "# HELP wick_build_info The version that runs.\n"
		     "# TYPE wick_build_info gauge\nwick_build_info{version=\"%s\"} 1\n",
		     WICK_VERSION);
	metrics_put_value(out, "wick_server_start_time_seconds", "gauge",
			  "When the server started, in seconds since 1970.",
			  (double)server->start_s);
	metrics_put_value(out, "wick_server_agents", "gauge", "Agents that have pushed windows.",
			  (double)all);
	metrics_put_value(out, "wick_server_agents_late", "gauge",
			  "Agents that have not pushed for three windows.", (double)late);
	metrics_put_value(out, "wick_server_refused_total", "counter",
			  "Requests refused before they were handled.", (double)http.refused);
	metrics_put_value(out, "wick_server_connections", "gauge", "Connections of clients.",
			  (double)http.connections);
	metrics_put_value(out, "wick_server_timed_out_total", "counter",
			  "Connections that were ended because their client took too long.",
			  (double)http.timed_out);
	metrics_put_value(out, "wick_server_bodies_bytes", "gauge", "Memory held by bodies.",
			  (double)http.bodies_bytes);
	metrics_put_value(out, "wick_server_bodies_limit_bytes", "gauge",
			  "Memory that bodies may hold.",
			  (double)server_bodies_limit(server->config));
	metrics_put_value(out, "wick_server_streams", "gauge", "Clients that watch a service.",
			  (double)http.streams);
	metrics_put_value(out, "wick_server_running", "gauge", "Requests being handled.",
			  (double)http.running);
	put_store(server->store, out);
	put_symbols(server, out);
	metrics_put(&server->metrics, out);
	agents_metrics(&server->agents, out, now());
}

void route_metrics(void *self, const struct http_call *request, struct http_response *response)
{
	(void)request; /* it has no parameters */
	response->type = "text/plain; version=0.0.4; charset=utf-8";
	server_metrics(self, &response->body);
}
