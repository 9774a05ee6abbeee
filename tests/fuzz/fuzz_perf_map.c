/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Feeds perf_map and jit_names with whatever comes. Each name that is handed out must be
 * that of an address that was asked for.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/vec.h"
#include "symbol/jit_names.h"
#include "symbol/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint64_t addresses[] = {0x0, 0x1000, 0x1001, 0x2000, 0x7fff0000, UINT64_MAX};

static int check(void *self, const struct jit_piece *name)
{
	(void)self;
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		if (addresses[i] - name->start < name->size && name->text_size > 0)
			return 0;
	abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jit_names *names = jit_names_new(addresses, ARRAY_SIZE(addresses));

	if (!names)
		return 0;
	if (perf_map_parse((const char *)data, size, names) == 0)
		(void)jit_names_visit(names, check, NULL);
	jit_names_free(names);
	return 0;
}
