/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_PUSH_INGEST_H
#define WICK_SERVER_PUSH_INGEST_H

/*
 * ingest: a recording becomes rows of the store, one batch for each of its events.
 *
 * A sample's series is made of its labels, its process if it has no such label, and what the
 * request adds. Times come from the recording, moved by the offset between the sender's clock and
 * ours if that is more than INGEST_CLOCK_TOLERANCE_S, and are never in the future.
 * Of a window that a relay merged, each part is stored under its own id, as if it had come alone.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_id;
struct error;
struct store;
struct store_label;
struct window;

#define INGEST_CLOCK_TOLERANCE_S 5
#define INGEST_BUCKET_S 10u
/* A label's value is cut after this many bytes. */
#define INGEST_VALUE_MAX 512u
#define INGEST_SERIES_MAX 20000u
#define INGEST_ROWS_MAX 5000000u

struct ingest_input {
	const void *data; /* a recording */
	size_t size;
	const struct window *window; /* what it says about itself */
	const char *id;              /* unique; "" : made of the content */
	const char *service;         /* for samples without one; NULL: their process */
	const char *host;            /* if the window has none */
	const char *release;         /* NULL: that of the sample */
	const char *type;            /* NULL: that of the samples */
	const char *unit;            /* with type */
	double scale;                /* of values; 0: 1 */
	const struct store_label *labels;
	size_t label_count;
	uint64_t time_s; /* of samples without a time; 0: now */
	int64_t clock_offset_s;
	uint64_t now_s;
	/* Called for each series with its host and service; optional. */
	void (*service_seen)(void *self, const char *host, const char *service);
	void *service_self;
	/* Called with the build id of each module of its stacks, perhaps twice; optional. */
	void (*build_id_seen)(void *self, const struct build_id *id);
};

struct ingest_result {
	uint64_t rows;
	unsigned int batches;
	unsigned int duplicates;
	bool shifted; /* times were moved, because the sender's clock is off */
};

int ingest(struct store *store, const struct ingest_input *input, struct ingest_result *ret,
	   struct error *err);

#endif
