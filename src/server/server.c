/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "base/scope.h"
#include "net/http_access.h"
#include "net/http_server.h"
#include "net/statsd.h"
#include "server/names/debuginfod_client.h"
#include "server/routes.h"
#include "server/session.h"
#include "server/state.h"
#include "store/store.h"

#define DRAIN_S 10
/* Of symbols, by one client. */
#define UPLOADS_PER_SECOND 2
#define UPLOAD_BURST 50

void server_log(struct server *server, const char *event, const char *key, const char *value)
{
	struct bytes line = {0};
	struct json json;
	time_t now = (time_t)(clock_realtime_ns() / NS_PER_SEC);
	struct tm utc;
	char text[32] = "";

	if (gmtime_r(&now, &utc))
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	json_init(&json, &line, false);
	json_open_object(&json, NULL);
	json_string(&json, "time", text);
	json_string(&json, "event", event);
	if (key)
		json_string(&json, key, value);
	json_close(&json);
	bytes_put_u8(&line, '\0');
	if (!line.failed && server->config->log)
		server->config->log(server->config->log_self, (const char *)line.data);
	bytes_fini(&line);
}

static unsigned int admit(void *self, struct http_call *request, struct http_response *response)
{
	struct server *server = self;

	return http_access_check(&server->access, request, response);
}

/* What a request asked for, for the audit log. */
static void describe(const struct http_call *request, struct bytes *ret)
{
	static const char *const names[] = {"query", "type",       "from",
					    "to",    "diff_query", "function"};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = http_call_query(request, names[i]);

		if (value)
			bytes_printf(ret, "%s%s=%.300s", ret->size > 0 ? " " : "", names[i], value);
	}
	bytes_put_u8(ret, '\0');
}

/* Pushes come by the thousand: of them, only those that were refused. */
static bool is_audited(const struct http_route *route)
{
	if (!route || route->access == TOKEN_NONE || route->light)
		return false;
	return route->access != TOKEN_WRITE || route->handle == route_symbols_upload;
}

static void on_done(void *self, const struct http_call *request,
		    const struct http_response *response, size_t body_bytes, uint64_t took_ns)
{
	struct server *server = self;
	unsigned int status = response->status ? response->status : 200;
	size_t route =
		request->route ? (size_t)(request->route - server_routes) : METRICS_ROUTES_MAX;
	struct bytes detail = {0};

	metrics_request(&server->metrics, route, request->route ? request->route->path : "", status,
			took_ns);
	metrics_add(&server->metrics, &server->metrics.received_bytes, body_bytes);
	/* A login says who it is itself. */
	if (request->route && request->route->handle == route_login)
		return;
	if (status == 401 || status == 403 || is_audited(request->route)) {
		describe(request, &detail);
		if (!detail.failed)
			audit_add(&server->audit, request, status, (const char *)detail.data);
		bytes_fini(&detail);
	}
	if (status >= 500)
		server_log(server, "request failed", "path", request->path);
	log_debug("%s %s: %u, %zu bytes, %.1f ms", request->client, request->path, status,
		  body_bytes, (double)took_ns / 1e6);
}

size_t server_bodies_limit(const struct server_config *config)
{
	return 8 * config->max_body_bytes;
}

static int start_http(struct server *server, struct error *err)
{
	const struct server_config *config = server->config;
	struct http_server_config http = {
		HTTP_SERVER_LIMITS,
		.address = config->address,
		.port = config->port,
		.tls_cert = server->access.tls_cert,
		.tls_key = server->access.tls_key,
		.routes = server_routes,
		.route_count = server_route_count,
		.self = server,
		.admit = admit,
		.done = on_done,
	};

	http.max_body_bytes = config->max_body_bytes;
	http.max_bodies_bytes = server_bodies_limit(config);
	http.max_connections = config->max_connections;
	http.request_timeout_s = config->request_timeout_s;
	http.max_connections_of_address = config->max_connections;
	http.requests_per_second = config->requests_per_second;
	http.request_burst = 2 * config->requests_per_second;
	return http_server_start(&http, &server->http, err);
}

static char *path_in(const char *folder, const char *name)
{
	struct bytes path = {0};

	bytes_printf(&path, "%s/%s", folder, name);
	bytes_put_u8(&path, '\0');
	if (!path.failed)
		return (char *)path.data;
	bytes_fini(&path);
	return NULL;
}

static int open_files(struct server *server, struct error *err)
{
	const struct server_config *config = server->config;
	SCOPED(mem) char *audit = path_in(config->folder, "audit.log");
	struct http_access_config access = {.address = config->address,
					    .tls_cert_path = config->tls_cert_path,
					    .tls_key_path = config->tls_key_path,
					    .token_folder = config->folder};
	int r;

	server->token_path =
		config->token_path ? strdup(config->token_path) : path_in(config->folder, "tokens");
	if (!server->token_path || !audit)
		return error_set(err, -ENOMEM, "out of memory");
	if (mkdir(config->folder, 0700) < 0 && errno != EEXIST)
		return error_file(err, -errno, "cannot create %s", config->folder);
	access.token_path = server->token_path;
	r = http_access_open(&server->access, &access, err);
	return r < 0 ? r : audit_open(&server->audit, audit, err);
}

