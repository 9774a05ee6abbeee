/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "net/content_coding.h"
#include "server/routes.h"
#include "server/state.h"

/* Returns whether this client may upload now; otherwise the answer is there. */
static bool may_upload(struct server *server, const struct http_call *request,
		       struct http_response *response)
{
	uint32_t wait_s = rate_limit_take(&server->upload_rate,
					  request->who[0] ? request->who : request->client,
					  clock_monotonic_ns());

	if (wait_s == 0)
		return true;
	http_refuse(response, 429, "too many uploads of symbols");
	response->retry_after_s = wait_s;
	return false;
}

static int take_body(struct server *server, const struct http_call *request,
		     const struct build_id *id, uint64_t *ret_bytes, struct error *err)
{
	struct bytes body = {0};
	int r = content_decode(http_call_header(request, "Content-Encoding"), request->body,
			       request->body_size, SYMBOL_UPLOAD_MAX_BYTES, &body, err);

	if (r == 0)
		r = symbol_folder_take(&server->symbols, id, body.data, body.size, err);
	*ret_bytes = body.size;
	bytes_fini(&body);
	return r;
}

void route_symbols_upload(void *self, const struct http_call *request,
			  struct http_response *response)
{
	struct server *server = self;
	struct metrics *metrics = &server->metrics;
	struct build_id id;
	struct error err = {0};
	struct json json;
	uint64_t bytes;
	int r;

	if (!symbol_folder_parse_id(request->tail, &id)) {
		http_refuse(response, 400, "a build ID is 16 to 64 hexadecimal digits");
		return;
	}
	if (!may_upload(server, request, response))
		return;
	r = take_body(server, request, &id, &bytes, &err);
	if (r < 0) {
		metrics_add(metrics, &metrics->refused_uploads, r != -EBUSY);
		http_refuse_error(response, 0, &err);
		return;
	}
	metrics_add(metrics, &metrics->uploads, 1);
	metrics_add(metrics, &metrics->upload_bytes, bytes);
	if (r > 0)
		naming_renew(server->naming, &id);
	json_init(&json, &response->body, false);
	json_open_object(&json, NULL);
	json_bool(&json, "stored", r > 0);
	json_u64(&json, "bytes", symbol_folder_size(&server->symbols, &id));
	json_close(&json);
	bytes_put_u8(&response->body, '\n');
}

static const char *state_name(enum naming_state state)
{
	switch (state) {
	case NAMING_FOUND:
		return "found";
	case NAMING_LACKS:
		return "missing";
	case NAMING_WAITS:
	default:
		return "waiting";
	}
}

struct lister {
	struct json json;
	bool only_missing;
};

static void put_module(void *self, const struct naming_module *module)
{
	struct lister *lister = self;

	if (lister->only_missing && module->state != NAMING_LACKS)
		return;
	json_open_object(&lister->json, NULL);
	json_string(&lister->json, "build_id", module->build_id);
	json_string(&lister->json, "module", module->path);
	json_u64(&lister->json, "addresses", module->addresses);
	json_string(&lister->json, "state", state_name(module->state));
	json_close(&lister->json);
}

void route_symbols(void *self, const struct http_call *request, struct http_response *response)
{
	struct server *server = self;
	const char *missing = http_call_query(request, "missing");
	struct lister lister = {.only_missing = missing && strcmp(missing, "0") != 0};
	struct symbol_folder_stats stats = symbol_folder_stats(&server->symbols);

	json_init(&lister.json, &response->body, false);
	json_open_object(&lister.json, NULL);
	json_u64(&lister.json, "files", stats.files);
	json_u64(&lister.json, "bytes", stats.bytes);
	json_open_array(&lister.json, "modules");
	naming_list(server->naming, put_module, &lister);
	json_close(&lister.json);
	json_close(&lister.json);
	bytes_put_u8(&response->body, '\n');
}
