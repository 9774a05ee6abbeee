/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_NET_HTTP_ACCESS_H
#define WICK_NET_HTTP_ACCESS_H

/*
 * http_access: who may use an HTTP server of ours. A server that other machines can reach must have
 * TLS and tokens. A client sends its token as Authorization: Bearer or, if it cannot do that, as
 * the password of Authorization: Basic. A browser sends the cookie that a login gave it. With a
 * cookie, or if there are no tokens, http_browser.h decides which pages may ask. Any thread may
 * call.
 */

#include <pthread.h>
#include <stdbool.h>

#include "net/http_server.h"
#include "net/token.h"

struct error;
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

/* What a request may do, and who asks. */
struct http_grant {
	enum token_access access; /* TOKEN_NONE: nothing */
	bool has_tokens;          /* the server has tokens: without one, a request may do nothing */
	char id[TOKEN_ID_MAX];    /* of its token; "": none */
	char who[HTTP_WHO_MAX];
	unsigned int status; /* of a refusal; 0: none */
	const char *why;
};
void http_access_grant(struct http_access *access, const struct http_call *request,
		       struct http_grant *ret);

/* Whether the token with this id still allows this. For "": whether no token is needed. */
bool http_access_holds(struct http_access *access, const char *id, enum token_access needs);

/* The token with this secret; false: it is unknown or has expired. */
bool http_access_find(struct http_access *access, const char *secret, struct token *ret);

/* Why a page may not ask this, whatever it knows; NULL: it may, or no page asks. */
const char *http_access_page_refusal(const struct http_access *access,
				     const struct http_call *request);

/* For http_server_config.admit: by request->route->access, which is an enum token_access. */
unsigned int http_access_check(struct http_access *access, struct http_call *request,
			       struct http_response *response);

#endif
