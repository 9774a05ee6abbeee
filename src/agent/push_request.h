/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_PUSH_REQUEST_H
#define WICK_AGENT_PUSH_REQUEST_H

/*
 * push_request: the HTTP requests that bring a window to a server, in the protocol that it speaks.
 *
 * The same window always makes the same requests: if one fails, sending continues with that one.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/vec.h"

struct error;

enum push_format {
	PUSH_AS_WICK,             /* the recording itself */
	PUSH_AS_PYROSCOPE,        /* push.v1: all profiles in one request */
	PUSH_AS_PYROSCOPE_INGEST, /* /ingest: a request for each profile */
	PUSH_AS_OTLP,             /* OpenTelemetry profiles, v1development */
};

struct push_window {
	const void *data; /* a recording */
	size_t size;
	const char *id;
	const char *host;
};

struct push_request {
	char *path;                 /* with its parameters */
	const char *const *headers; /* NULL last; constants */
	struct bytes body;          /* empty: the window itself */
};

struct push_requests {
	VEC(struct push_request) items;
};

/* The caller releases it with push_requests_fini(), also after a failure. */
int push_requests_make(struct push_requests *requests, enum push_format format,
		       const struct push_window *window, struct error *err);
void push_requests_fini(struct push_requests *requests);

/*
 * What an answer with the status 200 says about a part that was not stored; OpenTelemetry does
 * that. Returns how many profiles, and the reason as text.
 */
uint64_t push_request_rejected(enum push_format format, const struct bytes *answer, char *ret_why,
			       size_t size);

#endif
