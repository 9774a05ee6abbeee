/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/parts/server_request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "net/http_client.h"

#define ANSWER_MAX_BYTES (1ull << 30)
#define TIMEOUT_MS 120000

void server_request_path(struct server_request *request, const char *path)
{
	bytes_clear(&request->path);
	request->parameters = 0;
	bytes_printf(&request->path, "%s", path);
}

void server_request_add(struct server_request *request, const char *name, const char *value)
{
	if (!value)
		return;
	bytes_printf(&request->path, "%c%s=", request->parameters++ == 0 ? '?' : '&', name);
	http_url_put(&request->path, value);
}

static int token_remedy(int code, struct error *err)
{
	error_remedy(err, "set WICK_TOKEN to a token of the server (wick token add)");
	return code;
}

/* Makes an error of an answer that is one. */
static int refuse(const struct http_answer *answer, struct error *err)
{
	json_t *root = json_loadb((const char *)answer->body.data, answer->body.size, 0, NULL);
	const char *text = json_string_value(json_object_get(root, "error"));
	const char *remedy = json_string_value(json_object_get(root, "remedy"));
	int code = answer->status == 404 ? -ENOENT : answer->status >= 500 ? -EIO : -EINVAL;

	(void)error_set(err, code, "the server answered %d: %s", answer->status,
			text ? text : "it gave no reason");
	if (answer->status == 401 || answer->status == 403)
		(void)token_remedy(code, err);
	else if (remedy)
		error_remedy(err, "%s", remedy);
	else
		error_remedy(err, "its log and its version may say more: wick server --help");
	json_decref(root);
	return code;
}

int server_request_send(const struct server_request *request, struct bytes *ret, struct error *err)
{
	struct http_client_config config = {.token = getenv("WICK_TOKEN"),
					    .ca_file = request->ca_file,
					    .timeout_ms = TIMEOUT_MS};
	struct http_client *client = NULL;
	struct http_answer answer = {0};
	struct bytes url = {0};
	struct http_request http = {.method = request->body ? "POST" : "GET",
				    .max_answer_bytes = ANSWER_MAX_BYTES};
	size_t n = strlen(request->server);
	int r = http_url_check(request->server, err);

	while (n > 0 && request->server[n - 1] == '/')
		n--;
	bytes_printf(&url, "%.*s%.*s", (int)n, request->server, (int)request->path.size,
		     (const char *)request->path.data);
	bytes_put_u8(&url, '\0');
	if (r == 0 && (url.failed || request->path.failed))
		r = error_set(err, -ENOMEM, "out of memory");
	http.url = (const char *)url.data;
	if (request->body) {
		http.body = request->body->data;
		http.body_bytes = request->body->size;
	}
	if (r == 0)
		r = http_client_new(&config, &client, err);
	if (r == 0)
		r = http_client_send(client, &http, &answer, err);
	if (r == 0 && answer.status / 100 != 2)
		r = refuse(&answer, err);
	if (r == 0) {
		*ret = answer.body;
		answer.body = (struct bytes){0};
	}
	http_answer_fini(&answer);
	http_client_free(client);
	bytes_fini(&url);
	return r;
}

void server_request_fini(struct server_request *request)
{
	bytes_fini(&request->path);
}
