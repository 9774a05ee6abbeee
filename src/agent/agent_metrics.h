/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_AGENT_METRICS_H
#define WICK_AGENT_AGENT_METRICS_H

/* agent_metrics: the state of an agent as Prometheus reads it. */

struct agent_stats;
struct bytes;
struct pusher_stats;
struct spool_stats;

void agent_metrics_put(struct bytes *out, const struct agent_stats *agent,
		       const struct spool_stats *spool, const struct pusher_stats *pusher);

#endif
