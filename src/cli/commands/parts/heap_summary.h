/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_PARTS_HEAP_SUMMARY_H
#define WICK_CLI_COMMANDS_PARTS_HEAP_SUMMARY_H

/* heap_summary: the summary that wick heap prints when a recording has ended. */

#include <stdio.h>

struct heap_report;
struct record_config;
struct record_result;

/* report is the analysis of the recording, or NULL if it was not read again. */
void heap_summary_print(FILE *out, const struct record_config *config,
			const struct record_result *result, const struct heap_report *report);

/* Prints what the last leak scan found, in one line. */
void heap_summary_leaks(FILE *out, const struct record_result *result);

#endif
