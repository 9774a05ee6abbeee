/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORDING_WRITER_H
#define WICK_RECORDING_WRITER_H

/*
 * writer: a sink that appends to a .wick file.
 *
 * Samples and dictionary entries gather in memory until a flush, which writes
 * whole chunks with one write(). After a failed write the file is cut back to
 * its last whole chunk, so that what is there stays readable, and every later
 * call fails with the same code.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct dictionary;
struct error;
struct memory_reading;
struct recording_jit_symbol;
struct recording_writer;
struct sample_columns;
struct sink;

/* Takes over fd on success. name is for messages. */
int recording_writer_open(int fd, const char *name, struct recording_writer **ret,
			  struct error *err);
/* Releases without writing anything more. */
void recording_writer_free(struct recording_writer *writer);

/* For a recording that is read once and thrown away: it is not compressed. */
void recording_writer_set_plain(struct recording_writer *writer);

/*
 * For a recording that only this process looks at: nothing is written, and nothing is
 * coded and decoded. recording_reader_open_kept() reads it. To be called before the rest.
 * Heap events are refused.
 */
void recording_writer_set_kept(struct recording_writer *writer);

/* What a writer has kept, in the order in which it is to be read; borrowed. */
struct recording_kept {
	struct {
		uint32_t type; /* of the chunk that it would be */
		const struct bytes *bytes;
	} payloads[8];
	const struct sample_columns *samples;
	bool is_finished; /* by recording_writer_finish(): it has its end */
};

struct recording_kept recording_writer_kept(const struct recording_writer *writer);

/* The sink to feed; borrowed from the writer. */
struct sink *recording_writer_sink(struct recording_writer *writer);

/* What has been fed so far; borrowed. */
const struct dictionary *recording_writer_dictionary(const struct recording_writer *writer);

/* Facts about the session. A later value of a key replaces the earlier one. */
void recording_writer_info(struct recording_writer *writer, const char *key, const char *value);

/* A kernel function that samples refer to, so that the file is understood elsewhere. */
void recording_writer_kernel_symbol(struct recording_writer *writer, uint64_t start, uint64_t size,
				    const char *name, const char *module);

/* Compiled code of a process that samples refer to: the process's own list goes with it. */
void recording_writer_jit_symbol(struct recording_writer *writer,
				 const struct recording_jit_symbol *symbol);

/* What memory a process had; to be told before heap events that are later. */
void recording_writer_memory(struct recording_writer *writer, const struct memory_reading *reading);

/* A moment on both clocks. */
void recording_writer_clock(struct recording_writer *writer, uint64_t monotonic_ns,
			    uint64_t realtime_ns);

/* Writes the file header, so that readers know the file from the start. */
int recording_writer_begin(struct recording_writer *writer, struct error *err);

/* Writes everything that waits. */
int recording_writer_flush(struct recording_writer *writer, struct error *err);

/* Flushes and writes the end mark. The writer is still to be freed. */
int recording_writer_finish(struct recording_writer *writer, struct error *err);

/*
 * For a recording whose old epochs are thrown away: the next time that the sink may make
 * room it begins an epoch and forgets every frame, also those whose names finish a file.
 */
void recording_writer_ask_epoch(struct recording_writer *writer);
/* Where in the file the epoch begins; all from there on stands by itself. */
uint64_t recording_writer_epoch_bytes(const struct recording_writer *writer);

/* Whether it was written so far: 0, or the first failure again, which names the file. */
int recording_writer_check(const struct recording_writer *writer, struct error *err);
uint64_t recording_writer_bytes(const struct recording_writer *writer);
uint64_t recording_writer_samples(const struct recording_writer *writer);
uint64_t recording_writer_heap_events(const struct recording_writer *writer);

/* For tests: begin a new epoch after this many stored bytes, or nodes of stacks. */
void recording_writer_set_epoch_bytes(struct recording_writer *writer, uint64_t bytes);
void recording_writer_set_node_limit(struct recording_writer *writer, size_t nodes);

#endif
