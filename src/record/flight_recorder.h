/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_FLIGHT_RECORDER_H
#define WICK_RECORD_FLIGHT_RECORDER_H

/*
 * flight_recorder: keeps the last seconds of a recording in memory and writes them to files.
 *
 * The recording goes to a file without a name, and begins an epoch eight times in the
 * time that is kept: from there on it stands by itself, and what is older than needed is
 * cut out of the file. Writing copies the samples of the last seconds, exact by their
 * times, into a recording of their own. docs/design/flight-recorder.md tells more.
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

/* Also makes sure that something can be written to config->output. Borrows config. */
int flight_open(const struct record_config *config, struct flight **ret, struct error *err);
void flight_close(struct flight *flight); /* NULL is fine */

/* The file for the recording's writer, which is to close it. */
int flight_take_fd(struct flight *flight, struct error *err);

/* Looks what is too old by now: call it after each drain. `stats` are those so far. */
int flight_look(struct flight *flight, struct recording_writer *writer,
		const struct engine_stats *stats, uint64_t now_ns, struct error *err);

/* Bytes of memory that the recording takes. */
uint64_t flight_bytes(const struct flight *flight, const struct recording_writer *writer);

/* A moment at which the last seconds are wanted. */
struct flight_moment {
	struct recording_writer *writer; /* of the recording; is flushed */
	const struct jit_watch *jit;
	const char *engine;                 /* its name */
	const struct record_result *result; /* numbers so far */
	uint64_t start_ns;                  /* of the recording */
	uint64_t now_ns;
	bool last; /* the engine has stopped, and the numbers are complete */
	/* Called now and then, because it may take a while; NULL: nobody waits. */
	int (*meanwhile)(void *self, struct error *err);
	void *self;
};

/* What was written. */
struct flight_written {
	const char *path; /* valid until the next one */
	uint64_t covered_ns;
	uint64_t samples;
	uint64_t file_bytes;
};

/*
 * Writes a complete recording of the last seconds: to the output, and the next ones to
 * files beside it with -2, -3 … before the extension, never over one that is there. On
 * failure nothing is left behind, and what is in memory stays.
 */
int flight_write(struct flight *flight, const struct flight_moment *moment,
		 struct flight_written *ret, struct error *err);

#endif
