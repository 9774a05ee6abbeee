/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/http_client.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "base/error.h"
#include "base/number.h"
#include "base/scope.h"
#include "base/vec.h"

/* The ABI of this name has not changed since 2006. */
#define FILE_NAME "libcurl.so.4"
#define CONNECT_MS 10000u
#define REQUEST_MS 60000u
#define MAX_ANSWER_BYTES (1u << 20)
#define RETRY_AFTER "retry-after:"

/* The functions of libcurl that are used. */
struct curl_library {
	CURLcode (*global_init)(long flags);
	CURL *(*easy_init)(void);
	void (*easy_cleanup)(CURL *handle);
	void (*easy_reset)(CURL *handle);
	CURLcode (*easy_setopt)(CURL *handle, CURLoption option, ...);
	CURLcode (*easy_getinfo)(CURL *handle, CURLINFO info, ...);
	CURLcode (*easy_perform)(CURL *handle);
	const char *(*easy_strerror)(CURLcode code);
	struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
	void (*slist_free_all)(struct curl_slist *list);
};

#define FUNCTION(name)                                                                             \
	{                                                                                          \
		"curl_" #name, offsetof(struct curl_library, name)                                 \
	}

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
	FUNCTION(global_init),    FUNCTION(easy_init),     FUNCTION(easy_cleanup),
	FUNCTION(easy_reset),     FUNCTION(easy_setopt),   FUNCTION(easy_getinfo),
	FUNCTION(easy_perform),   FUNCTION(easy_strerror), FUNCTION(slist_append),
	FUNCTION(slist_free_all),
};

struct http_client {
	struct curl_library curl;
	CURL *handle;
	char *authorization; /* header; NULL: none */
	char *ca_file;
	long connect_timeout_ms;
	long timeout_ms;
	char problem[CURL_ERROR_SIZE];
};

/* One request. */
struct exchange {
	const struct http_request *request;
	struct http_answer *answer;
	size_t max_bytes;
	bool too_large;
};

static int refuse(struct error *err)
{
	const char *why = dlerror();

	(void)error_set(err, -EOPNOTSUPP, "cannot send over HTTP: %.300s",
			why ? why : FILE_NAME " is not usable");
	error_remedy(err, "install libcurl: sudo apt install libcurl4");
	return -EOPNOTSUPP;
}

/* It is never closed: the libraries that it loads do not support unloading. */
static int load(struct curl_library *curl, struct error *err)
{
	void *handle = dlopen(FILE_NAME, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; i < ARRAY_SIZE(functions); i++) {
		void *symbol = handle ? dlsym(handle, functions[i].name) : NULL;

		if (!symbol)
			return refuse(err);
		memcpy((char *)curl + functions[i].offset, &symbol, sizeof(symbol));
	}
	return curl->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 0 : refuse(err);
}

static void scope_release_client(struct http_client **client)
{
	http_client_free(*client);
}

int http_client_new(const struct http_client_config *config, struct http_client **ret,
		    struct error *err)
{
	SCOPED(client) struct http_client *client = calloc(1, sizeof(*client));
	int r;

	if (!client)
		return error_set(err, -ENOMEM, "out of memory");
	r = load(&client->curl, err);
	if (r < 0)
		return r;
	client->connect_timeout_ms =
		(long)(config->connect_timeout_ms > 0 ? config->connect_timeout_ms : CONNECT_MS);
	client->timeout_ms = (long)(config->timeout_ms > 0 ? config->timeout_ms : REQUEST_MS);
	client->handle = client->curl.easy_init();
	if (config->ca_file)
		client->ca_file = strdup(config->ca_file);
	if (config->token &&
	    asprintf(&client->authorization, "Authorization: Bearer %s", config->token) < 0)
		client->authorization = NULL;
	if (!client->handle || (config->ca_file && !client->ca_file) ||
	    (config->token && !client->authorization))
		return error_set(err, -ENOMEM, "out of memory");
	*ret = scope_take(&client);
	return 0;
}

void http_client_free(struct http_client *client)
{
	if (!client)
		return;
	if (client->handle)
		client->curl.easy_cleanup(client->handle);
	free(client->authorization);
	free(client->ca_file);
	free(client);
}

static size_t take_body(char *data, size_t size, size_t count, void *self)
{
	struct exchange *exchange = self;

	size *= count;
	if (exchange->answer->body.size + size > exchange->max_bytes) {
		exchange->too_large = true;
		return 0; /* ends the request */
	}
	bytes_put(&exchange->answer->body, data, size);
	return exchange->answer->body.failed ? 0 : size;
}

/* Only seconds are understood, not a date. */
static size_t take_header(char *data, size_t size, size_t count, void *self)
{
	struct exchange *exchange = self;
	size_t name = sizeof(RETRY_AFTER) - 1;
	char text[32];
	uint64_t seconds;

	size *= count;
	if (size <= name || strncasecmp(data, RETRY_AFTER, name) != 0)
		return size;
	while (name < size && (data[name] == ' ' || data[name] == '\t'))
		name++;
	(void)snprintf(text, sizeof(text), "%.*s", (int)(size - name), data + name);
	text[strcspn(text, " \t\r\n")] = '\0';
	if (number_parse_u64(text, &seconds) == 0)
		exchange->answer->retry_after_s = seconds;
	return size;
}

