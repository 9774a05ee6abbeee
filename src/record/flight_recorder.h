/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_FLIGHT_RECORDER_H
#define WICK_RECORD_FLIGHT_RECORDER_H

/*
 * flight_recorder: keeps the last seconds of a recording in memory and writes them to files.
 *
 * The recording goes to an unnamed file and starts a new epoch eight times per window. An epoch is
 * self-contained, so older parts can be punched out of the file. Writing copies exactly the samples
 * of the last seconds into a recording of their own. See docs/design/flight-recorder.md.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_stats;
struct error;
struct flight;
struct jit_watch;
struct record_config;
struct record_result;
struct recording_writer;

/* Also checks that config->output can be written. Borrows config. */
int flight_open(const struct record_config *config, struct flight **ret, struct error *err);
void flight_close(struct flight *flight); /* NULL is fine */

/* Returns the file for the recording's writer, which closes it. */
int flight_take_fd(struct flight *flight, struct error *err);

/* Drops what is too old: call it after each drain. `stats` are the totals so far. */
int flight_look(struct flight *flight, struct recording_writer *writer,
		const struct engine_stats *stats, uint64_t now_ns, struct error *err);

/* Bytes of memory that the recording takes. */
uint64_t flight_bytes(const struct flight *flight, const struct recording_writer *writer);

/* A request to write the last seconds. */
struct flight_moment {
	struct recording_writer *writer; /* of the recording; it is flushed */
	const struct jit_watch *jit;
	const char *engine;                 /* its name */
	const struct record_result *result; /* numbers so far */
	uint64_t start_ns;                  /* of the recording */
	uint64_t now_ns;
	bool last; /* the engine has stopped, and the numbers are complete */
	/* Called from time to time, because writing may take a while; NULL: not needed. */
	int (*meanwhile)(void *self, struct error *err);
	void *self;
};

/* What was written. */
struct flight_written {
	const char *path; /* valid until the next write */
	uint64_t covered_ns;
	uint64_t samples;
	uint64_t file_bytes;
};

/*
 * Writes a complete recording of the last seconds: the first to the output, later ones to files
 * beside it with -2, -3 … before the extension. Existing files are never overwritten. On failure no
 * file is left behind, and the data stays in memory.
 */
int flight_write(struct flight *flight, const struct flight_moment *moment,
		 struct flight_written *ret, struct error *err);

#endif
