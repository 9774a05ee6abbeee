/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "heap/leak/suppressions.h"
#include "symbol/demangle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct suppression_call calls[] = {
		{"operator new(unsigned long)", "/usr/lib/libstdc++.so.6", "", 0, true},
		{"conf::parse(char const*)", "/bin/app", "/src/conf.c", 42, false},
		{"main", "/bin/app", "/src/main.c", 10, false},
	};
	const struct suppression_subject subject = {.kind = 1,
						    .size_bytes = 48,
						    .first_ns = 10,
						    .last_ns = 20,
						    .thread = "worker",
						    .calls = calls,
						    .call_count = 3,
						    .place = 1};
	struct suppressions list = {0};
	struct error err = {0};
	int r = suppressions_parse(&list, "f", (const char *)data, size, demangle, &err);

	/* What is refused is told why, and what was read before it can be asked. */
	if ((r < 0) != (err.text[0] != 0))
		abort();
	(void)suppressions_find(&list, &subject);
	suppressions_fini(&list);
	return 0;
}