static int look_for_cancel(void *self, curl_off_t total_down, curl_off_t down, curl_off_t total_up,
			   curl_off_t up)
{
	const struct exchange *exchange = self;

	(void)total_down;
	(void)down;
	(void)total_up;
	(void)up;
	return exchange->request->cancel && atomic_load(exchange->request->cancel);
}

static void set_options(struct http_client *client, struct exchange *exchange,
			struct curl_slist *headers)
{
	const struct http_request *request = exchange->request;
	const struct curl_library *curl = &client->curl;
	CURL *handle = client->handle;

	curl->easy_reset(handle); /* connections stay */
	curl->easy_setopt(handle, CURLOPT_URL, request->url);
	curl->easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
	curl->easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
	curl->easy_setopt(handle, CURLOPT_ERRORBUFFER, client->problem);
	curl->easy_setopt(handle, CURLOPT_CONNECTTIMEOUT_MS, client->connect_timeout_ms);
	curl->easy_setopt(handle, CURLOPT_TIMEOUT_MS, client->timeout_ms);
	curl->easy_setopt(handle, CURLOPT_USERAGENT, "wick/" WICK_VERSION);
	curl->easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
	curl->easy_setopt(handle, CURLOPT_WRITEDATA, exchange);
	curl->easy_setopt(handle, CURLOPT_HEADERFUNCTION, take_header);
	curl->easy_setopt(handle, CURLOPT_HEADERDATA, exchange);
	curl->easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, look_for_cancel);
	curl->easy_setopt(handle, CURLOPT_XFERINFODATA, exchange);
	curl->easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
	curl->easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
	if (client->ca_file)
		curl->easy_setopt(handle, CURLOPT_CAINFO, client->ca_file);
	if (request->body) {
		curl->easy_setopt(handle, CURLOPT_POSTFIELDS, request->body);
		curl->easy_setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
				  (curl_off_t)request->body_bytes);
	}
	curl->easy_setopt(handle, CURLOPT_CUSTOMREQUEST, request->method);
}

/* "Expect:" without a value: a server that does not know it would delay every request. */
static struct curl_slist *list_headers(const struct http_client *client,
				       const struct http_request *request)
{
	struct curl_slist *list = client->curl.slist_append(NULL, "Expect:");
	struct curl_slist *more = list;

	if (client->authorization && more)
		more = client->curl.slist_append(list, client->authorization);
	for (size_t i = 0; request->headers && request->headers[i] && more; i++)
		more = client->curl.slist_append(list, request->headers[i]);
	if (!more)
		client->curl.slist_free_all(list);
	return more ? list : NULL;
}

static int explain(const struct http_client *client, const struct exchange *exchange, CURLcode code,
		   struct error *err)
{
	const struct http_request *request = exchange->request;
	const char *why = client->problem[0] ? client->problem : client->curl.easy_strerror(code);

	if (code == CURLE_ABORTED_BY_CALLBACK)
		return error_advise(
			err,
			error_set(err, -ECANCELED, "request to %s was cancelled", request->url),
			"send it again");
	if (exchange->too_large)
		return error_advise(
			err, error_set(err, -EFBIG, "the answer of %s is too large", request->url),
			"check that the URL is that of a wick server");
	if (code == CURLE_OUT_OF_MEMORY)
		return error_set(err, -ENOMEM, "out of memory");
	(void)error_set(err, code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -ECONNREFUSED,
			"cannot reach %s: %.200s", request->url, why);
	error_remedy(err, "check the URL, and that the server runs: curl -i '%.300s'",
		     request->url);
	return code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -ECONNREFUSED;
}

int http_client_send(struct http_client *client, const struct http_request *request,
		     struct http_answer *ret, struct error *err)
{
	struct exchange exchange = {
		.request = request,
		.answer = ret,
		.max_bytes = request->max_answer_bytes > 0 ? request->max_answer_bytes
							   : MAX_ANSWER_BYTES,
	};
	struct curl_slist *headers = list_headers(client, request);
	long status = 0;
	CURLcode code;

	*ret = (struct http_answer){0};
	if (!headers)
		return error_set(err, -ENOMEM, "out of memory");
	client->problem[0] = '\0';
	set_options(client, &exchange, headers);
	code = client->curl.easy_perform(client->handle);
	client->curl.slist_free_all(headers);
	if (code != CURLE_OK)
		return explain(client, &exchange, code, err);
	(void)client->curl.easy_getinfo(client->handle, CURLINFO_RESPONSE_CODE, &status);
	ret->status = (int)status;
	bytes_put_u8(&ret->body, 0);
	if (ret->body.failed)
		return error_set(err, -ENOMEM, "out of memory");
	ret->body.size--;
	return 0;
}

void http_answer_fini(struct http_answer *answer)
{
	bytes_fini(&answer->body);
}
