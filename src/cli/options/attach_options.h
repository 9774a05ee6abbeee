/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_OPTIONS_ATTACH_OPTIONS_H
#define WICK_CLI_OPTIONS_ATTACH_OPTIONS_H

/*
 * attach_options: which running processes a command attaches to: -p, --name, and with --tree also
 * the processes that these have started.
 */

#include <stdbool.h>

#include "cli/option.h"

struct command_context;
struct error;
struct pid_list;

struct attach_options {
	struct option_numbers pids;
	struct option_list names;
	bool tree;
};

/* Whether -p or --name is given. */
bool attach_is_asked(const struct attach_options *options);

/* What is wrong with the options; NULL if nothing is. */
const char *attach_conflict(const struct command_context *context,
			    const struct attach_options *options);

/*
 * Finds the processes. If a process sleeps while its child processes run, these are included;
 * otherwise a note mentions them. If children is false, child processes are ignored. The caller
 * releases the list with vec_fini(), even after a failure.
 */
int attach_find(const struct command_context *context, const struct attach_options *options,
		bool children, struct pid_list *ret, struct error *err);

/* The options, for a member of type struct attach_options. */
extern const struct option_spec attach_option_table[];

#endif
