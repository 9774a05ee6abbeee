/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_NET_HTTP_BROWSER_H
#define WICK_NET_HTTP_BROWSER_H

/*
 * http_browser: decides which pages in a browser may send requests: only this server's own.
 *
 * A browser sends its cookies and the passwords that it keeps with the requests of every page, and
 * a page in a browser on this machine can reach loopback addresses. Headers that pages cannot set
 * say which page asks: Origin, and Sec-Fetch-Site in newer browsers. Programs send neither. A page
 * that reaches us under a name of its own (DNS rebinding) has that name in Host: without tokens,
 * only names of this machine are ours.
 */

#include <stdbool.h>

/* NULL: the header is missing. */
struct http_browser_facts {
	const char *method;
	const char *host;
	const char *origin;
	const char *site; /* Sec-Fetch-Site */
	const char *mode; /* Sec-Fetch-Mode */
	const char *dest; /* Sec-Fetch-Dest */
	bool has_tls;
	bool has_cookie; /* what lets it in is a cookie: no program of ours sends one */
};

/* Why the request is refused, as a sentence; NULL: it is not. */
const char *http_browser_refusal(const struct http_browser_facts *facts);

/* Whether an Origin is the server that Host names. */
bool http_origin_is_host(const char *origin, const char *host, bool has_tls);

/* Whether Host is a name of this machine that needs no lookup; NULL is one. */
bool http_host_is_local(const char *host);

#define HTTP_COOKIE_NAME_MAX 32
/* Browsers share cookies between ports of a host: the port is part of the name. */
void http_cookie_name(const char *host, bool has_tls, char ret[HTTP_COOKIE_NAME_MAX]);

#endif
