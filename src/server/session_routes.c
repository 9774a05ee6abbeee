/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/routes.h"
#include "server/session.h"
#include "server/state.h"

void route_session(void *self, const struct http_call *request, struct http_response *response)
{
	static const char *const has[] = {"agents", "releases", "hosts", "live", "burst", NULL};
	static const struct session_source source = {"store", has};
	struct server *server = self;

	session_put(&server->access, &source, request, response);
}

void route_login(void *self, const struct http_call *request, struct http_response *response)
{
	struct server *server = self;
	struct http_call known = *request;

	session_login(&server->access, &server->login_rate, request, response, known.who);
	audit_add(&server->audit, &known, response->status ? response->status : 200, "");
}

void route_logout(void *self, const struct http_call *request, struct http_response *response)
{
	struct server *server = self;

	session_logout(&server->access, request, response);
}
