/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "base/error.h"
#include "net/http_server.h"

/* Built without libmicrohttpd. */

bool http_server_is_built(void)
{
	return false;
}

const char *http_call_header(const struct http_call *request, const char *name)
{
	return NULL;
}

const char *http_call_query(const struct http_call *request, const char *name)
{
	return NULL;
}

const char *http_call_cookie(const struct http_call *request, const char *name)
{
	return NULL;
}

int http_server_start(const struct http_server_config *config, struct http_server **ret,
		      struct error *err)
{
	(void)error_set(err, -EOPNOTSUPP, "this wick was built without an HTTP server");
	error_remedy(err, "install libmicrohttpd-dev and build wick again");
	return -EOPNOTSUPP;
}

uint16_t http_server_port(const struct http_server *server)
{
	return 0;
}

void http_server_tidy(struct http_server *server)
{
}

void http_server_stop(struct http_server *server, unsigned int drain_s)
{
}

void http_server_stats(struct http_server *server, struct http_server_stats *ret)
{
	*ret = (struct http_server_stats){0};
}
