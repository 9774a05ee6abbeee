/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_READER_H
#define WICK_RECORDING_READER_H

/*
 * reader: a .wick file, front to back.
 *
 * Works on files that still grow, on pipes, and on files that were cut or
 * damaged anywhere: a chunk is used whole or not at all, and what could not be
 * used is counted. Memory follows the dictionaries, not the samples.
 *
 *	while ((r = recording_reader_next(reader, &visitor, err)) > 0)
 *		;
 *
 * r == 0 means that there is nothing more for now: of a file that grows there
 * may be more later.
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
 * What the reader calls. All members are optional. Ids are those of
 * recording_reader_dictionary(), whatever the epoch. A negative return value
 * ends the reading with that code and leaves err alone.
 *
 * After damage some map events may come a second time, with their old times.
 */
struct recording_visitor {
	void *self;
	int (*info)(void *self, const char *key, const char *value);
	int (*schema)(void *self, uint32_t id, const struct schema *schema);
	int (*samples)(void *self, const struct sample_batch *batch);
	/* Batches of one thread are in order; those of several may overlap up to heap_until. */
	int (*heap)(void *self, const struct heap_batch *batch);
	/* All events before this moment have been handed out. */
	int (*heap_until)(void *self, uint64_t time_ns);
	/* What memory a process had: comes before events that are later than it. */
	int (*memory)(void *self, const struct memory_reading *reading);
	/* A scan, or a part of its groups; the parts follow each other. */
	int (*leaks)(void *self, const struct leak_scan *scan);
	int (*map)(void *self, const struct map_event *event);
	int (*clock)(void *self, uint64_t monotonic_ns, uint64_t realtime_ns);
	int (*loss)(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples);
	int (*kernel_symbol)(void *self, uint64_t start, uint64_t size, const char *name,
			     const char *module);
	int (*jit_symbol)(void *self, const struct recording_jit_symbol *symbol);
};

/* How the file fared. Chunks and bytes that were not usable are never silent. */
struct recording_damage {
	uint64_t chunks;          /* whole ones */
	uint64_t bad_chunks;      /* damaged: stretches without a good chunk, and bad contents */
	uint64_t missing_chunks;  /* known by the gaps in the numbers of the good ones */
	uint64_t unknown_chunks;  /* of a type that a later version made */
	uint64_t skipped_bytes;   /* passed over in search of the next good chunk */
	uint64_t cut_bytes;       /* of an unfinished chunk at the end */
	uint64_t samples;         /* handed out */
	uint64_t missing_samples; /* known to have been in the file, and not readable */
	uint64_t heap_events;     /* handed out */
	uint64_t missing_heap_events;
	uint64_t lost_labels; /* samples handed out without the labels they had */
	bool complete;        /* the end mark was seen */
	const char *why;      /* not, if it was imported: words of the reader; NULL: not known */
};

/* Before it is read: what lies behind the first bytes of the file is as if it was not there. */
void recording_reader_limit(struct recording_reader *reader, uint64_t bytes);

/* Takes over fd on success. name is for messages. */
int recording_reader_open(int fd, const char *name, struct recording_reader **ret,
			  struct error *err);
/* Reads from a copy of data. */
int recording_reader_open_memory(const void *data, size_t size, const char *name,
				 struct recording_reader **ret, struct error *err);
/*
 * Reads what a writer has kept, which it takes over on success: all of it comes with the
 * first call, and no maps.
 */
int recording_reader_open_kept(struct recording_writer *writer, const char *name,
			       struct recording_reader **ret, struct error *err);
void recording_reader_free(struct recording_reader *reader);

/* Reads one chunk. Returns 1, 0 at the end of what is there, or a negative errno. */
int recording_reader_next(struct recording_reader *reader, const struct recording_visitor *visitor,
			  struct error *err);

/* Reads all there is. Returns 0 or a negative errno; -ENODATA without a whole header. */
int recording_reader_run(struct recording_reader *reader, const struct recording_visitor *visitor,
			 struct error *err);

const struct dictionary *recording_reader_dictionary(const struct recording_reader *reader);

/* The state of affairs so far; cut_bytes counts what waits for its end right now. */
struct recording_damage recording_reader_damage(const struct recording_reader *reader);

/* The version that the file's header names. */
void recording_reader_version(const struct recording_reader *reader, unsigned int *ret_major,
			      unsigned int *ret_minor);

/* Whether these first bytes are those of a recording. */
bool recording_is(const void *data, size_t size);

#endif
