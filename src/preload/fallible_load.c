/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/fallible_load.h"

#include <stddef.h>

/* The positions of a load and of its continuation, relative to the fields themselves. */
struct listed {
	int32_t load;
	int32_t behind;
};

/* Provided by the linker. */
extern const struct listed __start_wick_fallible[] __attribute__((visibility("hidden")));
extern const struct listed __stop_wick_fallible[] __attribute__((visibility("hidden")));

static uint64_t address_of(const int32_t *offset)
{
	return (uint64_t)(uintptr_t)offset + (uint64_t)(int64_t)*offset;
}

bool fallible_resume(ucontext_t *context)
{
	uint64_t pc = arch_context_pc(context);

	for (const struct listed *at = __start_wick_fallible;
	     (uintptr_t)at < (uintptr_t)__stop_wick_fallible; at++)
		if (address_of(&at->load) == pc) {
			arch_context_set_pc(context, address_of(&at->behind));
			return true;
		}
	return false;
}
