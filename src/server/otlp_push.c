/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "server/push.h"
#include "server/routes.h"

void route_otlp_push(void *self, const struct http_call *request, struct http_response *response)
{
	struct server *server = self;
	const char *type = http_call_header(request, "Content-Type");
	struct push_foreign push = {.format = "otlp", .input = {.host = request->client}};
	struct bytes body = {0};
	struct error err = {0};
	int r = push_body(server, request, &body, &err);

	if (r == 0 && type && strncasecmp(type, "application/json", 16) == 0) {
		r = error_set(&err, -EOPNOTSUPP,
			      "the server cannot read OpenTelemetry profiles in JSON");
		error_remedy(&err,
			     "send application/x-protobuf, which is the default of exporters");
	}
	push.data = body.data;
	push.size = body.size;
	if (r == 0)
		r = push_foreign(server, &push, &err);
	bytes_fini(&body);
	if (r < 0)
		http_refuse_error(response, 0, &err);
	else
		response->type = "application/x-protobuf"; /* the empty message: all accepted */
}
