/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file/regular_file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/scope.h"
#include "net/http_server.h"
#include "server/routes.h"
#include "server/state.h"
#include "store/store.h"

#define DRAIN_S 10
#define PEM_MAX_BYTES (1u << 20)

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

static bool is_loopback(const char *address)
{
	struct in6_addr six;

	if (strncmp(address, "127.", 4) == 0)
		return true;
	return inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

/* Beyond this machine, only with TLS and tokens. */
static int check_exposure(const struct server *server, struct error *err)
{
	const struct server_config *config = server->config;
	bool has_tls = config->tls_cert_path && config->tls_key_path;

	if ((config->tls_cert_path != NULL) != (config->tls_key_path != NULL)) {
		(void)error_set(err, -EINVAL, "TLS needs both a certificate and its key");
		error_remedy(err, "use --tls-cert FILE --tls-key FILE");
		return -EINVAL;
	}
	if (is_loopback(config->address) || (has_tls && server->tokens.count > 0))
		return 0;
	(void)error_set(err, -EPERM, "%s can be reached from other machines, but there %s",
			config->address,
			!has_tls && server->tokens.count == 0 ? "is no TLS, and there are no tokens"
			: !has_tls                            ? "is no TLS"
							      : "are no tokens");
	error_remedy(err,
		     "use --tls-cert FILE --tls-key FILE, and make tokens with: wick token add "
		     "write --data %s",
		     config->folder);
	return -EPERM;
}

static int read_pem(const char *path, char **ret, struct error *err)
{
	struct stat status;
	SCOPED(fd) int fd = regular_file_open(path, &status);
	SCOPED(mem) char *text = NULL;
	ssize_t n;

	if (fd < 0)
		return error_file(err, fd, "cannot open %s", path);
	text = calloc(1, PEM_MAX_BYTES);
	if (!text)
		return error_set(err, -ENOMEM, "out of memory");
	n = read(fd, text, PEM_MAX_BYTES - 1);
	if (n < 0)
		return error_file(err, -errno, "cannot read %s", path);
	*ret = scope_take(&text);
	return 0;
}

static int read_tls(struct server *server, struct error *err)
{
	const struct server_config *config = server->config;
	int r;

	if (!config->tls_cert_path)
		return 0;
	r = read_pem(config->tls_cert_path, &server->tls_cert, err);
	return r < 0 ? r : read_pem(config->tls_key_path, &server->tls_key, err);
}

/* Without tokens a page in a browser must not reach us under a name of its own. */
static bool is_local_name(const char *host)
{
	static const char *const names[] = {"localhost", "127.", "[::1]"};
	size_t i;

	for (i = 0; host && i < sizeof(names) / sizeof(names[0]); i++)
		if (strncasecmp(host, names[i], strlen(names[i])) == 0)
			return true;
	return !host;
}

static const char *bearer_of(const struct http_call *request)
{
	const char *text = http_call_header(request, "Authorization");

	return text && strncasecmp(text, "Bearer ", 7) == 0 ? text + 7 : NULL;
}

/* Returns the status of a refusal, or 0. */
static unsigned int check_token(struct server *server, struct http_call *request,
				struct http_response *response)
{
	const char *secret = bearer_of(request);
	const struct token *token;
	enum token_access needs = (enum token_access)request->route->access;
	unsigned int status = 0;

	(void)pthread_rwlock_rdlock(&server->token_lock);
	token = secret ? tokens_find(&server->tokens, secret, clock_realtime_ns() / NS_PER_SEC)
		       : NULL;
	if (token)
		(void)snprintf(request->who, sizeof(request->who), "%s %.60s", token->id,
			       token->name);
	if (server->tokens.count == 0) {
		if (!is_local_name(http_call_header(request, "Host")) ||
		    http_call_header(request, "Origin")) {
			status = 403;
			http_refuse(response, status,
				    "without tokens, only programs on this "
				    "machine may ask, and no pages of browsers");
		}
	} else if (!token) {
		status = 401;
		http_refuse(response, status,
			    secret ? "the token is unknown or has expired"
				   : "a token is needed: Authorization: Bearer "
				     "TOKEN");
	} else if (!token_allows(token->access, needs)) {
		status = 403;
		http_refuse(response, status, "this needs a token for %s, and this one is for %s",
			    token_access_name(needs), token_access_name(token->access));
	}
	(void)pthread_rwlock_unlock(&server->token_lock);
	return status;
}

static unsigned int admit(void *self, struct http_call *request, struct http_response *response)
{
	return request->route->access == TOKEN_NONE ? 0 : check_token(self, request, response);
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

static void on_done(void *self, const struct http_call *request,
		    const struct http_response *response, size_t body_bytes, uint64_t took_ns)
{
	struct server *server = self;
	unsigned int status = response->status ? response->status : 200;
	size_t route =
		request->route ? (size_t)(request->route - server_routes) : METRICS_ROUTES_MAX;
	unsigned int access = request->route ? request->route->access : TOKEN_NONE;
	struct bytes detail = {0};

	metrics_request(&server->metrics, route, request->route ? request->route->path : "", status,
			took_ns);
	metrics_add(&server->metrics, &server->metrics.received_bytes, body_bytes);
	/* Pushes come by the thousand: of them, only those that were refused. */
	if (status == 401 || status == 403 ||
	    (access != TOKEN_NONE && access != TOKEN_WRITE && !request->route->light)) {
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

static int start_http(struct server *server, struct error *err)
{
	const struct server_config *config = server->config;
	struct http_server_config http = {
		HTTP_SERVER_LIMITS,
		.address = config->address,
		.port = config->port,
		.tls_cert = server->tls_cert,
		.tls_key = server->tls_key,
		.routes = server_routes,
		.route_count = server_route_count,
		.self = server,
		.admit = admit,
		.done = on_done,
	};

	http.max_body_bytes = config->max_body_bytes;
	http.max_bodies_bytes = 8 * config->max_body_bytes;
	http.max_connections = config->max_connections;
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
	int r;

	server->token_path =
		config->token_path ? strdup(config->token_path) : path_in(config->folder, "tokens");
	if (!server->token_path || !audit)
		return error_set(err, -ENOMEM, "out of memory");
	if (mkdir(config->folder, 0700) < 0 && errno != EEXIST)
		return error_file(err, -errno, "cannot create %s", config->folder);
	r = tokens_load(&server->tokens, server->token_path, err);
	if (r == 0)
		r = check_exposure(server, err);
	if (r == 0)
		r = read_tls(server, err);
	return r < 0 ? r : audit_open(&server->audit, audit, err);
}

static int open_store(struct server *server, struct error *err)
{
	const struct server_config *config = server->config;
	SCOPED(mem) char *folder = path_in(config->folder, "store");
	struct store_config store = {
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

int server_open(const struct server_config *config, struct server **ret, struct error *err)
{
	struct server *server = calloc(1, sizeof(*server));
	int r;

	if (!server)
		return error_set(err, -ENOMEM, "out of memory");
	server->config = config;
	server->start_s = clock_realtime_ns() / NS_PER_SEC;
	server->audit.fd = -1;
	agents_init(&server->agents);
	metrics_init(&server->metrics);
	bursts_init(&server->bursts);
	(void)pthread_rwlock_init(&server->token_lock, NULL); /* never fails on Linux */
	r = open_files(server, err);
	if (r == 0)
		r = open_store(server, err);
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
	struct tokens tokens;
	struct tokens old;
	int r = tokens_load(&tokens, server->token_path, err);

	if (r == 0 && tokens.count == 0 && !is_loopback(server->config->address)) {
		tokens_fini(&tokens);
		r = error_set(err, -EPERM,
			      "%s has no tokens any more; the server keeps the old ones",
			      server->token_path);
		error_remedy(err, "stop the server, or add a token");
	}
	if (r < 0) {
		server_log(server, "reload failed", "error", err->text);
		return r;
	}
	(void)pthread_rwlock_wrlock(&server->token_lock);
	old = server->tokens;
	server->tokens = tokens;
	(void)pthread_rwlock_unlock(&server->token_lock);
	tokens_fini(&old);
	server_log(server, "reloaded", "file", server->token_path);
	return 0;
}

void server_maintain(struct server *server)
{
	struct error err = {0};

	if (store_maintain(server->store, clock_realtime_ns() / NS_PER_SEC, &err) >= 0)
		return;
	metrics_add(&server->metrics, &server->metrics.maintain_failures, 1);
	server_log(server, "maintenance failed", "error", err.text);
}

void server_close(struct server *server)
{
	if (!server)
		return;
	http_server_stop(server->http, DRAIN_S);
	store_close(server->store);
	audit_close(&server->audit);
	agents_fini(&server->agents);
	metrics_fini(&server->metrics);
	bursts_fini(&server->bursts);
	(void)pthread_rwlock_destroy(&server->token_lock);
	tokens_fini(&server->tokens);
	free(server->token_path);
	free(server->tls_cert);
	free(server->tls_key);
	free(server);
}
