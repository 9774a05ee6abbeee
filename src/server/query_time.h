/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_QUERY_TIME_H
#define WICK_SERVER_QUERY_TIME_H

/*
 * query_time: times as people write them in a query.
 *
 *	now   -15m   -7d   14:05   14:05:30   2026-11-16   2026-11-16T14:05:00Z   1763301900
 *
 * A time of day is the last one before now. Times without a zone are local.
 */

#include <stdint.h>

struct error;

int query_time_parse(const char *text, uint64_t now_s, uint64_t *ret_s, struct error *err);

#endif