static int open_store(struct server *server, struct error *err)
{
	const struct server_config *config = server->config;
	SCOPED(mem) char *folder = path_in(config->folder, "store");
	struct store_config store = {
		.url = config->store_url,
		.user = config->store_user,
		.password = config->store_password,
		.folder = folder,
		.library = config->library,
		.memory_bytes = config->memory_bytes,
		.keep_full_s = config->keep_full_s,
		.keep_merged_s = config->keep_merged_s,
		.keep_bytes = config->keep_bytes,
	};

	return folder ? store_open(&store, &server->store, err)
		      : error_set(err, -ENOMEM, "out of memory");
}

static void note_failed_naming(void *self, const struct error *err)
{
	server_log(self, "names not found", "error", err->text);
}

/* After the store. */
static int open_symbols(struct server *server, struct error *err)
{
	const struct server_config *config = server->config;
	SCOPED(mem) char *folder = path_in(config->folder, "symbols");
	struct naming_config naming = {
		.store = server->store,
		.folder = &server->symbols,
		.debug_folders = config->debug_folders,
		.debug_folder_count = config->debug_folder_count,
		.failed = note_failed_naming,
		.self = server,
	};
	int r;

	if (!folder)
		return error_set(err, -ENOMEM, "out of memory");
	r = symbol_folder_open(&server->symbols, folder, config->symbol_bytes, err);
	if (r == 0 && config->debuginfod_count > 0)
		r = debuginfod_client_new(config->debuginfod_urls, config->debuginfod_count,
					  &server->debuginfod, err);
	naming.debuginfod = server->debuginfod;
	return r < 0 ? r : naming_start(&naming, &server->naming, err);
}

int server_open(const struct server_config *config, struct server **ret, struct error *err)
{
	struct server *server = calloc(1, sizeof(*server));
	int r;

	if (!server)
		return error_set(err, -ENOMEM, "out of memory");
	server->source.ops = &store_source;
	server->config = config;
	server->start_s = clock_realtime_ns() / NS_PER_SEC;
	server->audit.fd = -1;
	agents_init(&server->agents);
	metrics_init(&server->metrics);
	bursts_init(&server->bursts);
	live_init(&server->live);
	rate_limit_init(&server->upload_rate, UPLOADS_PER_SECOND, UPLOAD_BURST);
	rate_limit_init(&server->login_rate, SESSION_TRIES_PER_SECOND, SESSION_TRIES);
	r = open_files(server, err);
	if (r == 0)
		r = open_store(server, err);
	if (r == 0 && config->statsd)
		r = statsd_open(config->statsd, NULL, &server->statsd, err);
	if (r == 0)
		r = open_symbols(server, err);
	if (r == 0)
		r = start_http(server, err);
	if (r < 0) {
		server_close(server);
		return r;
	}
	*ret = server;
	return 0;
}

uint16_t server_port(const struct server *server)
{
	return http_server_port(server->http);
}

int server_reload(struct server *server, struct error *err)
{
	int r = http_access_reload(&server->access, err);

	if (r < 0)
		server_log(server, "reload failed", "error", err->text);
	else
		server_log(server, "reloaded", "file", server->token_path);
	return r;
}

void server_maintain(struct server *server)
{
	struct error err = {0};

	if (store_maintain(server->store, clock_realtime_ns() / NS_PER_SEC, &err) >= 0)
		return;
	metrics_add(&server->metrics, &server->metrics.maintain_failures, 1);
	server_log(server, "maintenance failed", "error", err.text);
}

void server_tidy(struct server *server)
{
	http_server_tidy(server->http);
}

void server_report(struct server *server)
{
	struct bytes text = {0};

	if (!server->statsd)
		return;
	server_metrics(server, &text);
	bytes_put_u8(&text, '\0');
	if (!text.failed)
		statsd_send(server->statsd, (const char *)text.data);
	bytes_fini(&text);
}

void server_close(struct server *server)
{
	if (!server)
		return;
	http_server_stop(server->http, DRAIN_S);
	statsd_close(server->statsd);
	naming_stop(server->naming);
	debuginfod_client_free(server->debuginfod);
	symbol_folder_close(&server->symbols);
	store_close(server->store);
	audit_close(&server->audit);
	agents_fini(&server->agents);
	metrics_fini(&server->metrics);
	bursts_fini(&server->bursts);
	live_fini(&server->live);
	http_access_close(&server->access);
	rate_limit_fini(&server->upload_rate);
	rate_limit_fini(&server->login_rate);
	free(server->token_path);
	free(server);
}
