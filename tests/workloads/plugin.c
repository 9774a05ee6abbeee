/* SPDX-License-Identifier: BSD-2-Clause */

/* plugin: built twice, with PLUGIN_BURN naming its only function. */

#include "burn.h"

__attribute__((visibility("default"))) uint64_t PLUGIN_BURN(uint64_t cpu_ns);

NOINLINE uint64_t PLUGIN_BURN(uint64_t cpu_ns)
{
	return burn_cpu(cpu_ns);
}
