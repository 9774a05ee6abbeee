/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_DEBUGINFOD_H
#define WICK_CLI_DEBUGINFOD_H

/*
 * debuginfod: debug files from a server, by build id. Only for those who ask for it.
 *
 * The program debuginfod-find does it: it knows the servers (DEBUGINFOD_URLS), keeps
 * what it got, and remembers for a while what no server has. All requests together take
 * no longer than a deadline; Ctrl-C ends one as usual.
 */

#include <stdint.h>

#include "symbol/debug_file.h"

struct command_context;

struct debuginfod {
	const struct command_context *context;
	uint64_t left_ns; /* of the time for all requests */
	struct symbol_search search;
};

/* Fills *ret, which stays where it is while its search is in use. */
void debuginfod_init(struct debuginfod *ret, const struct command_context *context,
		     uint64_t limit_ns);

#endif
