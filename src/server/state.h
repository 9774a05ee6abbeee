/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_STATE_H
#define WICK_SERVER_STATE_H

/* state: what the routes of a server share. Private to src/server. */

#include <pthread.h>

#include "net/http_access.h"
#include "net/rate_limit.h"
#include "server/agents.h"
#include "server/audit.h"
#include "server/bursts.h"
#include "server/live/live.h"
#include "server/metrics.h"
#include "server/names/naming.h"
#include "server/names/symbol_folder.h"
#include "server/server.h"
#include "server/source.h"

struct bytes;
struct debuginfod_client;
struct http_server;
struct statsd;
struct store;

struct server {
	struct source source; /* first: the routes of queries know nothing else */
	const struct server_config *config;
	struct store *store;
	struct http_server *http;
	struct statsd *statsd; /* NULL: none */
	struct agents agents;
	struct audit audit;
	struct metrics metrics;
	struct bursts bursts;
	struct live live;
	struct symbol_folder symbols;
	struct debuginfod_client *debuginfod; /* NULL: none is asked */
	struct naming *naming;
	struct rate_limit upload_rate;
	struct rate_limit login_rate;
	uint64_t start_s;

	struct http_access access;
	char *token_path;
};

/* How much memory the bodies of all requests together may take. */
size_t server_bodies_limit(const struct server_config *config);

/* All metrics, as text for Prometheus. */
void server_metrics(struct server *server, struct bytes *out);

/* Logs a line of JSON: {"time": …, "event": …, key: value}. key NULL: no more. */
void server_log(struct server *server, const char *event, const char *key, const char *value);

#endif
