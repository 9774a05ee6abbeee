/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "net/http_headers.h"
#include "net/http_stream.h"
#include "net/rate_limit.h"

#define THREAD_STACK_BYTES (4u << 20)
#define CONNECTION_MEMORY_BYTES (32u << 10) /* for the head of a request */
#define TLS_PRIORITIES "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

/* A connection of a client. */
struct link {
	struct link *next;
	struct link *previous;
	int fd;
	uint64_t since_ns; /* when the client began to send, or to read the answer */
	bool busy;         /* it waits for us */
	bool answering;    /* the client reads */
	bool ended;        /* by http_server_tidy() */
};

struct http_server {
	struct http_server_config config;
	struct MHD_Daemon *daemon;
	struct rate_limit rate;
	struct http_streams streams;
	uint16_t port;

	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct http_server_stats stats;
	unsigned int open; /* requests that were begun and not completed */
	struct link *links;
};

/* One request on its way. */
struct exchange {
	struct http_call request;
	struct link *link;
	struct bytes body;
	size_t reserved; /* of the sum of all bodies */
	size_t received;
	bool overflow; /* the body is too large: the rest is thrown away */
	bool refused;  /* so is the whole body of what was refused before it came */
	struct http_response refusal;
	bool answered;
	bool streams; /* the answer has no end */
	uint64_t start_ns;
};

bool http_server_is_built(void)
{
	return true;
}

const char *http_call_header(const struct http_call *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *http_call_query(const struct http_call *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

const char *http_call_cookie(const struct http_call *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND, name);
}

static void describe_client(struct http_call *request)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *address = info ? info->client_addr : NULL;
	const void *number = NULL;

	if (address && address->sa_family == AF_INET)
		number = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
	else if (address && address->sa_family == AF_INET6)
		number = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	if (!number ||
	    !inet_ntop(address->sa_family, number, request->client, sizeof(request->client)))
		request->client[0] = '\0';
}

static void too_busy(struct http_response *response)
{
	http_refuse(response, MHD_HTTP_SERVICE_UNAVAILABLE,
		    "the server is busy with other requests");
	response->retry_after_s = 2;
}

/* Begins an answer without an end, or turns it into a refusal. */
static struct MHD_Response *begin_stream(struct http_server *server, struct exchange *exchange,
					 struct http_response *response)
{
	struct MHD_Response *out =
		exchange->link ? http_streams_begin(&server->streams, exchange->request.client,
						    exchange->link->fd, &response->stream)
			       : NULL;

	exchange->streams = out != NULL;
	if (!out) {
		response->stream.free(response->stream.self);
		http_refuse(response, MHD_HTTP_SERVICE_UNAVAILABLE,
			    "too many clients are watching");
	}
	response->stream = (struct http_stream){0};
	return out;
}

static enum MHD_Result queue_answer(struct exchange *exchange, struct http_response *response,
				    struct MHD_Response *out)
{
	enum MHD_Result result;

	if (response->body.failed) {
		bytes_fini(&response->body);
		http_refuse(response, MHD_HTTP_INSUFFICIENT_STORAGE, "out of memory");
	}
	/* The buffer goes over to the library, which releases it. */
	if (!out)
		out = MHD_create_response_from_buffer(response->body.size, response->body.data,
						      MHD_RESPMEM_MUST_FREE);
	if (!out)
		return MHD_NO;
	response->body = (struct bytes){0};
	http_headers_add(out, response);
	result = MHD_queue_response(exchange->request.connection,
				    response->status ? response->status : MHD_HTTP_OK, out);
	MHD_destroy_response(out);
	exchange->answered = true;
	return result;
}

static enum MHD_Result answer(struct http_server *server, struct exchange *exchange,
			      struct http_response *response)
{
	uint64_t took_ns = clock_monotonic_ns() - exchange->start_ns;
	struct MHD_Response *stream =
		response->stream.next ? begin_stream(server, exchange, response) : NULL;

	if (server->config.done)
		server->config.done(server->config.self, &exchange->request, response,
				    exchange->received, took_ns);
	return queue_answer(exchange, response, stream);
}

static enum MHD_Result refuse(struct http_server *server, struct exchange *exchange,
			      struct http_response *response)
{
	(void)pthread_mutex_lock(&server->lock);
	server->stats.refused++;
	(void)pthread_mutex_unlock(&server->lock);
	return answer(server, exchange, response);
}

