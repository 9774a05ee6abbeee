/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Feeds perf_map and jit_names with whatever comes. Each name that is handed out must be
 * that of an address that was asked for.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "jit_addresses.h"
#include "symbol/jit/jit_names.h"
#include "symbol/jit/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jit_names *names = jit_names_new(addresses, ARRAY_SIZE(addresses));

	if (!names)
		return 0;
	if (perf_map_parse((const char *)data, size, NULL, 0, names) == 0)
		(void)jit_names_visit(names, check, NULL);
	jit_names_free(names);
	return 0;
}
