/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RELAY_RELAY_H
#define WICK_RELAY_RELAY_H

/*
 * relay: receives the windows of many agents, merges them, and sends them to a server.
 *
 *	agents → HTTP → inbox/ → merged windows → outbox/ → HTTP → server
 *
 * A window is answered when it is on disk in the inbox, and leaves it when a merged window with it
 *is on disk in the outbox. After a crash in between it is sent twice, and the server stores it
 *once: parts keep their ids. Nothing is removed to make room: if there is too much, agents are told
 *to come again later, and keep their windows themselves.
 *
 * Threads: HTTP connections have theirs, one merges, one sends.
 */

#include <stdint.h>

#include "agent/pusher.h"
#include "agent/spool.h"
#include "net/http_access.h"

struct error;
struct relay;

struct relay_config {
	struct http_access_config access;
	uint16_t port;
	const char *url;     /* of the server */
	const char *token;   /* NULL: none */
	const char *ca_file; /* NULL: those of the system */
	const char *folder;  /* of inbox and outbox; created when missing */
	const char *host;
	uint64_t max_bytes; /* of both together */
	uint64_t gather_ms; /* how long windows wait for others */
	unsigned int max_connections;
	double requests_per_second;                   /* of one agent */
	void (*notice)(void *self, const char *text); /* from any thread */
	void *self;
};

struct relay_stats {
	uint64_t received;
	uint64_t received_bytes;
	uint64_t refused; /* damaged, or no windows */
	uint64_t delayed; /* there was no room */
	uint64_t merged;  /* windows that became parts */
	uint64_t merges;
	uint64_t merged_bytes; /* of the merged windows */
	uint64_t passed;       /* sent as they are */
	struct spool_stats inbox;
	struct spool_stats outbox;
	struct pusher_stats pusher;
};

/* Borrows the texts. The caller releases *ret with relay_close(). */
int relay_open(const struct relay_config *config, struct relay **ret, struct error *err);
/* Windows that were not sent stay on disk. NULL is fine. */
void relay_close(struct relay *relay);

uint16_t relay_port(const struct relay *relay);
/* Reads the tokens again. If that fails, the old ones stay. */
int relay_reload(struct relay *relay, struct error *err);
/* Ends connections that take too long. Call it every second or so. */
void relay_tidy(struct relay *relay);
void relay_stats(struct relay *relay, struct relay_stats *ret);

#endif
