/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_PUSHER_H
#define WICK_AGENT_PUSHER_H

/*
 * pusher: sends the windows of a spool to a server, oldest first, in a thread of its own, so that
 * sampling never waits for the network. A window leaves the spool when the server has it on disk,
 * or will never accept it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "agent/burst_order.h"
#include "agent/push_request.h"
#include "agent/symbol_sender.h"

struct error;
struct pusher;
struct spool;
struct symbol_files;

struct pusher_config {
	struct spool *spool; /* borrowed */
	const char *url;     /* of the server; paths are added; copied */
	enum push_format format;
	const char *host;    /* for formats that do not say it in the window */
	const char *token;   /* NULL: none */
	const char *ca_file; /* NULL: those of the system */
	/* Files whose symbols the server may ask for; NULL: it may not. Borrowed, like the next. */
	struct symbol_files *files;
	const char *const *symbol_paths;
	size_t symbol_path_count;
	uint64_t symbol_bytes_per_minute;
	/* Called with messages for the user, in the thread of the pusher. */
	void (*notice)(void *self, const char *text);
	/* Called with each answer of a wick server, in the same thread; optional. */
	void (*answered)(void *self, const char *answer);
	void *self;
};

struct pusher_stats {
	uint64_t sent;
	uint64_t sent_bytes;
	uint64_t refused;
	uint64_t failures; /* attempts without success */
	bool is_failing;   /* the last attempt failed */
	struct symbol_sender_stats symbols;
};

/* The caller releases *ret with pusher_stop(). */
int pusher_start(const struct pusher_config *config, struct pusher **ret, struct error *err);

/* Sends what is there for at most patience_ms more, then ends the thread. NULL is fine. */
void pusher_stop(struct pusher *pusher, uint64_t patience_ms);

/* There is a new window. */
void pusher_wake(struct pusher *pusher);

/* An order that has arrived since the last call; false: none. */
bool pusher_take_order(struct pusher *pusher, struct burst_order *ret);

/* The length of windows that the server asked for lately, in seconds; 0: any. */
uint32_t pusher_window_s(struct pusher *pusher);

void pusher_stats(struct pusher *pusher, struct pusher_stats *ret);

#endif
