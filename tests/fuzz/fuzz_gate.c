/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/scope.h"
#include "view/diff/diff_gate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SCOPED(mem) char *text = malloc(size + 1);
	struct diff_gate gate;
	struct error err;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (diff_gate_parse(text, &gate, &err) < 0)
		return 0;
	/* What is accepted is a finite limit on something that has a name. */
	if (!(gate.limit >= 0 && gate.limit <= 1e6) || !gate.name || !*gate.name)
		abort();
	diff_gate_fini(&gate);
	return 0;
}