/* What the name in braces stands for, "" without one; NULL: the path is not this route's. */
static const char *match_path(const char *pattern, const char *path)
{
	size_t fixed = strcspn(pattern, "{");

	if (pattern[fixed] == '\0')
		return strcmp(pattern, path) == 0 ? "" : NULL;
	if (strncmp(pattern, path, fixed) != 0 || path[fixed] == '\0' || strchr(path + fixed, '/'))
		return NULL;
	return path + fixed;
}

/* Finds the route. Returns NULL with an answer if there is none. */
static const struct http_route *find_route(const struct http_server *server, const char *method,
					   const char *path, struct http_response *response)
{
	const struct http_route *other = NULL;
	size_t i;

	for (i = 0; i < server->config.route_count; i++) {
		const struct http_route *route = &server->config.routes[i];

		if (!match_path(route->path, path))
			continue;
		if (strcmp(route->method, method) == 0)
			return route;
		other = route;
	}
	if (other)
		http_refuse(response, MHD_HTTP_METHOD_NOT_ALLOWED, "%s needs %s", other->path,
			    other->method);
	else
		http_refuse(response, MHD_HTTP_NOT_FOUND, "there is nothing at this path");
	return NULL;
}

/* Reserves memory for a body. */
static bool reserve(struct http_server *server, struct exchange *exchange, size_t bytes)
{
	bool fits;

	(void)pthread_mutex_lock(&server->lock);
	fits = server->stats.bodies_bytes + bytes <= server->config.max_bodies_bytes;
	if (fits) {
		server->stats.bodies_bytes += bytes;
		exchange->reserved += bytes;
	}
	(void)pthread_mutex_unlock(&server->lock);
	return fits;
}

static void too_large(const struct http_server *server, struct http_response *response)
{
	http_refuse(response, MHD_HTTP_CONTENT_TOO_LARGE,
		    "the body is larger than the limit of %zu bytes",
		    server->config.max_body_bytes);
}

/* Everything that can be decided before the body comes. Returns whether it may come. */
static bool admit(struct http_server *server, struct exchange *exchange, const char *method,
		  struct http_response *response)
{
	struct http_call *request = &exchange->request;
	const char *length = http_call_header(request, "Content-Length");
	uint32_t wait_s;

	request->route = find_route(server, method, request->path, response);
	if (!request->route)
		return false;
	request->tail = match_path(request->route->path, request->path);
	if (server->config.admit(server->config.self, request, response) != 0)
		return false;
	wait_s = request->route->light
			 ? 0
			 : rate_limit_take(&server->rate,
					   request->who[0] ? request->who : request->client,
					   clock_monotonic_ns());
	if (wait_s > 0) {
		http_refuse(response, MHD_HTTP_TOO_MANY_REQUESTS, "too many requests");
		response->retry_after_s = wait_s;
		return false;
	}
	if (length && strtoull(length, NULL, 10) > server->config.max_body_bytes) {
		too_large(server, response);
		return false;
	}
	if (length && !reserve(server, exchange, strtoull(length, NULL, 10))) {
		too_busy(response);
		return false;
	}
	return true;
}

/* Takes a piece of the body. Returns whether the client may go on. */
static bool receive(struct http_server *server, struct exchange *exchange, const char *data,
		    size_t size)
{
	exchange->received += size;
	if (exchange->overflow || exchange->refused)
		return exchange->received <= 2 * server->config.max_body_bytes;
	if (exchange->received > server->config.max_body_bytes ||
	    (exchange->received > exchange->reserved &&
	     !reserve(server, exchange, exchange->received - exchange->reserved))) {
		bytes_fini(&exchange->body);
		exchange->overflow = true;
		return true;
	}
	bytes_put(&exchange->body, data, size);
	return true;
}

static void init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	/* None of these fails on Linux. The clock is one that nobody sets. */
	(void)pthread_condattr_init(&attributes);
	(void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	(void)pthread_cond_init(condition, &attributes);
	(void)pthread_condattr_destroy(&attributes);
}

