/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_RECORD_SUMMARY_H
#define WICK_CLI_RECORD_SUMMARY_H

/* record_summary: what a person wants to know when a recording has ended. */

#include <stdio.h>

struct record_config;
struct record_result;

void record_summary_print(FILE *out, const struct record_config *config,
			  const struct record_result *result);

#endif
