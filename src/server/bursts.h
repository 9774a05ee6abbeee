/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_BURSTS_H
#define WICK_SERVER_BURSTS_H

/*
 * bursts: orders to sample a service faster for a short time.
 *
 * An order waits for the next pushes of hosts that run the service; each host receives it once, and
 * never more hosts at once than allowed. A service gets a new order only some time after the last.
 * Any thread may call.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define BURSTS_MAX 64
#define BURST_HOSTS_MAX 64
#define BURST_SECONDS_MAX 600u
#define BURST_RATE_MAX 1000u
/* An order that no host has fetched by then is dropped. */
#define BURST_WAIT_S 300u

struct burst {
	char id[24];
	char service[128];
	uint32_t rate_hz;
	uint32_t seconds;
	uint32_t hosts; /* how many may have it */
	char by[80];    /* who asked; "": unknown */
	uint64_t asked_s;
	uint32_t host_count;
	struct {
		char host[256];
		uint64_t until_s;
	} given[BURST_HOSTS_MAX];
};

struct bursts {
	pthread_mutex_t lock;
	struct burst items[BURSTS_MAX];
	uint64_t next;
};

/* An order as JSON: {"service": …, "rate": …, "seconds": …, "hosts": …}. */
int burst_parse(struct burst *ret, const void *text, size_t size, struct error *err);

void bursts_init(struct bursts *bursts);
void bursts_fini(struct bursts *bursts);

/*
 * Adds an order. Returns -EBUSY if the service had one less than interval_s ago; the message says
 * when it may have the next.
 */
int bursts_ask(struct bursts *bursts, const struct burst *wanted, uint64_t interval_s,
	       uint64_t now_s, struct burst *ret, struct error *err);

/* Copies the orders that there are, newest first. Returns how many. */
size_t bursts_list(struct bursts *bursts, struct burst ret[BURSTS_MAX]);

/* When the first host got it, in seconds since 1970; 0: none has it yet. */
uint64_t burst_started_s(const struct burst *burst);

/*
 * The order for a host that runs a service; false: none. At most host_limit hosts run bursts at
 * once.
 */
bool bursts_take(struct bursts *bursts, const char *host, const char *service, uint32_t host_limit,
		 uint64_t now_s, struct burst *ret);

#endif
