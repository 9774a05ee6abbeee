/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_WATCH_ORDER_H
#define WICK_AGENT_WATCH_ORDER_H

/* watch_order: the request of a server, in its answer, for shorter windows while somebody watches.
 */

#include <stdint.h>

/* The seconds of {"window_s": N}, within limits; 0 if there is no order. */
uint32_t watch_order_parse(const char *text);

#endif
