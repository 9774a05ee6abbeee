/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/http_headers.h"

#include <stdio.h>

#include <microhttpd.h>

#include "net/http_server.h"

/* Answers are data: a browser that shows one as a document runs nothing in it. */
#define DATA_POLICY "default-src 'none'; frame-ancestors 'none'; sandbox"

static void add(struct MHD_Response *out, const char *name, const char *value)
{
	(void)MHD_add_response_header(out, name, value); /* an answer without it is still one */
}

/* A file of ours may be kept, but each use asks whether it has changed. */
static void add_cache(struct MHD_Response *out, const char *hash)
{
	char tag[64];

	add(out, "Cache-Control", hash ? "no-cache" : "no-store");
	if (!hash)
		return;
	(void)snprintf(tag, sizeof(tag), "\"%s\"", hash);
	add(out, "ETag", tag);
}

void http_headers_add(struct MHD_Response *out, const struct http_response *response)
{
	char number[16];

	add(out, "Content-Type", response->type ? response->type : "application/json");
	add(out, "X-Content-Type-Options", "nosniff");
	add(out, "Referrer-Policy", "no-referrer");
	add(out, "Cross-Origin-Resource-Policy", "same-origin");
	add(out, "Content-Security-Policy", response->policy ? response->policy : DATA_POLICY);
	add_cache(out, response->hash);
	if (response->disposition)
		add(out, "Content-Disposition", response->disposition);
	if (response->cookie[0])
		add(out, "Set-Cookie", response->cookie);
	if (response->gate[0])
		add(out, "X-Wick-Gate", response->gate);
	if (response->status == MHD_HTTP_UNAUTHORIZED)
		add(out, "WWW-Authenticate", "Bearer");
	if (response->retry_after_s > 0) {
		(void)snprintf(number, sizeof(number), "%u", response->retry_after_s);
		add(out, "Retry-After", number);
	}
}
