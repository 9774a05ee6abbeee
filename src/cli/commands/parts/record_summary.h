/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_PARTS_RECORD_SUMMARY_H
#define WICK_CLI_COMMANDS_PARTS_RECORD_SUMMARY_H

/* record_summary: the summary that wick record prints when a recording has ended. */

#include <stdio.h>

struct load_options;
struct record_config;
struct record_result;

/* names: how to look up names, for the share of samples that have one. */
void record_summary_print(FILE *out, const struct record_config *config,
			  const struct record_result *result, const struct load_options *names);

#endif
