/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_PERF_RECORDS_H
#define WICK_IMPORT_PERF_RECORDS_H

/*
 * perf_records: iterates over the records of perf.data in file order; compressed records are
 * expanded in place.
 *
 * An invalid record ends the iteration, because the start of the next one is unknown.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "base/bytes.h"

struct import_source;

/* Record types that perf itself writes, in addition to those of the kernel. */
enum perf_user_record {
	PERF_USER_FIRST = 64,
	PERF_USER_ATTR = 64,
	PERF_USER_TRACING_DATA = 66,
	PERF_USER_BUILD_ID = 67,
	PERF_USER_FINISHED_ROUND = 68,
	PERF_USER_AUXTRACE_INFO = 70,
	PERF_USER_AUXTRACE = 71,
	PERF_USER_AUXTRACE_ERROR = 72,
	PERF_USER_EVENT_UPDATE = 78,
	PERF_USER_FEATURE = 80,
	PERF_USER_COMPRESSED = 81,
	PERF_USER_COMPRESSED_PADDED = 83,
};

struct perf_records {
	struct import_source *source;
	uint64_t at;
	uint64_t end;                 /* UINT64_MAX: the end of the file */
	struct ZSTD_DCtx_s *unpacker; /* NULL until the first compressed record */
	struct bytes unpacked;
	size_t unpacked_at;
	const char *damage; /* why the records end early; NULL: they do not */
};

struct perf_record {
	struct perf_event_header header;
	const uint8_t *bytes; /* header.size bytes, unaligned */
};

void perf_records_init(struct perf_records *records, struct import_source *source, uint64_t start,
		       uint64_t end);
void perf_records_fini(struct perf_records *records);

/*
 * The next record, valid until the next call. Returns 1, 0 at the end (see damage), or a negative
 * errno if the file cannot be read.
 */
int perf_records_next(struct perf_records *records, struct perf_record *ret);

/* Skips data that follows a record and belongs to it. */
void perf_records_skip(struct perf_records *records, uint64_t bytes);

#endif
