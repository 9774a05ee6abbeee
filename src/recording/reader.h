/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_READER_H
#define WICK_RECORDING_READER_H

/*
 * reader: reads a .wick file from start to end.
 *
 * Works on files that are still growing, on pipes, and on files that were cut off or damaged
 * anywhere: a chunk is used completely or not at all, and what cannot be used is counted. Memory
 * depends on the dictionaries, not on the samples.
 *
 *	while ((r = recording_reader_next(reader, &visitor, err)) > 0)
 *		;
 *
 * r == 0 means that there is nothing more for now: a growing file may have more later.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/sink.h"

struct dictionary;
struct error;
struct heap_batch;
struct leak_scan;
struct memory_reading;
struct recording_jit_symbol;
struct recording_reader;
struct recording_writer;

/*
 * What the reader calls. All members are optional. Ids are those of recording_reader_dictionary(),
 * in every epoch. A negative result stops reading with that code and does not set err.
 *
 * After damage some map events may be repeated, with their old times.
 */
struct recording_visitor {
	void *self;
	int (*info)(void *self, const char *key, const char *value);
	int (*schema)(void *self, uint32_t id, const struct schema *schema);
	int (*samples)(void *self, const struct sample_batch *batch);
	/*
	 * Batches of one thread are in time order; those of different threads may overlap, up to
	 * heap_until.
	 */
	int (*heap)(void *self, const struct heap_batch *batch);
	/* All events before this time have been delivered. */
	int (*heap_until)(void *self, uint64_t time_ns);
	/* Memory of a process: comes before all later events. */
	int (*memory)(void *self, const struct memory_reading *reading);
	/* A scan, or a part of its groups; the parts of a scan are consecutive. */
	int (*leaks)(void *self, const struct leak_scan *scan);
	int (*map)(void *self, const struct map_event *event);
	int (*clock)(void *self, uint64_t monotonic_ns, uint64_t realtime_ns);
	int (*loss)(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples);
	int (*kernel_symbol)(void *self, uint64_t start, uint64_t size, const char *name,
			     const char *module);
	int (*jit_symbol)(void *self, const struct recording_jit_symbol *symbol);
};

/* The condition of the file. Chunks and bytes that cannot be used are always counted. */
struct recording_damage {
	uint64_t chunks;     /* complete chunks */
	uint64_t bad_chunks; /* damaged: runs without a good chunk, and chunks with invalid content
			      */
	uint64_t missing_chunks;  /* known from gaps in the numbering of good chunks */
	uint64_t unknown_chunks;  /* of a type from a later version */
	uint64_t skipped_bytes;   /* skipped to find the next good chunk */
	uint64_t cut_bytes;       /* of an unfinished chunk at the end */
	uint64_t samples;         /* delivered */
	uint64_t missing_samples; /* known to have been in the file, but unreadable */
	uint64_t heap_events;     /* delivered */
	uint64_t missing_heap_events;
	uint64_t lost_labels; /* samples delivered without their labels */
	bool complete;        /* the end mark was seen */
	const char *why;      /* why an imported file is not complete; NULL: unknown */
};

/* Call it before reading: reads only the first `bytes` bytes of the file. */
void recording_reader_limit(struct recording_reader *reader, uint64_t bytes);

/*
 * Call it before reading: delivers only facts and schemas. Of all other chunks only the checksums
 * are compared.
 */
void recording_reader_skim(struct recording_reader *reader);

/* Takes over fd on success. `name` is used in messages. */
int recording_reader_open(int fd, const char *name, struct recording_reader **ret,
			  struct error *err);
/* Reads from a copy of data. */
int recording_reader_open_memory(const void *data, size_t size, const char *name,
				 struct recording_reader **ret, struct error *err);
/*
 * Reads what a writer has kept in memory; takes over the writer on success. Everything is delivered
 * by the first call; there are no map events.
 */
int recording_reader_open_kept(struct recording_writer *writer, const char *name,
			       struct recording_reader **ret, struct error *err);
void recording_reader_free(struct recording_reader *reader);

/* Reads one chunk. Returns 1, 0 at the end of the available data, or a negative errno. */
int recording_reader_next(struct recording_reader *reader, const struct recording_visitor *visitor,
			  struct error *err);

/* Reads all available data. Returns 0 or a negative errno; -ENODATA if the header is incomplete. */
int recording_reader_run(struct recording_reader *reader, const struct recording_visitor *visitor,
			 struct error *err);

const struct dictionary *recording_reader_dictionary(const struct recording_reader *reader);

/* The state so far; cut_bytes is the size of the chunk that is currently incomplete. */
struct recording_damage recording_reader_damage(const struct recording_reader *reader);

/* The version in the file header. */
void recording_reader_version(const struct recording_reader *reader, unsigned int *ret_major,
			      unsigned int *ret_minor);

/* Whether data that begins with these bytes is a recording. */
bool recording_is(const void *data, size_t size);

#endif