/* Says whether the client waits for us, or we for it from now on. */
static void mark(struct http_server *server, struct link *link, bool busy)
{
	if (!link)
		return;
	(void)pthread_mutex_lock(&server->lock);
	link->busy = busy;
	link->answering = !busy;
	link->since_ns = clock_monotonic_ns();
	(void)pthread_mutex_unlock(&server->lock);
}

/* Waits for one of the slots. Returns false if none became free in time. */
static bool begin_handler(struct http_server *server, bool light)
{
	struct timespec until;
	bool got = true;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += server->config.timeout_s / 2;
	(void)pthread_mutex_lock(&server->lock);
	while (got && !light && server->stats.running >= server->config.max_running)
		got = pthread_cond_timedwait(&server->changed, &server->lock, &until) == 0;
	server->stats.running += got && !light;
	server->stats.requests++;
	(void)pthread_mutex_unlock(&server->lock);
	return got;
}

static void end_handler(struct http_server *server, bool light)
{
	(void)pthread_mutex_lock(&server->lock);
	server->stats.running -= !light;
	(void)pthread_cond_signal(&server->changed);
	(void)pthread_mutex_unlock(&server->lock);
}

static enum MHD_Result handle(struct http_server *server, struct exchange *exchange)
{
	const struct http_route *route = exchange->request.route;
	struct http_response response = {0};

	if (exchange->refused)
		return refuse(server, exchange, &exchange->refusal);
	if (exchange->overflow) {
		if (exchange->received > server->config.max_body_bytes)
			too_large(server, &response);
		else
			too_busy(&response);
		return refuse(server, exchange, &response);
	}
	if (exchange->body.failed || !begin_handler(server, route->light)) {
		too_busy(&response);
		return refuse(server, exchange, &response);
	}
	exchange->request.body = exchange->body.data;
	exchange->request.body_size = exchange->body.size;
	route->handle(server->config.self, &exchange->request, &response);
	end_handler(server, route->light);
	return answer(server, exchange, &response);
}

/*
 * Whether to wait for the end of a body before a refusal: a client that is still sending when we
 * close would see a broken connection instead of the reason. Not for what is much too large.
 */
static bool awaits_body(const struct http_server *server, const struct exchange *exchange)
{
	const char *length = http_call_header(&exchange->request, "Content-Length");

	if (!length)
		return http_call_header(&exchange->request, "Transfer-Encoding") != NULL;
	return strtoull(length, NULL, 10) <= 2 * server->config.max_body_bytes;
}

static struct link *link_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static struct exchange *exchange_new(struct http_server *server, struct MHD_Connection *connection,
				     const char *path)
{
	struct exchange *exchange = calloc(1, sizeof(*exchange));

	if (!exchange)
		return NULL;
	exchange->request.connection = connection;
	exchange->request.path = path;
	exchange->start_ns = clock_monotonic_ns();
	exchange->link = link_of(connection);
	describe_client(&exchange->request);
	(void)pthread_mutex_lock(&server->lock);
	exchange->request.id = server->stats.requests + server->stats.refused;
	server->open++;
	(void)pthread_mutex_unlock(&server->lock);
	return exchange;
}

static enum MHD_Result on_request(void *self, struct MHD_Connection *connection, const char *path,
				  const char *method, const char *version, const char *data,
				  size_t *size, void **context)
{
	struct http_server *server = self;
	struct exchange *exchange = *context;
	struct http_response response = {0};
	enum MHD_Result result;

	(void)version; /* 1.0 and 1.1 are the same to us */
	if (!exchange) {
		exchange = exchange_new(server, connection, path);
		*context = exchange;
		if (!exchange)
			return MHD_NO;
		if (admit(server, exchange, method, &response))
			return MHD_YES;
		if (!awaits_body(server, exchange))
			return refuse(server, exchange, &response);
		exchange->refused = true;
		exchange->refusal = response;
		return MHD_YES;
	}
	if (*size > 0) {
		bool goes_on = receive(server, exchange, data, *size);

		*size = 0;
		return goes_on ? MHD_YES : MHD_NO;
	}
	if (exchange->answered)
		return MHD_YES;
	mark(server, exchange->link, true);
	result = handle(server, exchange);
	if (!exchange->streams) /* else the client waits for us until the end */
		mark(server, exchange->link, false);
	return result;
}

