/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_PARTS_RECORD_OUTPUT_H
#define WICK_CLI_COMMANDS_PARTS_RECORD_OUTPUT_H

/*
 * record_output: what wick record and wick heap print in the same way: the progress line,
 * notices, a failure, and lines that both summaries have.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct command_context;
struct engine_stats;
struct error;
struct record_config;
struct record_result;

struct record_output {
	const struct command_context *context;
	bool counts_heap;     /* the progress line counts heap events instead of samples */
	bool progress_drawn;  /* the progress line is on the screen */
	bool failure_printed; /* by record_output_failure() */
};

/*
 * Functions for struct record_config. self points to a struct record_output, or to a struct
 * whose first member is one.
 */
void record_output_progress(void *self, uint64_t elapsed_ns, const struct engine_stats *stats,
			    uint64_t file_bytes);
void record_output_notice(void *self, const char *text);

/* Removes the progress line: call it before anything else is printed. */
void record_output_erase(struct record_output *output);

/* Prints why the recording failed, the first time it is called. */
void record_output_failure(struct record_output *output, const struct error *err);

/* Prints that wick still waits, if the program that it started is running after the recording. */
void record_output_waiting(const struct record_output *output, const struct record_result *result);

/* Prints the name of a process or file so that it cannot control the terminal. */
void record_output_name(FILE *out, const char *name);

/* Prints "wick: recorded WHAT… for … s into … (… KB)". what is "", or "the heap of ". */
void record_output_heading(FILE *out, const char *what, const struct record_config *config,
			   const struct record_result *result);

/* Prints that a signal killed the program, after what is missing because of that. */
void record_output_killed(FILE *out, const char *missing, const struct record_result *result);

/* Prints why Python calls of some processes are missing, if any are. */
void record_output_refused_python(FILE *out, const struct engine_stats *stats);

/* Prints the engine's remark, if it has one. */
void record_output_remark(FILE *out, const struct engine_stats *stats);

#endif
