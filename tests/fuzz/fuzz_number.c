/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/scope.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SCOPED(mem) char *text = malloc(size + 1);
	uint64_t u = 0;
	double d = 0;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	/* Only the sanitizers judge: any answer is allowed. */
	(void)number_parse_u64(text, &u);
	(void)number_parse_double(text, &d);
	(void)number_parse_duration(text, &u);
	(void)number_parse_size(text, &u);
	return 0;
}
