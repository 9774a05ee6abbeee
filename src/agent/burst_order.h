/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_BURST_ORDER_H
#define WICK_AGENT_BURST_ORDER_H

/* burst_order: a server's request, in its answer to a window, to sample faster for a short time. */

#include <stdbool.h>
#include <stdint.h>

struct burst_order {
	char id[64];
	char service[128]; /* "": any */
	uint32_t rate_hz;
	uint32_t seconds;
};

/*
 * Reads {"burst": {"rate": HZ, "seconds": N, "service": NAME, "id": ID}}. Rate and duration are
 * limited. False if there is no order.
 */
bool burst_order_parse(const char *text, struct burst_order *ret);

#endif
