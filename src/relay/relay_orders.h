/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RELAY_RELAY_ORDERS_H
#define WICK_RELAY_RELAY_ORDERS_H

/*
 * relay_orders: what a server asks agents for, in its answers to a relay, until the agents push
 * again. An order of which nothing was heard for ten minutes is forgotten. Any thread may call.
 */

#include <pthread.h>
#include <stdint.h>

#include "base/vec.h"

struct bytes;

#define RELAY_ORDERS_MAX 10000u

struct relay_order {
	char *host;
	char *burst; /* JSON: what an agent finds under "burst" */
	uint64_t until_s;
};

struct relay_orders {
	pthread_mutex_t lock;
	VEC(struct relay_order) items; /* with the lock */
};

void relay_orders_init(struct relay_orders *orders);
void relay_orders_fini(struct relay_orders *orders);

/* Keeps the orders {"orders": [{"host": HOST, "burst": {…}}]} of an answer. */
void relay_orders_keep(struct relay_orders *orders, const char *answer, uint64_t now_s);

/* Appends the answer for a host, with its order if there is one. */
void relay_orders_answer(struct relay_orders *orders, const char *host, uint64_t now_s,
			 struct bytes *out);

#endif
