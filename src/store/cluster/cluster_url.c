/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/cluster/cluster_url.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/scope.h"

static const struct {
	const char *scheme;
	const char *http;
} schemes[] = {{"clickhouse://", "http://"}, {"clickhouses://", "https://"}};

static int refuse(const char *why, struct error *err)
{
	(void)error_set(err, -EINVAL, "the URL of the store %s", why);
	error_remedy(err, "write clickhouse://HOST:PORT/DATABASE");
	return -EINVAL;
}

static bool take_name(const char *text, size_t n, char ret[CLUSTER_NAME_MAX])
{
	size_t i;

	if (n == 0 || n >= CLUSTER_NAME_MAX)
		return false;
	for (i = 0; i < n; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return false;
	memcpy(ret, text, n);
	ret[n] = '\0';
	return true;
}

static bool is_host(const char *text, size_t n)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.-:[]_";

	return n > 0 && strspn(text, allowed) >= n && memchr(text, ':', n);
}

/* "HOST:PORT,HOST:PORT" */
static int take_nodes(struct cluster_url *url, const char *http, const char *text, size_t n,
		      struct error *err)
{
	const char *end = text + n;

	while (text <= end) {
		size_t length = strcspn(text, ",/");

		if (!is_host(text, length))
			return refuse("needs HOST:PORT of each shard", err);
		if (url->count == CLUSTER_SHARDS_MAX)
			return refuse("has more than 64 shards", err);
		if (asprintf(&url->nodes[url->count], "%s%.*s", http, (int)length, text) < 0)
			return error_set(err, -ENOMEM, "out of memory");
		url->count++;
		text += length + 1;
	}
	return 0;
}

static int take_user(struct cluster_url *url, const char **text, size_t *n, struct error *err)
{
	const char *at = memchr(*text, '@', *n);
	size_t length = at ? (size_t)(at - *text) : 0;

	if (!at)
		return 0;
	if (memchr(*text, ':', length)) {
		(void)error_set(err, -EINVAL, "the URL of the store has a password");
		error_remedy(err, "set WICK_CLICKHOUSE_PASSWORD instead: everybody can read a "
				  "command line");
		return -EINVAL;
	}
	url->user = strndup(*text, length);
	*text = at + 1;
	*n -= length + 1;
	return url->user ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static int parse(const char *text, const char *http, struct cluster_url *url, struct error *err)
{
	static const char parameter[] = "?cluster=";
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : 0;
	size_t name;
	int r;

	if (!slash)
		return refuse("has no database", err);
	r = take_user(url, &text, &n, err);
	if (r == 0)
		r = take_nodes(url, http, text, n, err);
	if (r < 0)
		return r;
	name = strcspn(slash + 1, "?");
	if (!take_name(slash + 1, name, url->database))
		return refuse("needs a database of letters, digits and underscores", err);
	text = slash + 1 + name;
	(void)snprintf(url->cluster, sizeof(url->cluster), "wick");
	if (*text == '\0')
		return 0;
	if (strncmp(text, parameter, sizeof(parameter) - 1) != 0 ||
	    !take_name(text + sizeof(parameter) - 1, strlen(text + sizeof(parameter) - 1),
		       url->cluster))
		return refuse("may end in ?cluster=NAME, and in nothing else", err);
	return 0;
}

int cluster_url_parse(const char *text, struct cluster_url *ret, struct error *err)
{
	size_t i;

	*ret = (struct cluster_url){0};
	for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		size_t n = strlen(schemes[i].scheme);
		int r;

		if (strncmp(text, schemes[i].scheme, n) != 0)
			continue;
		r = parse(text + n, schemes[i].http, ret, err);
		if (r < 0)
			cluster_url_fini(ret);
		return r;
	}
	return refuse("begins with neither clickhouse:// nor clickhouses://", err);
}

void cluster_url_fini(struct cluster_url *url)
{
	size_t i;

	for (i = 0; i < url->count; i++)
		free(url->nodes[i]);
	free(url->user);
	*url = (struct cluster_url){0};
}
