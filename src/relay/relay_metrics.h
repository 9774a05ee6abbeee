/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RELAY_RELAY_METRICS_H
#define WICK_RELAY_RELAY_METRICS_H

/* relay_metrics: what /metrics of a relay says, in the text format of Prometheus. */

struct bytes;
struct relay_stats;

void relay_metrics_put(struct bytes *out, const struct relay_stats *stats);

#endif
