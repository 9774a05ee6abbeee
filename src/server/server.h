/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_SERVER_H
#define WICK_SERVER_SERVER_H

/*
 * server: receives windows, stores them and answers queries over HTTP.
 *
 * It listens beyond loopback only with TLS and tokens. Everything it keeps is below one folder:
 * the store, the tokens, the symbols and the audit log. It prints nothing: config->log receives
 * lines of JSON.
 */

#include <stddef.h>
#include <stdint.h>

struct error;
struct server;

struct server_config {
	const char *address; /* numeric */
	uint16_t port;
	const char *folder;
	const char *store_url;  /* of ClickHouse, as in store_config; NULL: embedded */
	const char *store_user; /* likewise */
	const char *store_password;
	const char *library;       /* of the database; NULL: searched for */
	const char *tls_cert_path; /* NULL: no TLS */
	const char *tls_key_path;
	const char *token_path; /* NULL: FOLDER/tokens */
	const char *statsd;     /* HOST:PORT that receives metrics; NULL: none */
	uint64_t keep_full_s;   /* as in store_config */
	uint64_t keep_merged_s;
	uint64_t keep_bytes;
	uint64_t memory_bytes;
	size_t max_body_bytes;
	size_t max_decoded_bytes; /* of a body, decompressed */
	unsigned int max_connections;
	unsigned int request_timeout_s; /* for all of a request */
	double requests_per_second;
	unsigned int burst_hosts;         /* that may run a burst at once */
	uint64_t burst_interval_s;        /* between two bursts of a service */
	uint64_t symbol_bytes;            /* of symbols that are kept */
	const char *const *debug_folders; /* with debug files, by build id */
	size_t debug_folder_count;
	const char *const *debuginfod_urls; /* see debuginfod_client.h */
	size_t debuginfod_count;
	void (*log)(void *self, const char *line); /* any thread */
	void *log_self;
};

/* clang-format off */
#define SERVER_CONFIG_DEFAULT                                                                      \
	{.address = "127.0.0.1", .port = 4040, .keep_full_s = 30 * 86400u,                         \
	 .keep_merged_s = 365 * 86400u, .max_body_bytes = 32u << 20,                               \
	 .max_decoded_bytes = 256u << 20, .max_connections = 1000, .request_timeout_s = 120,       \
	 .requests_per_second = 200,                                                               \
	 .burst_hosts = 10, .burst_interval_s = 600, .symbol_bytes = 1ull << 30}
/* clang-format on */

/* Borrows config until server_close(). Signals are up to the caller: block them first. */
int server_open(const struct server_config *config, struct server **ret, struct error *err);
uint16_t server_port(const struct server *server);

/* Reads the tokens again. If that fails, the old ones stay. */
int server_reload(struct server *server, struct error *err);

/* Ends connections that take too long. Call it every second or so. */
void server_tidy(struct server *server);

/* Lets the store do what is due. Call it every 20 seconds or so. */
void server_maintain(struct server *server);

/* Sends the metrics to config->statsd, if there is one. */
void server_report(struct server *server);

/* Completes requests under way, and closes everything. */
void server_close(struct server *server); /* NULL is fine */

#endif
