/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/http_browser.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The length of the name or address in Host; SIZE_MAX if it is not one. */
static size_t name_length(const char *host)
{
	size_t n = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");

	return n <= strlen(host) && (host[n] == '\0' || host[n] == ':') ? n : SIZE_MAX;
}

bool http_host_is_local(const char *host)
{
	struct in_addr address;
	char name[64];
	size_t n;

	if (!host)
		return true;
	n = name_length(host);
	if (n >= sizeof(name))
		return false;
	(void)snprintf(name, sizeof(name), "%.*s", (int)n, host);
	if (strcasecmp(name, "localhost") == 0 || strcmp(name, "[::1]") == 0)
		return true;
	return inet_pton(AF_INET, name, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

/* Without TLS of our own, a proxy in front of us may have it: https is never less safe. */
bool http_origin_is_host(const char *origin, const char *host, bool has_tls)
{
	if (!host || !*host)
		return false;
	if (strncasecmp(origin, "https://", 8) == 0)
		return strcasecmp(origin + 8, host) == 0;
	return !has_tls && strncasecmp(origin, "http://", 7) == 0 &&
	       strcasecmp(origin + 7, host) == 0;
}

static bool is(const char *header, const char *value)
{
	return header && strcmp(header, value) == 0;
}

/* A link on another page that a person follows: the other page cannot read what is shown. */
static bool is_link(const struct http_browser_facts *facts)
{
	return is(facts->method, "GET") && is(facts->mode, "navigate") &&
	       is(facts->dest, "document");
}

const char *http_browser_refusal(const struct http_browser_facts *facts)
{
	if (facts->origin && !http_origin_is_host(facts->origin, facts->host, facts->has_tls))
		return "pages of other servers may not send requests";
	if (facts->site && !is(facts->site, "same-origin") && !is(facts->site, "none") &&
	    !is_link(facts))
		return "pages of other servers may not send requests";
	if (facts->has_cookie && !facts->origin && !is(facts->method, "GET"))
		return "with a cookie, a change needs the header Origin";
	return NULL;
}

void http_cookie_name(const char *host, bool has_tls, char ret[HTTP_COOKIE_NAME_MAX])
{
	size_t n = host ? name_length(host) : SIZE_MAX;
	const char *port = n != SIZE_MAX && host[n] == ':' ? host + n + 1 : "";
	size_t digits = strspn(port, "0123456789");

	if (port[digits] != '\0' || digits > 5)
		digits = 0;
	/* Browsers accept a name with this prefix only from the very host, over TLS. */
	(void)snprintf(ret, HTTP_COOKIE_NAME_MAX, "%swick%s%.*s", has_tls ? "__Host-" : "",
		       digits > 0 ? "_" : "", (int)digits, port); /* it fits */
}
