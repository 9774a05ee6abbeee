/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/names/debuginfod_client.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "net/http_client.h"
#include "server/names/symbol_folder.h"

#define VARIABLE "DEBUGINFOD_URLS"
#define CONNECT_TIMEOUT_MS 5000u

struct debuginfod_server {
	char *url;
	uint64_t rests_until_ns; /* monotonic; 0: it does not */
};

struct debuginfod_client {
	VEC(struct debuginfod_server) servers;
	struct http_client *http;
	atomic_bool cancel;
	atomic_uint_fast64_t fetched;
	atomic_uint_fast64_t bytes;
	atomic_uint_fast64_t failures;
};

static int add_url(struct debuginfod_client *client, const char *text, size_t n, struct error *err)
{
	char *url;
	int r;

	while (n > 0 && text[n - 1] == '/')
		n--;
	url = strndup(text, n);
	if (!url)
		return error_set(err, -ENOMEM, "out of memory");
	r = http_url_check(url, err);
	if (r == 0 && vec_push(&client->servers, (struct debuginfod_server){.url = url}) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r < 0)
		free(url);
	return r;
}

/* They are separated by spaces. */
static int add_variable(struct debuginfod_client *client, struct error *err)
{
	const char *text = getenv(VARIABLE);
	int r = 0;

	if (!text || !*text) {
		(void)error_set(err, -EINVAL, "there is no debuginfod server: %s is not set",
				VARIABLE);
		error_remedy(err, "set it, or name a server with --debuginfod URL");
		return -EINVAL;
	}
	while (*text && r == 0) {
		size_t n = strcspn(text, " ");

		if (n > 0)
			r = add_url(client, text, n, err);
		text += n + (text[n] == ' ');
	}
	return r;
}

int debuginfod_client_new(const char *const *urls, size_t count, struct debuginfod_client **ret,
			  struct error *err)
{
	struct debuginfod_client *client = calloc(1, sizeof(*client));
	struct http_client_config http = {.connect_timeout_ms = CONNECT_TIMEOUT_MS,
					  .timeout_ms = DEBUGINFOD_TIMEOUT_MS};
	int r = 0;

	if (!client)
		return error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < count && r == 0; i++)
		r = strcmp(urls[i], VARIABLE) == 0 ? add_variable(client, err)
						   : add_url(client, urls[i], strlen(urls[i]), err);
	if (r == 0)
		r = http_client_new(&http, &client->http, err);
	if (r < 0)
		debuginfod_client_free(client);
	else
		*ret = client;
	return r;
}

void debuginfod_client_free(struct debuginfod_client *client)
{
	if (!client)
		return;
	http_client_free(client->http);
	for (size_t i = 0; i < client->servers.count; i++)
		free(client->servers.items[i].url);
	vec_fini(&client->servers);
	free(client);
}

static int refuse_status(const char *url, int status, struct error *err)
{
	if (status == 404)
		return -ENOENT;
	(void)error_set(err, -EPROTO, "%s answers %d", url, status);
	error_remedy(err, "check that it is a debuginfod server: --debuginfod URL");
	return -EPROTO;
}

static int fetch_from(struct debuginfod_client *client, struct debuginfod_server *server,
		      const struct build_id *id, struct symbol_folder *folder, struct error *err)
{
	char hex[2 * BUILD_ID_MAX + 1];
	struct bytes url = {0};
	struct http_request request = {.method = "GET",
				       .max_answer_bytes = DEBUGINFOD_MAX_BYTES,
				       .cancel = &client->cancel};
	struct http_answer answer = {0};
	int r;

	build_id_format(id, hex);
	bytes_printf(&url, "%s/buildid/%s/debuginfo", server->url, hex);
	bytes_put_u8(&url, '\0');
	if (url.failed)
		return error_set(err, -ENOMEM, "out of memory");
	request.url = (const char *)url.data;
	r = http_client_send(client->http, &request, &answer, err);
	/* Each question to a server that hangs takes long, and there may be many. */
	if (r == -ETIMEDOUT || r == -ECONNREFUSED)
		server->rests_until_ns = clock_monotonic_ns() + DEBUGINFOD_REST_S * NS_PER_SEC;
	if (r == 0 && answer.status != 200)
		r = refuse_status(server->url, answer.status, err);
	else if (r == 0)
		r = symbol_folder_keep(folder, id, answer.body.data, answer.body.size, err);
	if (r == 0)
		atomic_fetch_add(&client->bytes, answer.body.size);
	http_answer_fini(&answer);
	bytes_fini(&url);
	return r;
}

int debuginfod_client_fetch(struct debuginfod_client *client, const struct build_id *id,
			    struct symbol_folder *folder, struct error *err)
{
	int result = -EAGAIN;

	for (size_t i = 0; i < client->servers.count; i++) {
		struct debuginfod_server *server = &client->servers.items[i];
		int r;

		if (server->rests_until_ns > clock_monotonic_ns())
			continue;
		r = fetch_from(client, server, id, folder, err);
		if (r == 0) {
			atomic_fetch_add(&client->fetched, 1);
			return 0;
		}
		if (r != -ENOENT || result == -EAGAIN)
			result = r;
	}
	if (result != -ENOENT && result != -ECANCELED && result != -EAGAIN)
		atomic_fetch_add(&client->failures, 1);
	return result;
}

void debuginfod_client_cancel(struct debuginfod_client *client)
{
	if (client)
		atomic_store(&client->cancel, true);
}

struct debuginfod_stats debuginfod_client_stats(struct debuginfod_client *client)
{
	if (!client)
		return (struct debuginfod_stats){0};
	return (struct debuginfod_stats){
		.fetched = atomic_load(&client->fetched),
		.bytes = atomic_load(&client->bytes),
		.failures = atomic_load(&client->failures),
	};
}
