/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_OPTIONS_HOOK_OPTION_H
#define WICK_CLI_OPTIONS_HOOK_OPTION_H

/*
 * hook_option: what --hook names: functions of a program's own allocator, found in the
 * program's file or in one that it loads, and whether they can be hooked.
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
 * Reads "alloc=SYM[@LIB][:N[*M]],free=SYM[@LIB][:N]" of each. Fails with words when one
 * makes no sense, or a function is not there; one that cannot be hooked says so in ret.
 */
int hook_option_read(const struct option_list *list, const char *program, struct hook_option *ret,
		     struct error *err);

#endif
