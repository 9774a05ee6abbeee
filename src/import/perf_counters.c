/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/perf_counters.h"

#include <errno.h>

void perf_counters_fini(struct perf_counters *counters)
{
	vec_fini(&counters->items);
	id_index_fini(&counters->index);
}

int perf_counters_since(struct perf_counters *counters, const struct perf_counter *now,
			uint64_t *ret)
{
	uint64_t hash = hash_pair(now->id, now->tid);
	struct id_probe probe = id_index_probe(&counters->index, hash);
	uint32_t i;

	*ret = now->value;
	while ((i = id_probe_next(&counters->index, &probe)) != ID_NONE) {
		struct perf_counter *known = &counters->items.items[i];

		if (known->id != now->id || known->tid != now->tid)
			continue;
		if (now->value >= known->value)
			*ret = now->value - known->value;
		known->value = now->value;
		return 0;
	}
	if (id_index_add(&counters->index, hash, (uint32_t)counters->items.count) < 0)
		return -ENOMEM;
	return vec_push(&counters->items, *now);
}
