/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_WRITER_H
#define WICK_RECORDING_WRITER_H

/*
 * writer: a sink that appends to a .wick file.
 *
 * Samples and dictionary entries collect in memory until a flush, which writes complete chunks with
 * one write(). After a failed write the file is truncated to its last complete chunk, so that it
 * stays readable, and every later call fails with the same code.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct dictionary;
struct error;
struct label;
struct memory_reading;
struct recording_jit_symbol;
struct recording_writer;
struct sample_columns;
struct sink;

/* Takes over fd on success. `name` is used in messages. */
int recording_writer_open(int fd, const char *name, struct recording_writer **ret,
			  struct error *err);
/* Releases without writing anything more. */
void recording_writer_free(struct recording_writer *writer);

/* For a recording that is read once and discarded: do not compress it. */
void recording_writer_set_plain(struct recording_writer *writer);

/*
 * For a recording that only this process reads: it stays in memory and is neither encoded nor
 * written. recording_reader_open_kept() reads it. Call this first. Heap events are not supported.
 */
void recording_writer_set_kept(struct recording_writer *writer);

/* What a writer has kept, in reading order; borrowed. */
struct recording_kept {
	struct {
		uint32_t type; /* type of the corresponding chunk */
		const struct bytes *bytes;
	} payloads[8];
	const struct sample_columns *samples;
	bool is_finished; /* recording_writer_finish() was called: it is complete */
};

struct recording_kept recording_writer_kept(const struct recording_writer *writer);

/*
 * Labels that every sample gets, at most LABELS_MAX. A label of the sample with the same key wins.
 * Call it before the first sample. 0, -E2BIG or -ENOMEM.
 */
int recording_writer_set_labels(struct recording_writer *writer, const struct label *labels,
				size_t n);

/* The sink to feed; borrowed from the writer. */
struct sink *recording_writer_sink(struct recording_writer *writer);

/* The dictionary so far; borrowed. */
const struct dictionary *recording_writer_dictionary(const struct recording_writer *writer);

/* Facts about the session. A later value of a key replaces the earlier one. */
void recording_writer_info(struct recording_writer *writer, const char *key, const char *value);

/* A kernel function that samples refer to, so that the file can be read on other machines. */
void recording_writer_kernel_symbol(struct recording_writer *writer, uint64_t start, uint64_t size,
				    const char *name, const char *module);

/* JIT-compiled code that samples refer to: the list of the process itself is lost when it ends. */
void recording_writer_jit_symbol(struct recording_writer *writer,
				 const struct recording_jit_symbol *symbol);

/* Memory of a process; call it before adding later heap events. */
void recording_writer_memory(struct recording_writer *writer, const struct memory_reading *reading);

/* The same moment on both clocks. */
void recording_writer_clock(struct recording_writer *writer, uint64_t monotonic_ns,
			    uint64_t realtime_ns);

/* Writes the file header, so that readers recognise the file from the start. */
int recording_writer_begin(struct recording_writer *writer, struct error *err);

/* Writes all pending data. */
int recording_writer_flush(struct recording_writer *writer, struct error *err);

/* Flushes and writes the end mark. The writer must still be freed. */
int recording_writer_finish(struct recording_writer *writer, struct error *err);

/*
 * For a recording whose old epochs are discarded: at the next opportunity to free memory, the sink
 * starts a new epoch and drops every frame, even those whose names are written at the end of a
 * file.
 */
void recording_writer_ask_epoch(struct recording_writer *writer);
/* The file offset at which the epoch begins; everything from there on is self-contained. */
uint64_t recording_writer_epoch_bytes(const struct recording_writer *writer);

/*
 * Returns 0 if all writes succeeded, or the first failure again, with the name of the file in err.
 */
int recording_writer_check(const struct recording_writer *writer, struct error *err);
uint64_t recording_writer_bytes(const struct recording_writer *writer);
uint64_t recording_writer_samples(const struct recording_writer *writer);
uint64_t recording_writer_heap_events(const struct recording_writer *writer);

/* For tests: start a new epoch after this many stored bytes, or stack nodes. */
void recording_writer_set_epoch_bytes(struct recording_writer *writer, uint64_t bytes);
void recording_writer_set_node_limit(struct recording_writer *writer, size_t nodes);

#endif
