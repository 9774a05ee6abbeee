/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_NET_HTTP_ACCESS_H
#define WICK_NET_HTTP_ACCESS_H

/*
 * http_access: who may use an HTTP server of ours. A server that other machines can reach must have
 * TLS and tokens. A client sends its token as Authorization: Bearer or, if it cannot do that, as
 * the password of Authorization: Basic. Any thread may call.
 */

#include <pthread.h>
#include <stdbool.h>

#include "net/token.h"

struct error;
struct http_call;
struct http_response;

struct http_access_config {
	const char *address;
	const char *tls_cert_path; /* NULL: no TLS */
	const char *tls_key_path;
	const char *token_path;
	const char *token_folder; /* what --data of wick token would be, for remedies */
	bool always;              /* tokens are needed on this machine too */
};

struct http_access {
	struct http_access_config config;
	pthread_rwlock_t lock;
	struct tokens tokens;
	char *tls_cert; /* PEM texts; NULL: no TLS */
	char *tls_key;
};

/*
 * Reads tokens and certificates, and checks that the address may be used. Borrows the texts. The
 * caller releases it with http_access_close(), also after a failure.
 */
int http_access_open(struct http_access *access, const struct http_access_config *config,
		     struct error *err);
void http_access_close(struct http_access *access);

/* Reads the tokens again. If that fails, the old ones stay. */
int http_access_reload(struct http_access *access, struct error *err);

/* For http_server_config.admit: by request->route->access, which is an enum token_access. */
unsigned int http_access_check(struct http_access *access, struct http_call *request,
			       struct http_response *response);

#endif
