/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_SESSION_INFO_H
#define WICK_RECORD_SESSION_INFO_H

/* session_info: the facts in a recording about how it was made and how it went. */

#include <stdint.h>

struct record_config;
struct record_result;
struct recording_writer;

void session_info_begin(struct recording_writer *writer, const struct record_config *config,
			const char *engine, uint64_t start_ns);
void session_info_end(struct recording_writer *writer, uint64_t end_ns,
		      const struct record_result *result);

#endif
