/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_METRICS_H
#define WICK_SERVER_METRICS_H

/* metrics: the server's own counters, as text for Prometheus. Any thread may call. */

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;

#define METRICS_ROUTES_MAX 64
#define METRICS_BUCKETS 10

struct metrics_route {
	const char *path;
	uint64_t by_class[6]; /* [4]: 4xx */
	uint64_t buckets[METRICS_BUCKETS];
	uint64_t count;
	uint64_t sum_ns;
};

struct metrics {
	pthread_mutex_t lock;
	struct metrics_route routes[METRICS_ROUTES_MAX]; /* the last is everything else */
	uint64_t received_bytes;
	uint64_t windows;
	uint64_t duplicate_windows;
	uint64_t rejected_windows; /* permanently */
	uint64_t delayed_windows;  /* to be sent again later */
	uint64_t rows;
	uint64_t shifted_windows; /* their clock was off */
	uint64_t maintain_failures;
	uint64_t uploads; /* of symbols */
	uint64_t upload_bytes;
	uint64_t refused_uploads;
};

void metrics_init(struct metrics *metrics);
void metrics_fini(struct metrics *metrics);

/* Counts an answer. route is the index of its route; METRICS_ROUTES_MAX: none. */
void metrics_request(struct metrics *metrics, size_t route, const char *path, unsigned int status,
		     uint64_t took_ns);
void metrics_add(struct metrics *metrics, uint64_t *counter, uint64_t n);

void metrics_put(struct metrics *metrics, struct bytes *out);

/* The lines above the values of one metric. */
void metrics_put_head(struct bytes *out, const char *name, const char *kind, const char *help);

/* One value with its help text. */
void metrics_put_value(struct bytes *out, const char *name, const char *kind, const char *help,
		       double value);

/* Appends a label's value: backslash, quote and newline escaped. */
void metrics_put_label(struct bytes *out, const char *text);

#endif
