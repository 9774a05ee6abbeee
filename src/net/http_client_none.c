/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "base/error.h"
#include "net/http_client.h"

/* Built without the headers of libcurl. */
static int refuse(struct error *err)
{
	(void)error_set(err, -EOPNOTSUPP,
			"cannot send over HTTP: this wick was built without libcurl");
	error_remedy(err, "install libcurl4-openssl-dev and build wick again");
	return -EOPNOTSUPP;
}

int http_client_new(const struct http_client_config *config, struct http_client **ret,
		    struct error *err)
{
	(void)config;
	(void)ret;
	return refuse(err);
}

void http_client_free(struct http_client *client)
{
	(void)client;
}

int http_client_send(struct http_client *client, const struct http_request *request,
		     struct http_answer *ret, struct error *err)
{
	(void)client;
	(void)request;
	*ret = (struct http_answer){0};
	return refuse(err);
}

void http_answer_fini(struct http_answer *answer)
{
	bytes_fini(&answer->body);
}
