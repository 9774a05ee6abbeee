/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_SESSION_H
#define WICK_SERVER_SESSION_H

/*
 * session: who looks at the web page, and what it can show.
 *
 * A page never keeps a token: a login puts it in a cookie that scripts cannot read. There is no
 * state on the server: the cookie is the token, and is checked like one.
 */

#include "net/http_server.h"

struct http_access;
struct rate_limit;

struct session_source {
	const char *kind;       /* "store" or "files" */
	const char *const *has; /* what it can answer beyond profiles, NULL last */
};

/* What GET /api/session answers. */
void session_put(struct http_access *access, const struct session_source *source,
		 const struct http_call *request, struct http_response *response);

/*
 * POST /api/login: {"token": "wick_..."}. Clients that try too often have to wait. ret_who is who
 * logs in; "": nobody.
 */
void session_login(struct http_access *access, struct rate_limit *tries,
		   const struct http_call *request, struct http_response *response,
		   char ret_who[HTTP_WHO_MAX]);

/* POST /api/logout */
void session_logout(struct http_access *access, const struct http_call *request,
		    struct http_response *response);

/* How often a client may try to log in: this often at once, then once in this many seconds. */
#define SESSION_TRIES 10
#define SESSION_TRIES_PER_SECOND 0.2

#endif
