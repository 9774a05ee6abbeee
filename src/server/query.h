/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_QUERY_H
#define WICK_SERVER_QUERY_H

/*
 * query: what the parameters of a request select: query (a selector), type, from and to. By
 * default, the last hour, or the time of the recordings.
 */

#include <stdbool.h>
#include <stdint.h>

#include "server/selector.h"

struct error;
struct http_call;
struct source;

#define QUERY_DEFAULT_S 3600u

struct query {
	struct selector labels;
	struct store_selector selector; /* points into labels */
	char type[64];
	uint64_t now_s;
};

/* The names of the parameters, and their defaults. */
struct query_names {
	const char *query;
	const char *from;
	const char *to;
	const char *type;              /* the default type, not a name; "": all */
	const struct query *otherwise; /* NULL: the usual defaults */
	struct source *source;         /* whose time is the default; NULL: the last hour */
};

/* The usual names; type is the default type, "": all types. */
int query_read(struct query *query, struct source *source, const struct http_call *request,
	       const char *type, struct error *err);
int query_read_as(struct query *query, const struct http_call *request,
		  const struct query_names *names, struct error *err);

/* The same from texts and times that came in another way; type NULL: "cpu", "": all. */
int query_set(struct query *query, const char *selector, const char *type, uint64_t from_s,
	      uint64_t to_s, struct error *err);

/* Adds label="value". */
int query_require(struct query *query, const char *label, const char *value, struct error *err);

/* A number between 1 and max; `usual` is the default. */
int query_number(const struct http_call *request, const char *name, uint64_t usual, uint64_t max,
		 uint64_t *ret, struct error *err);

#endif
