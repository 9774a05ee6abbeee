/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/page/page_routes.h"

#include <string.h>

#include "base/vec.h"
#include "server/page/site_assets.h"

/*
 * The page uses what this server has and nothing else, and no other page may frame it. Flame graphs
 * are frames of the page.
 */
#define PAGE_POLICY                                                                                \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "    \
	"connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "              \
	"frame-ancestors 'none'"

static const char *type_of(const char *name)
{
	static const struct {
		const char *end;
		const char *type;
	} types[] = {
		{".html", "text/html; charset=utf-8"},
		{".css", "text/css; charset=utf-8"},
		{".js", "text/javascript; charset=utf-8"},
		{".svg", "image/svg+xml"},
		{".png", "image/png"},
	};
	const char *dot = strrchr(name, '.');
	size_t i;

	for (i = 0; dot && i < ARRAY_SIZE(types); i++)
		if (strcmp(dot, types[i].end) == 0)
			return types[i].type;
	return "application/octet-stream";
}

/* Whether the browser has this file already. */
static bool has_file(const struct http_call *request, const char *hash)
{
	const char *tags = http_call_header(request, "If-None-Match");

	return tags && strstr(tags, hash);
}

void route_page(void *self, const struct http_call *request, struct http_response *response)
{
	const char *name = request->tail[0] ? request->tail : "index.html";
	size_t i;

	(void)self; /* the files need no state */
	for (i = 0; i < ARRAY_SIZE(site_files); i++) {
		if (strcmp(site_files[i].name, name) != 0)
			continue;
		response->type = type_of(name);
		response->policy = PAGE_POLICY;
		response->hash = site_files[i].hash;
		if (!has_file(request, site_files[i].hash))
			bytes_put(&response->body, site_files[i].data, site_files[i].size);
		else
			response->status = 304;
		return;
	}
	http_refuse(response, 404, "the page has no file of this name");
}
