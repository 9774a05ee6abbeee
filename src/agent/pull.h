/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_PULL_H
#define WICK_AGENT_PULL_H

/*
 * pull: an HTTP server of the agent from which profilers fetch, as they do from programs in Go:
 *
 *	/debug/pprof/profile?seconds=N&service=S    time on CPUs; or pid=P, or of the whole host
 *	/debug/pprof/heap?seconds=N&service=S       of services that the configuration names
 *	/metrics, /healthz                          of the agent itself
 *
 * It has its own threads: it never waits for the sampling of the host, and sampling never waits for
 * it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/http_access.h"

struct bytes;
struct error;
struct pull;

struct pull_config {
	struct http_access_config access;
	uint16_t port;
	const char *const *rules; /* see service_rules.h */
	size_t rule_count;
	uint32_t rate_hz;
	double overhead;         /* percent, of each recording; 0: any */
	double breaker;          /* percent, as --breaker, of each; 0: none */
	const char *const *heap; /* services whose heap may be recorded */
	size_t heap_count;
	uint64_t heap_sample_bytes;
	/* Appends what /metrics says; any thread. */
	void (*metrics)(void *self, struct bytes *out);
	void *self;
};

/* Starts to listen. Borrows the texts. The caller releases *ret with pull_close(). */
int pull_open(const struct pull_config *config, struct pull **ret, struct error *err);
void pull_close(struct pull *pull); /* ends what is being recorded; NULL is fine */

/* While it is paused, no recording begins. NULL is fine. */
void pull_pause(struct pull *pull, bool paused);

/* Ends connections of clients that take too long. Call it each second; NULL is fine. */
void pull_tidy(struct pull *pull);

uint16_t pull_port(const struct pull *pull);

/* Reads the tokens again, and names services by other rules. If that fails, the old ones stay. */
int pull_reload(struct pull *pull, const char *const *rules, size_t rule_count, struct error *err);

#endif
