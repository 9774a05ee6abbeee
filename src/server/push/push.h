/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_PUSH_PUSH_H
#define WICK_SERVER_PUSH_PUSH_H

/* push: what the routes that receive profiles have in common. Private to src/server. */

#include "base/bytes.h"
#include "net/http_server.h"
#include "server/push/ingest.h"
#include "server/push/window.h"
#include "server/state.h"

/* The body without its Content-Encoding, up to the limit of the server. */
int push_body(struct server *server, const struct http_call *request, struct bytes *ret,
	      struct error *err);

/*
 * Stores a window, and tells those who watch its services. ret_watched: somebody watches one of
 * them by name; may be NULL.
 */
int push_store(struct server *server, const struct ingest_input *input, bool *ret_watched,
	       struct ingest_result *ret, struct error *err);

/* Counts a push for /metrics; r is the result of ingest(). */
void push_count(struct server *server, const struct ingest_result *result, int r);

/* A profile in a format of another tool. */
struct push_foreign {
	const void *data;
	size_t size;
	const char *format; /* "folded", "pprof", "otlp" */
	struct ingest_input input;
};

/* Converts and stores it. */
int push_foreign(struct server *server, struct push_foreign *push, struct error *err);

#endif
