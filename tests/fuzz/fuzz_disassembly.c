/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Feeds disassembly_parse() with whatever comes. Instructions are within the bounds that
 * were asked for, and each has a text.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "view/annotate/disassembly.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct disassembly code;

	if (!text || disassembly_parse(text, 0x1000, 0x2000, &code) < 0)
		return 0;
	for (size_t i = 0; i < code.count; i++)
		if (code.items[i].vaddr < 0x1000 || code.items[i].vaddr >= 0x2000 ||
		    strlen(code.items[i].text) == 0 || strlen(code.items[i].text) > size)
			abort();
	disassembly_fini(&code);
	return 0;
}
