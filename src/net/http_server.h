/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_NET_HTTP_SERVER_H
#define WICK_NET_HTTP_SERVER_H

/*
 * http_server: HTTP/1.1 for a table of routes.
 *
 * Each connection has a thread; handlers run on it and may block. What a client can make us hold is
 * bounded: connections in all and from one address, the size of a body, the sum of all bodies, the
 * number of handlers that run at once, requests in a second, answers without an end, the time
 * without progress and the time of a whole request.
 *
 * It knows nothing about tokens: config->admit() decides, before the body is read.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct error;
struct http_server;

#define HTTP_WHO_MAX 80

struct http_route;

/* What a handler sees. Texts are valid during the call. */
struct http_call {
	const struct http_route *route;
	const char *path;
	const char *tail; /* what stands for the name in braces of the route; "": it has none */
	const uint8_t *body;
	size_t body_size;
	char client[64];        /* address */
	char who[HTTP_WHO_MAX]; /* set by admit(); "" for everybody */
	uint64_t id;            /* counts requests */
	void *connection;       /* private */
};

/* NULL if there is none. Names of headers are not case-sensitive. */
const char *http_call_header(const struct http_call *request, const char *name);
const char *http_call_query(const struct http_call *request, const char *name);
const char *http_call_cookie(const struct http_call *request, const char *name);

#define HTTP_COOKIE_MAX 256

/* An answer without an end: text for a client that waits for news. */
struct http_stream {
	/*
	 * Appends what is to be sent now, and says after which time to call it again at the latest.
	 * Returns false to end. Called on the thread of the connection, without a handler's slot.
	 */
	bool (*next)(void *self, struct bytes *out, uint64_t *ret_wait_ms);
	void (*free)(void *self);
	void *self;
	int wake_fd; /* an eventfd: when it can be read, next() is called at once; -1: none */
};

/* What it answers; zeros are "200 OK" without a body. The server releases the body. */
struct http_response {
	unsigned int status;
	struct bytes body;
	const char *type;        /* NULL: application/json; must be a constant */
	const char *disposition; /* Content-Disposition: a constant; NULL: none */
	const char *policy;      /* Content-Security-Policy: a constant; NULL: nothing is allowed */
	const char *hash;        /* of a file that may be kept: a constant; NULL: it may not */
	uint32_t retry_after_s;  /* 0: none */
	char gate[16];           /* X-Wick-Gate; "": none */
	char cookie[HTTP_COOKIE_MAX]; /* Set-Cookie; "": none */
	struct http_stream stream;    /* in place of the body; next NULL: none */
};

/* What an error means to a client: 4xx: it should not send the same again. */
unsigned int http_status_of(int code);

/* Answers with {"error": …, "remedy": …}. */
void http_refuse(struct http_response *response, unsigned int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same from an error. The status follows from its code, unless one is given (not 0). */
void http_refuse_error(struct http_response *response, unsigned int status,
		       const struct error *err);

typedef void http_handler(void *self, const struct http_call *request,
			  struct http_response *response);

struct http_route {
	const char *method;  /* "GET" or "POST" */
	const char *path;    /* exact; the last part may be a name in braces: any text */
	unsigned int access; /* for admit() */
	http_handler *handle;
	bool light; /* runs even if all slots are taken: /healthz */
};

struct http_server_config {
	const char *address;  /* numeric: "127.0.0.1", "::1" */
	uint16_t port;        /* 0: any free one */
	const char *tls_cert; /* PEM texts; NULL: no TLS */
	const char *tls_key;
	size_t max_body_bytes;
	size_t max_bodies_bytes; /* of all requests together */
	unsigned int max_connections;
	unsigned int max_connections_of_address;
	unsigned int max_running; /* handlers at once */
	unsigned int max_streams;
	unsigned int max_streams_of_address;
	unsigned int timeout_s;         /* without progress */
	unsigned int request_timeout_s; /* for all of a request, and for all of its answer */
	unsigned int answer_timeout_s;  /* for all of an answer instead; 0: the same */
	double requests_per_second;     /* of one client; 0: no limit */
	double request_burst;
	const struct http_route *routes;
	size_t route_count;
	void *self; /* for the callbacks and handlers */
	/* Returns 0, or the status of a refusal; fills request->who. */
	unsigned int (*admit)(void *self, struct http_call *request,
			      struct http_response *response);
	/* After each answer; optional. */
	void (*done)(void *self, const struct http_call *request,
		     const struct http_response *response, size_t body_bytes, uint64_t took_ns);
};

/* clang-format off */
#define HTTP_SERVER_LIMITS                                                                         \
	.max_body_bytes = 32u << 20, .max_bodies_bytes = 256u << 20, .max_connections = 1000,      \
	.max_connections_of_address = 600, .max_running = 8, .timeout_s = 30,                      \
	.max_streams = 64, .max_streams_of_address = 16,                                           \
	.request_timeout_s = 120,                                                                  \
	.requests_per_second = 200, .request_burst = 400
/* clang-format on */

/* Whether this wick was built with a server. */
bool http_server_is_built(void);

/* Starts to listen. Keeps config's pointers until the stop. */
int http_server_start(const struct http_server_config *config, struct http_server **ret,
		      struct error *err);
uint16_t http_server_port(const struct http_server *server);

/*
 * Ends connections whose client takes too long to send a request or to read the answer, though it
 * makes a little progress. Call it every now and then.
 */
void http_server_tidy(struct http_server *server);

/* Accepts no new connections, waits up to drain_s for requests under way, and stops. */
void http_server_stop(struct http_server *server, unsigned int drain_s); /* NULL is fine */

/* What /metrics shows. */
struct http_server_stats {
	uint64_t requests;
	uint64_t refused;      /* before a handler ran */
	uint64_t bodies_bytes; /* held now */
	uint64_t timed_out;    /* connections that took too long */
	unsigned int connections;
	unsigned int running;
	unsigned int streams;
};
void http_server_stats(struct http_server *server, struct http_server_stats *ret);

#endif
