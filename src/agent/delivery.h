/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_DELIVERY_H
#define WICK_AGENT_DELIVERY_H

/* delivery: takes windows from an agent to a server: into a spool, and from there by HTTP. */

#include <stdint.h>

#include "agent/agent.h"
#include "agent/pusher.h"
#include "agent/spool.h"

struct delivery;
struct error;

struct delivery_config {
	struct spool_config spool;
	const char *url; /* NULL: windows stay in the spool */
	enum push_format format;
	const char *host;
	const char *token;   /* NULL: none */
	const char *ca_file; /* NULL: those of the system */
	bool sends_symbols;  /* that the server asks for */
	const char *const *symbol_paths;
	size_t symbol_path_count;
	uint64_t symbol_bytes_per_minute;
	/* Called with each answer of the server, and spool.self; optional. */
	void (*answered)(void *self, const char *answer);
};

/* The caller releases *ret with delivery_close(). */
int delivery_open(const struct delivery_config *config, struct delivery **ret, struct error *err);

/* Tries for some seconds to send what is there. What is left is sent after the next start. */
void delivery_close(struct delivery *delivery); /* NULL is fine */

struct agent_output delivery_output(struct delivery *delivery);

/* Adds a complete window, from any thread. */
int delivery_add(struct delivery *delivery, const char *id, const void *data, size_t size,
		 struct error *err);

void delivery_stats(struct delivery *delivery, struct spool_stats *ret_spool,
		    struct pusher_stats *ret_pusher);

#endif
