/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_DEBUGINFOD_H
#define WICK_CLI_DEBUGINFOD_H

/*
 * debuginfod: downloads debug files from a server, by build ID, if the user asks for it.
 *
 * The program debuginfod-find does the work: it knows the servers (DEBUGINFOD_URLS), caches
 * files, and remembers for a while which files no server has. There is a time limit for all
 * requests together; Ctrl-C ends a request as usual.
 */

#include <stdint.h>

#include "symbol/debug_file.h"

struct command_context;

struct debuginfod {
	const struct command_context *context;
	uint64_t left_ns; /* of the time limit for all requests */
	struct symbol_search search;
};

/* Fills *ret, which must not move while its search is in use. */
void debuginfod_init(struct debuginfod *ret, const struct command_context *context,
		     uint64_t limit_ns);

#endif
