/* SPDX-License-Identifier: BSD-2-Clause */

/* Bodies of forms. The first line is the type, the rest the body; a part lies within it. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "server/push/multipart.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size > 0 ? memchr(data, '\n', size) : NULL;
	size_t head = newline ? (size_t)(newline - data) : size;
	size_t rest = newline ? size - head - 1 : 0;
	/* Exactly as large as it is, so that a byte too far is noticed. */
	SCOPED(mem) char *type = malloc(head + 1);
	SCOPED(mem) uint8_t *body = malloc(rest > 0 ? rest : 1);
	struct multipart_part part;

	if (!type || !body)
		return 0;
	if (head > 0)
		memcpy(type, data, head);
	type[head] = '\0';
	if (rest > 0)
		memcpy(body, newline + 1, rest);
	if (!multipart_find(type, body, rest, "profile", &part))
		return 0;
	if (part.data < body || part.size > rest || part.data + part.size > body + rest)
		abort();
	return 0;
}
