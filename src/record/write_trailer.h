/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_WRITE_TRAILER_H
#define WICK_RECORD_WRITE_TRAILER_H

/*
 * write_trailer: completes a recording: writes the names that only this machine knows now, and the
 * end mark.
 */

#include <stdint.h>

struct error;
struct jit_watch;
struct record_config;
struct record_result;
struct recording_writer;

/* Writes the trailer, with the result so far. Returns 0 or a negative errno. */
int write_trailer(struct recording_writer *writer, const struct record_config *config,
		  const struct record_result *result, const struct jit_watch *jit, uint64_t end_ns,
		  struct error *err);

#endif
