/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_NET_HTTP_HEADERS_H
#define WICK_NET_HTTP_HEADERS_H

/* http_headers: the headers of an answer. Private to src/net. */

struct MHD_Response;
struct http_response;

void http_headers_add(struct MHD_Response *out, const struct http_response *response);

#endif
