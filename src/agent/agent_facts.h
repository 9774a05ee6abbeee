/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_AGENT_FACTS_H
#define WICK_AGENT_AGENT_FACTS_H

/* agent_facts: what an agent writes into a window about itself. */

#include <stddef.h>

#include "agent/window.h"

#define AGENT_FACTS_MAX 16
#define AGENT_FACT_MAX 128

struct agent_facts {
	struct window_fact items[AGENT_FACTS_MAX];
	char texts[AGENT_FACTS_MAX][AGENT_FACT_MAX];
	size_t count;
};

/* The key must be a constant. More than AGENT_FACTS_MAX are left out. */
void agent_facts_add(struct agent_facts *facts, const char *key, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
