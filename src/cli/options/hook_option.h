/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_OPTIONS_HOOK_OPTION_H
#define WICK_CLI_OPTIONS_HOOK_OPTION_H

/*
 * hook_option: finds the functions that --hook names (of a program's own allocator) in the
 * program's file or in a file that it loads, and checks whether they can be hooked.
 */

#include <stddef.h>

#include "cli/option.h"
#include "engine/engine.h"

struct error;

struct hook_option {
	size_t count;
	struct engine_hook items[ENGINE_HOOKS];
	char names[ENGINE_HOOKS][256];
};

/*
 * Parses "alloc=SYM[@LIB][:N[*M]],free=SYM[@LIB][:N]" for each item of list. Fails if an item is
 * invalid or a function does not exist. If a function cannot be hooked, its item in ret has the
 * reason.
 */
int hook_option_read(const struct option_list *list, const char *program, struct hook_option *ret,
		     struct error *err);

#endif
