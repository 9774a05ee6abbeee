/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_NET_RATE_LIMIT_H
#define WICK_NET_RATE_LIMIT_H

/*
 * rate_limit: how many requests each client may make in a second.
 *
 * A client has a bucket that fills at a constant rate, and each request takes one from it. There is
 * a fixed number of buckets; clients whose names have the same hash share one, so memory is bounded
 * and an attacker with many names gains at most the whole table. Any thread may call.
 */

#include <pthread.h>
#include <stdint.h>

#define RATE_LIMIT_BUCKETS 4096u

struct rate_limit {
	double per_second; /* 0: no limit */
	double burst;
	pthread_mutex_t lock;
	struct {
		double level; /* what is missing from a full bucket */
		uint64_t time_ns;
	} buckets[RATE_LIMIT_BUCKETS];
};

void rate_limit_init(struct rate_limit *limit, double per_second, double burst);
void rate_limit_fini(struct rate_limit *limit);

/* Returns 0 if the request is allowed, else the seconds after which to try again. */
uint32_t rate_limit_take(struct rate_limit *limit, const char *client, uint64_t now_ns);

#endif
