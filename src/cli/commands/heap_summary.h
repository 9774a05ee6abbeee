/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_HEAP_SUMMARY_H
#define WICK_CLI_COMMANDS_HEAP_SUMMARY_H

/* heap_summary: what a person wants to know when a recording of the heap has ended. */

#include <stdio.h>

struct heap_report;
struct record_config;
struct record_result;

/* report: what was found in the recording; NULL: it was not looked at. */
void heap_summary_print(FILE *out, const struct record_config *config,
			const struct record_result *result, const struct heap_report *report);

/* What the last leak scan found, in one line. */
void heap_summary_leaks(FILE *out, const struct record_result *result);

#endif
