/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/sample_columns.h"

void sample_columns_fini(struct sample_columns *columns)
{
	vec_fini(&columns->schema);
	vec_fini(&columns->stack);
	vec_fini(&columns->thread);
	vec_fini(&columns->cpu);
	vec_fini(&columns->labels);
	vec_fini(&columns->time_ns);
	vec_fini(&columns->weight);
	vec_fini(&columns->times);
	columns->count = 0;
}

int sample_columns_reserve(struct sample_columns *columns, size_t n)
{
	return vec_reserve(&columns->schema, n) < 0 || vec_reserve(&columns->stack, n) < 0 ||
			       vec_reserve(&columns->thread, n) < 0 ||
			       vec_reserve(&columns->cpu, n) < 0 ||
			       vec_reserve(&columns->labels, n) < 0 ||
			       vec_reserve(&columns->time_ns, n) < 0 ||
			       vec_reserve(&columns->weight, n) < 0 ||
			       vec_reserve(&columns->times, n) < 0
		       ? -ENOMEM
		       : 0;
}

int sample_columns_add(struct sample_columns *columns, const struct sample_batch *batch)
{
	size_t to = columns->count;
	size_t i;

	if (sample_columns_reserve(columns, to + batch->count) < 0)
		return -ENOMEM;
	for (i = 0; i < batch->count; i++, to++) {
		uint64_t times = batch->times ? batch->times[i] : 1;

		columns->schema.items[to] = batch->schema;
		columns->stack.items[to] = batch->stack[i];
		columns->thread.items[to] = batch->thread[i];
		columns->cpu.items[to] = batch->cpu[i];
		columns->labels.items[to] = batch->labels ? batch->labels[i] : 0;
		columns->time_ns.items[to] = batch->time_ns[i];
		columns->weight.items[to] = batch->weight[i];
		columns->times.items[to] = times == 0 ? 1 : times < INT64_MAX ? times : INT64_MAX;
	}
	columns->count = to;
	return 0;
}

struct sample_batch sample_columns_batch(const struct sample_columns *columns, size_t at)
{
	size_t end = at;

	while (end < columns->count && columns->schema.items[end] == columns->schema.items[at])
		end++;
	return (struct sample_batch){
		.schema = columns->schema.items[at],
		.count = end - at,
		.stack = columns->stack.items + at,
		.thread = columns->thread.items + at,
		.cpu = columns->cpu.items + at,
		.labels = columns->labels.items + at,
		.time_ns = columns->time_ns.items + at,
		.weight = columns->weight.items + at,
		.times = columns->times.items + at,
	};
}