/* Keeps the list of connections. Without memory for an entry, one has no limit of time. */
static void on_connection(void *self, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct http_server *server = self;
	struct link *link = *context;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

		link = info ? calloc(1, sizeof(*link)) : NULL;
		if (!link)
			return;
		link->fd = info->connect_fd;
		link->since_ns = clock_monotonic_ns();
		(void)pthread_mutex_lock(&server->lock);
		link->next = server->links;
		if (link->next)
			link->next->previous = link;
		server->links = link;
		server->stats.connections++;
		(void)pthread_mutex_unlock(&server->lock);
		*context = link;
	} else if (link) {
		(void)pthread_mutex_lock(&server->lock);
		*(link->previous ? &link->previous->next : &server->links) = link->next;
		if (link->next)
			link->next->previous = link->previous;
		server->stats.connections--;
		(void)pthread_mutex_unlock(&server->lock);
		free(link);
		*context = NULL;
	}
}

static uint64_t limit_ns(const struct http_server *server, const struct link *link)
{
	const struct http_server_config *config = &server->config;

	return NS_PER_SEC * (link->answering && config->answer_timeout_s > 0
				     ? config->answer_timeout_s
				     : config->request_timeout_s);
}

void http_server_tidy(struct http_server *server)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct link *link;

	/* The library closes a descriptor after on_connection(): in the list it is valid. */
	(void)pthread_mutex_lock(&server->lock);
	for (link = server->links; link; link = link->next) {
		if (link->busy || link->ended || now_ns < link->since_ns + limit_ns(server, link))
			continue;
		(void)shutdown(link->fd, SHUT_RDWR); /* its thread sees the end and closes */
		link->ended = true;
		server->stats.timed_out++;
	}
	(void)pthread_mutex_unlock(&server->lock);
}

static void on_completed(void *self, struct MHD_Connection *connection, void **context,
			 enum MHD_RequestTerminationCode code)
{
	struct http_server *server = self;
	struct exchange *exchange = *context;

	(void)connection;
	(void)code; /* a client that went away is its own affair */
	if (!exchange)
		return;
	(void)pthread_mutex_lock(&server->lock);
	server->stats.bodies_bytes -= exchange->reserved;
	server->open--;
	if (exchange->link) {
		exchange->link->since_ns = clock_monotonic_ns();
		exchange->link->answering = false;
		exchange->link->busy = false;
	}
	(void)pthread_cond_broadcast(&server->changed);
	(void)pthread_mutex_unlock(&server->lock);
	bytes_fini(&exchange->body);
	bytes_fini(&exchange->refusal.body);
	free(exchange);
	*context = NULL;
}

__attribute__((format(printf, 2, 0))) static void on_log(void *self, const char *format,
							 va_list arguments)
{
	char line[256];

	(void)self;
	if (!log_wants(LOG_LEVEL_DEBUG))
		return;
	(void)vsnprintf(line, sizeof(line), format, arguments); /* a cut line is fine */
	line[strcspn(line, "\n")] = '\0';
	log_debug("http: %s", line);
}

static int parse_address(const struct http_server_config *config, struct sockaddr_storage *ret,
			 struct error *err)
{
	struct sockaddr_in *four = (void *)ret;
	struct sockaddr_in6 *six = (void *)ret;

	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, config->address, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(config->port);
		return 0;
	}
	if (inet_pton(AF_INET6, config->address, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons(config->port);
		return 0;
	}
	(void)error_set(err, -EINVAL, "%s is not a numeric address", config->address);
	error_remedy(err, "use 127.0.0.1:PORT, 0.0.0.0:PORT or [::]:PORT");
	return -EINVAL;
}

/* Our own socket: the library would not say why it could not listen. */
static int listen_on(const struct sockaddr_storage *address,
		     const struct http_server_config *config, struct error *err)
{
	socklen_t size = address->ss_family == AF_INET ? sizeof(struct sockaddr_in)
						       : sizeof(struct sockaddr_in6);
	int fd = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int yes = 1;
	int code;

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
	    bind(fd, (const struct sockaddr *)(const void *)address, size) == 0 &&
	    listen(fd, SOMAXCONN) == 0)
		return fd;
	code = -errno;
	if (fd >= 0)
		(void)close(fd); /* nobody has used it */
	(void)error_errno(err, code, "cannot listen on %s port %u", config->address, config->port);
	if (code == -EADDRINUSE)
		error_remedy(err, "another program listens there; choose another port with "
				  "--listen ADDRESS:PORT");
	return code;
}

