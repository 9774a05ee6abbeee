/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_PARTS_SERVER_REQUEST_H
#define WICK_CLI_COMMANDS_PARTS_SERVER_REQUEST_H

/* server_request: what commands ask a server, with the token from WICK_TOKEN. */

#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct error;

#define SERVER_REQUEST_URL "http://127.0.0.1:4040"

/* A request being put together. Starts as zeros. */
struct server_request {
	const char *server;  /* "http://127.0.0.1:4040" */
	const char *ca_file; /* NULL: the system's certificates */
	struct bytes path;   /* with parameters */
	size_t parameters;
	const struct bytes *body; /* NULL: a GET request */
};

/* Begins with a path: "/api/profile". */
void server_request_path(struct server_request *request, const char *path);
/* Adds a parameter; nothing if value is NULL. */
void server_request_add(struct server_request *request, const char *name, const char *value);

/*
 * Sends it and returns the body of the answer, with a final zero that is not counted. An answer
 * that is an error becomes one here, with the server's own words.
 */
int server_request_send(const struct server_request *request, struct bytes *ret, struct error *err);
void server_request_fini(struct server_request *request);

#endif
