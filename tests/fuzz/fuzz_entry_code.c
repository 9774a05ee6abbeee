/* SPDX-License-Identifier: BSD-2-Clause */

/* Code of functions, of either CPU: the first byte says which. */

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cfi/entry_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct entry_code entry = {0};

	if (size == 0 ||
	    entry_code_look(data[0] & 1 ? EM_X86_64 : EM_AARCH64, data + 1, size - 1, &entry))
		return 0;
	if (entry.moved < 4 || entry.offset + entry.moved > size - 1 ||
	    entry.offset + entry.moved > ENTRY_CODE_BYTES)
		abort();
	return 0;
}