static uint16_t port_of(int fd)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)(void *)&address, &size) < 0)
		return 0;
	return ntohs(address.ss_family == AF_INET
			     ? ((struct sockaddr_in *)(void *)&address)->sin_port
			     : ((struct sockaddr_in6 *)(void *)&address)->sin6_port);
}

static struct MHD_Daemon *start_daemon(struct http_server *server, int fd)
{
	const struct http_server_config *config = &server->config;
	unsigned int flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
			     MHD_USE_POLL | MHD_USE_ERROR_LOG | MHD_USE_ITC;
	struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)config->tls_cert},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)config->tls_key},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES},
		{MHD_OPTION_END, 0, NULL},
	};

	if (config->tls_cert)
		flags |= MHD_USE_TLS;
	else
		tls[0].option = MHD_OPTION_END;
	return MHD_start_daemon(
		flags, 0, NULL, NULL, on_request, server, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_CONNECTION_LIMIT,
		config->max_connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		config->max_connections_of_address, MHD_OPTION_CONNECTION_TIMEOUT,
		config->timeout_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_MEMORY_BYTES, MHD_OPTION_THREAD_STACK_SIZE,
		(size_t)THREAD_STACK_BYTES, MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

static void server_free(struct http_server *server)
{
	rate_limit_fini(&server->rate);
	http_streams_fini(&server->streams);
	(void)pthread_cond_destroy(&server->changed); /* nobody waits any more */
	(void)pthread_mutex_destroy(&server->lock);
	free(server);
}

static int refuse_start(const struct http_server_config *config, struct error *err)
{
	(void)error_set(err, -EINVAL, "cannot start the HTTP server%s",
			config->tls_cert ? " with this certificate and key" : "");
	error_remedy(err, config->tls_cert ? "both must be PEM files and belong together; for the "
					     "reason: WICK_LOG=debug wick server …"
					   : "for the reason: WICK_LOG=debug wick server …");
	return -EINVAL;
}

int http_server_start(const struct http_server_config *config, struct http_server **ret,
		      struct error *err)
{
	struct sockaddr_storage address;
	struct http_server *server;
	int r = parse_address(config, &address, err);
	int fd = r < 0 ? r : listen_on(&address, config, err);

	if (fd < 0)
		return fd;
	server = calloc(1, sizeof(*server));
	if (!server) {
		(void)close(fd); /* nobody has used it */
		return error_set(err, -ENOMEM, "out of memory");
	}
	server->config = *config;
	server->port = port_of(fd);
	rate_limit_init(&server->rate, config->requests_per_second, config->request_burst);
	(void)pthread_mutex_init(&server->lock, NULL); /* never fails on Linux */
	init_condition(&server->changed);
	r = http_streams_init(&server->streams, config->max_streams,
			      config->max_streams_of_address);
	server->daemon = r == 0 ? start_daemon(server, fd) : NULL;
	if (!server->daemon) {
		(void)close(fd); /* nobody has used it */
		server_free(server);
		return r < 0 ? error_errno(err, r, "cannot start the HTTP server")
			     : refuse_start(config, err);
	}
	*ret = server;
	return 0;
}

uint16_t http_server_port(const struct http_server *server)
{
	return server->port;
}

void http_server_stop(struct http_server *server, unsigned int drain_s)
{
	struct timespec until;
	int fd;
	int r = 0;

	if (!server)
		return;
	fd = MHD_quiesce_daemon(server->daemon);
	http_streams_stop(&server->streams);
	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += drain_s;
	(void)pthread_mutex_lock(&server->lock);
	while (server->open > 0 && r == 0)
		r = pthread_cond_timedwait(&server->changed, &server->lock, &until);
	(void)pthread_mutex_unlock(&server->lock);
	MHD_stop_daemon(server->daemon);
	if (fd >= 0)
		(void)close(fd); /* ours again after the quiescence */
	server_free(server);
}

void http_server_stats(struct http_server *server, struct http_server_stats *ret)
{
	(void)pthread_mutex_lock(&server->lock);
	*ret = server->stats;
	(void)pthread_mutex_unlock(&server->lock);
	ret->streams = http_streams_count(&server->streams);
}
