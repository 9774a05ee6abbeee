/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_SYMBOL_SENDER_H
#define WICK_AGENT_SYMBOL_SENDER_H

/*
 * symbol_sender: sends the symbol tables that a server asked for, one at a time and never more
 * bytes in a minute than allowed. Names and addresses of functions are sent, no code and no data:
 * see symbol/symbol_file.h. One thread.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct http_client;
struct symbol_files;
struct symbol_sender;

#define SYMBOL_SENDER_QUEUE_MAX 256u
/* Larger tables are not read: the agent has little memory. */
#define SYMBOL_SENDER_MAX_BYTES (24u << 20)

struct symbol_sender_config {
	struct symbol_files *files;
	const char *url; /* of the server, without a slash at its end */
	const char *const *symbol_paths;
	size_t symbol_path_count;
	uint64_t bytes_per_minute;
};

struct symbol_sender_stats {
	uint64_t sent;
	uint64_t sent_bytes;
	uint64_t failures; /* files that could not be read, or were refused */
};

/* Borrows everything. NULL if out of memory. */
struct symbol_sender *symbol_sender_new(const struct symbol_sender_config *config);
void symbol_sender_free(struct symbol_sender *sender); /* NULL is fine */

/* Takes {"symbols": [BUILD_ID, …]} from an answer of the server. */
void symbol_sender_ask(struct symbol_sender *sender, const char *answer);

/*
 * Sends at most one file, if it is time. Returns after how many milliseconds to call again; 0:
 * there is nothing to send.
 */
uint64_t symbol_sender_run(struct symbol_sender *sender, struct http_client *client,
			   const atomic_bool *cancel);

struct symbol_sender_stats symbol_sender_stats(const struct symbol_sender *sender);

#endif
