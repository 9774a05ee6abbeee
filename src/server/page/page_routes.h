/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_PAGE_PAGE_ROUTES_H
#define WICK_SERVER_PAGE_PAGE_ROUTES_H

/*
 * page_routes: the web page: files that the build embedded. They are the same for everybody, so
 * they need no token and no state.
 */

#include "net/http_server.h"

/* GET / and GET /page/{name}. */
http_handler route_page;

#endif
