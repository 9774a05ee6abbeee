/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "net/http_access.h"
#include "net/http_browser.h"
#include "net/rate_limit.h"
#include "server/login_body.h"

/* A browser forgets a token after this time at the latest. */
#define COOKIE_MAX_S (7 * 86400u)

static uint64_t now(void)
{
	return clock_realtime_ns() / NS_PER_SEC;
}

void session_put(struct http_access *access, const struct session_source *source,
		 const struct http_call *request, struct http_response *response)
{
	struct http_grant grant;
	struct json json;
	size_t i;

	http_access_grant(access, request, &grant);
	json_init(&json, &response->body, false);
	json_open_object(&json, NULL);
	json_string(&json, "version", WICK_VERSION);
	json_string(&json, "source", source->kind);
	json_bool(&json, "tokens", grant.has_tokens);
	/* A token for pushes shows nothing. */
	json_string(&json, "access",
		    token_allows(grant.access, TOKEN_READ) ? token_access_name(grant.access)
							   : "none");
	json_string(&json, "who", grant.who);
	json_open_array(&json, "has");
	for (i = 0; source->has[i]; i++)
		json_string(&json, NULL, source->has[i]);
	json_close(&json);
	json_u64(&json, "now", now());
	json_close(&json);
	bytes_put_u8(&response->body, '\n');
}

static void set_cookie(const struct http_access *access, const struct http_call *request,
		       const char *value, uint64_t max_age_s, struct http_response *response)
{
	bool has_tls = access->tls_cert != NULL;
	char name[HTTP_COOKIE_NAME_MAX];

	http_cookie_name(http_call_header(request, "Host"), has_tls, name);
	(void)snprintf(response->cookie, sizeof(response->cookie),
		       "%s=%s; Path=/; HttpOnly; SameSite=Strict; Max-Age=%" PRIu64 "%s", name,
		       value, max_age_s, has_tls ? "; Secure" : ""); /* it fits */
}

static bool refuse_page(const struct http_access *access, const struct http_call *request,
			struct http_response *response)
{
	const char *why = http_access_page_refusal(access, request);

	if (why)
		http_refuse(response, 403, "%s", why);
	return why != NULL;
}

/* The same answer to what has the wrong form and to what is not in the list. */
static void check_token(struct http_access *access, const struct http_call *request,
			const char *secret, struct http_response *response,
			char ret_who[HTTP_WHO_MAX])
{
	struct token token;
	uint64_t left_s = COOKIE_MAX_S;

	if (!http_access_find(access, secret, &token)) {
		http_refuse(response, 401, "the token is unknown or has expired");
		return;
	}
	(void)snprintf(ret_who, HTTP_WHO_MAX, "%s %.60s", token.id, token.name);
	if (!token_allows(token.access, TOKEN_READ)) {
		http_refuse(response, 403, "this needs a token for read, and this one is for %s",
			    token_access_name(token.access));
		return;
	}
	if (token.expires_s > 0 && token.expires_s - now() < left_s)
		left_s = token.expires_s - now();
	set_cookie(access, request, secret, left_s, response);
	bytes_printf(&response->body, "{\"access\": \"%s\"}\n", token_access_name(token.access));
}

void session_login(struct http_access *access, struct rate_limit *tries,
		   const struct http_call *request, struct http_response *response,
		   char ret_who[HTTP_WHO_MAX])
{
	char secret[TOKEN_SECRET_MAX];
	uint32_t wait_s;

	ret_who[0] = '\0';
	if (refuse_page(access, request, response))
		return;
	wait_s = rate_limit_take(tries, request->client, clock_monotonic_ns());
	if (wait_s > 0) {
		http_refuse(response, 429, "too many logins; wait %" PRIu32 " s", wait_s);
		response->retry_after_s = wait_s;
	} else if (!login_body_read(request->body, request->body_size, secret)) {
		http_refuse(response, 400, "the body must be {\"token\": \"wick_...\"}");
	} else {
		check_token(access, request, secret, response, ret_who);
	}
	explicit_bzero(secret, sizeof(secret));
}

void session_logout(struct http_access *access, const struct http_call *request,
		    struct http_response *response)
{
	if (refuse_page(access, request, response))
		return;
	set_cookie(access, request, "", 0, response);
	bytes_printf(&response->body, "{}\n");
}
