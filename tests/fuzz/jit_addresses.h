/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_JIT_ADDRESSES_H
#define WICK_TESTS_JIT_ADDRESSES_H

/* jit_addresses: what is asked of compiled code, and that names are of nothing else. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/vec.h"
#include "symbol/jit/jit_names.h"

static const uint64_t addresses[] = {0x0, 0x1000, 0x1001, 0x2000, 0x7fff0000, UINT64_MAX};

static int check(void *self, const struct jit_piece *name)
{
	(void)self;
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++)
		if (addresses[i] - name->start < name->size && name->text_size > 0)
			return 0;
	abort();
}

#endif
