/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "server/push/otlp_messages.h"
#include "server/push/push.h"
#include "server/routes.h"

/* JSON becomes protobuf: there is one reader. */
static int from_json(struct bytes *body, struct error *err)
{
	struct bytes message = {0};
	json_t *root = connect_read(otlp_profiles_request, body->data, body->size, true, err);

	if (!root)
		return err->code;
	connect_write(otlp_profiles_request, root, false, &message);
	json_decref(root);
	bytes_fini(body);
	*body = message;
	return message.failed ? error_set(err, -ENOMEM, "out of memory") : 0;
}

void route_otlp_push(void *self, const struct http_call *request, struct http_response *response)
{
	struct server *server = self;
	const char *type = http_call_header(request, "Content-Type");
	bool is_json = type && strncasecmp(type, "application/json", 16) == 0;
	struct push_foreign push = {.format = "otlp", .input = {.host = request->client}};
	struct bytes body = {0};
	struct error err = {0};
	int r = push_body(server, request, &body, &err);

	if (r == 0 && is_json)
		r = from_json(&body, &err);
	push.data = body.data;
	push.size = body.size;
	if (r == 0)
		r = push_foreign(server, &push, &err);
	bytes_fini(&body);
	if (r < 0)
		http_refuse_error(response, 0, &err);
	else if (is_json)
		bytes_printf(&response->body, "{}\n"); /* all accepted */
	else
		response->type = "application/x-protobuf"; /* the empty message: the same */
}
