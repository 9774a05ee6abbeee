/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_NET_STATSD_H
#define WICK_NET_STATSD_H

/*
 * statsd: sends metrics to a StatsD server over UDP, and never waits for it.
 *
 * It takes what is written for Prometheus, so there is one list of metrics. Values of labels become
 * parts of the name, since plain StatsD has no labels: requests_total{path="/api/push"} is
 * requests_total._api_push. Counters are sent as what was added since the last time, gauges as they
 * are; of a histogram the sum and the count.
 *
 * One thread at a time.
 */

struct error;
struct statsd;

/* Looks up "HOST:PORT" or "[ADDRESS]:PORT", which may take a moment. host: last part of each name;
   NULL: none. The caller releases *ret with statsd_close(). */
int statsd_open(const char *address, const char *host, struct statsd **ret, struct error *err);
void statsd_close(struct statsd *statsd); /* NULL is fine */

/* What cannot be sent is left out. statsd may be NULL. */
void statsd_send(struct statsd *statsd, const char *text);

#endif
