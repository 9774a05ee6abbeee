/* SPDX-License-Identifier: BSD-2-Clause */

/* Feeds the demangler with whatever comes, as C++, Rust and D names. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "load/names/short_name.h"
#include "symbol/linker_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_TEXT_BYTES ((64u << 10) + 16u)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SCOPED(mem) char *name = malloc(size + 1);
	SCOPED(mem) char *text = NULL;
	SCOPED(mem) char *merged = NULL;
	SCOPED(mem) char *shorter = NULL;

	if (!name)
		return 0;
	if (size)
		memcpy(name, data, size);
	name[size] = '\0';
	text = linker_name_show(name, (struct linker_name_style){.demangle = true});
	merged = linker_name_show(name, (struct linker_name_style){true, true});
	if (!text || !merged || (strlen(text) > MAX_TEXT_BYTES && strlen(text) > size))
		abort();
	shorter = short_name(text);
	return 0;
}
