/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/agent_facts.h"

#include <stdarg.h>
#include <stdio.h>

void agent_facts_add(struct agent_facts *facts, const char *key, const char *format, ...)
{
	char *text;
	va_list arguments;

	if (facts->count >= AGENT_FACTS_MAX)
		return;
	text = facts->texts[facts->count];
	va_start(arguments, format);
	(void)vsnprintf(text, AGENT_FACT_MAX, format, arguments); /* a cut text is fine */
	va_end(arguments);
	facts->items[facts->count++] = (struct window_fact){key, text};
}
