/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_OPTIONS_ATTACH_OPTIONS_H
#define WICK_CLI_OPTIONS_ATTACH_OPTIONS_H

/*
 * attach_options: which running processes a command attaches to: -p, --name, and with --tree
 * those that these have started already.
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

/* Whether processes are asked for. */
bool attach_is_asked(const struct attach_options *options);

/* What is wrong with them, NULL when nothing is. */
const char *attach_conflict(const struct command_context *context,
			    const struct attach_options *options);

/*
 * Finds the processes. A process that sleeps while those that it has started run is attached to
 * with these; else a note says that there are some. Without `children` nobody wants them. The
 * caller releases the list with vec_fini(), also after a failure.
 */
int attach_find(const struct command_context *context, const struct attach_options *options,
		bool children, struct pid_list *ret, struct error *err);

/* The options; the member of the struct is an attach_options. */
extern const struct option_spec attach_option_table[];

#endif
