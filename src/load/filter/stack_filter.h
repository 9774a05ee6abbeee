/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_FILTER_STACK_FILTER_H
#define WICK_LOAD_FILTER_STACK_FILTER_H

/*
 * stack_filter: selects stacks of a profile by the names of their functions and modules. Each
 * function is matched once.
 */

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct error;
struct load_options;
struct profile;

struct stack_filter {
	const struct load_options *options; /* borrowed */
	VEC(regex_t) only;
	VEC(regex_t) ignore;
	VEC(uint8_t) functions; /* by function id: cached result */
};

/*
 * Returns -EINVAL with a message for an invalid regular expression. Release with
 * stack_filter_fini().
 */
int stack_filter_init(struct stack_filter *filter, const struct load_options *options,
		      struct error *err);
void stack_filter_fini(struct stack_filter *filter);

bool stack_filter_accepts(struct stack_filter *filter, const struct profile *profile,
			  uint32_t stack);

#endif
