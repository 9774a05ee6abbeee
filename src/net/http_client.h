/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_NET_HTTP_CLIENT_H
#define WICK_NET_HTTP_CLIENT_H

/*
 * http_client: sends HTTP requests through libcurl, which is loaded at run time: commands that send
 * nothing do not pay for it.
 *
 * Certificates are always verified. Redirects are not followed: they could lead a token to another
 * host. Connections are reused. A client is used by one thread at a time; several clients may be
 * used at once.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct error;
struct http_client;

struct http_client_config {
	const char *token;           /* sent as Authorization: Bearer; NULL: none; copied */
	const char *ca_file;         /* certificates to trust; NULL: the system's; copied */
	uint64_t connect_timeout_ms; /* 0: 10 s */
	uint64_t timeout_ms;         /* of a whole request; 0: 60 s */
};

struct http_request {
	const char *method; /* "GET", "POST" */
	const char *url;
	const char *const *headers; /* "Name: value", NULL last; NULL: none */
	const void *body;
	size_t body_bytes;
	size_t max_answer_bytes; /* a longer body is an error; 0: 1 MiB */
	/* Becoming true ends the request with -ECANCELED within a second; NULL: never. */
	const atomic_bool *cancel;
};

struct http_answer {
	int status;             /* 200, 404 … */
	uint64_t retry_after_s; /* what Retry-After says; 0: nothing */
	struct bytes body;      /* with a final zero that is not counted */
};

/* -EOPNOTSUPP if libcurl is not there. The caller releases *ret with http_client_free(). */
int http_client_new(const struct http_client_config *config, struct http_client **ret,
		    struct error *err);
void http_client_free(struct http_client *client); /* NULL is fine */

/*
 * Returns 0 for any answer, even one that reports an error, or a negative errno if there was no
 * answer. The caller releases the answer with http_answer_fini(), in any case.
 */
int http_client_send(struct http_client *client, const struct http_request *request,
		     struct http_answer *ret, struct error *err);
void http_answer_fini(struct http_answer *answer);

/* Checks that a text is an http or https URL with a host. */
int http_url_check(const char *url, struct error *err);

/* Appends a text as the value of a parameter: what has a meaning in a URL is escaped. */
void http_url_put(struct bytes *out, const char *text);

#endif
