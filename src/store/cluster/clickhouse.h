/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_CLUSTER_CLICKHOUSE_H
#define WICK_STORE_CLUSTER_CLICKHOUSE_H

/*
 * clickhouse: sends statements to the HTTP interfaces of the shards. It knows nothing of profiles.
 *
 * The SQL is what ClickHouse 18.16 and later versions share. Any thread may call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

struct clickhouse;
struct error;

struct clickhouse_config {
	char *const *nodes; /* "http://HOST:PORT"; borrowed, like the rest */
	size_t count;
	const char *user; /* NULL: "default" */
	const char *password;
};

/* Rows that a statement reads as a table. */
struct clickhouse_table {
	const char *name;
	const char *columns;      /* "id UInt64, …" */
	const struct bytes *rows; /* RowBinary */
};

struct clickhouse_statement {
	size_t node;
	const struct bytes *sql;
	const struct clickhouse_table *table; /* NULL: none. With one, SQL has 4 KiB at most */
	const struct bytes *data; /* what INSERT … FORMAT RowBinary inserts; NULL: none */
	/*
	 * While a statement with this name runs at the node, another one with it is refused with
	 * -EBUSY: a lock that ends with the statement, even if whoever sent it is gone. NULL: none.
	 */
	const char *lock;
	bool skips_shards; /* leaves out shards that do not answer */
	bool is_long;      /* may take an hour, not a minute */
};

int clickhouse_new(const struct clickhouse_config *config, struct clickhouse **ret,
		   struct error *err);
void clickhouse_free(struct clickhouse *clickhouse); /* NULL is fine */

/*
 * Runs a statement. Appends the answer to ret, which may be NULL. Besides others returns
 * -EHOSTUNREACH: the node, or a shard that it asked, does not answer; then nobody knows whether the
 * statement ran. -EBUSY: see lock. -EINVAL: a regular expression is invalid. -EEXIST: what it
 * creates is there.
 */
int clickhouse_run(struct clickhouse *clickhouse, const struct clickhouse_statement *statement,
		   struct bytes *ret, struct error *err);

/* Whether a node answers. */
bool clickhouse_answers(struct clickhouse *clickhouse, size_t node);

/* "HOST:PORT" */
const char *clickhouse_node_name(const struct clickhouse *clickhouse, size_t node);

/* Appends a text in quotes. */
void clickhouse_put_text(struct bytes *sql, const char *text);

/* RowBinary: a text with its length. The next is valid while the bytes are, and not ended. */
void clickhouse_put_string(struct bytes *rows, const char *text);
const char *clickhouse_take_string(struct cursor *rows, size_t *ret_size);

#endif
