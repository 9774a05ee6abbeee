/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_CLUSTER_CLUSTER_URL_H
#define WICK_STORE_CLUSTER_CLUSTER_URL_H

/*
 * cluster_url: where a ClickHouse database is:
 *
 *	clickhouse://[USER@]HOST:PORT[,HOST:PORT…]/DATABASE[?cluster=NAME]
 *
 * Each HOST:PORT is the HTTP interface of one shard, and all servers of wick list them in the same
 * order. clickhouses:// means HTTPS. A password is refused: everybody can read a command line.
 */

#include <stddef.h>

struct error;

#define CLUSTER_SHARDS_MAX 64
#define CLUSTER_NAME_MAX 64

struct cluster_url {
	char *nodes[CLUSTER_SHARDS_MAX]; /* "http://HOST:PORT" */
	size_t count;
	char *user;                      /* NULL: not said */
	char database[CLUSTER_NAME_MAX]; /* letters, digits and underscores */
	char cluster[CLUSTER_NAME_MAX];  /* "wick" if not said */
};

/* The caller releases *ret with cluster_url_fini(). -EINVAL if it is no such URL. */
int cluster_url_parse(const char *text, struct cluster_url *ret, struct error *err);
void cluster_url_fini(struct cluster_url *url);

#endif
