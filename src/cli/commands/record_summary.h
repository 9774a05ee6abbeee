/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_RECORD_SUMMARY_H
#define WICK_CLI_COMMANDS_RECORD_SUMMARY_H

/* record_summary: what a person wants to know when a recording has ended. */

#include <stdio.h>

struct command_context;
struct load_options;
struct record_config;
struct record_result;

/* names: how to look up the names whose share is told. */
void record_summary_print(FILE *out, const struct record_config *config,
			  const struct record_result *result, const struct load_options *names);

/* Why there is nothing of a program that a signal killed, after what is lacking. */
void record_summary_print_killed(FILE *out, const char *lack, const struct record_result *result);

/* Says that wick stays although it records no more, when the program that it started goes on. */
void record_summary_tell_wait(const struct command_context *context,
			      const struct record_result *result);

/* A name of a process or file: whatever it holds, it does nothing to the terminal. */
void record_summary_print_name(FILE *out, const char *name);

#endif
