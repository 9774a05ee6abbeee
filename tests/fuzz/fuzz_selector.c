/* SPDX-License-Identifier: BSD-2-Clause */

/* Selectors of queries: what is accepted points into the selector, and is accepted again. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/scope.h"
#include "server/selector.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_inside(const struct selector *selector, const char *text)
{
	return text >= selector->texts && text < selector->texts + sizeof(selector->texts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SCOPED(mem) char *text = malloc(size + 1);
	SCOPED(mem) struct selector *selector = calloc(1, sizeof(*selector));
	struct error err = {0};
	size_t i;

	if (!text || !selector)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (selector_parse(selector, text, &err) < 0) {
		if (!err.text[0])
			abort(); /* it has to say why */
		return 0;
	}
	for (i = 0; i < selector->count; i++) {
		if (strlen(selector->matches[i].name) + strlen(selector->matches[i].value) >
		    sizeof(selector->texts))
			abort();
		if (!is_inside(selector, selector->matches[i].value))
			abort();
	}
	(void)selector_value(selector, "service");
	return 0;
}
