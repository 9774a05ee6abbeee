/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_FAKE_SINK_H
#define WICK_TESTS_FAKE_SINK_H

/* fake_sink: a sink that interns as a recorder does and keeps all it was told. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"
#include "model/dictionary.h"
#include "model/sink.h"

struct fake_sample {
	uint32_t schema;
	uint32_t stack;
	uint32_t thread;
	uint32_t cpu;
	uint32_t labels;
	uint64_t time_ns;
	uint64_t weight;
	uint64_t times; /* 0: one */
};

struct fake_sink {
	struct sink sink;
	struct dictionary dictionary;
	VEC(struct map_event) maps;
	VEC(struct fake_sample) samples;
	size_t module_calls;
	size_t process_calls;
	bool trims; /* forgets its stacks whenever asked whether to */
	uint64_t lost[LOSS_REASONS];
};

static inline int fake_schema(void *self, const struct schema *schema, uint32_t *ret_id)
{
	(void)self, (void)schema;
	*ret_id = 0;
	return 0;
}

static inline int fake_module(void *self, const struct module *module, uint32_t *ret_id)
{
	struct fake_sink *fake = self;

	fake->module_calls++;
	*ret_id = dictionary_module(&fake->dictionary, module);
	return 0;
}

static inline int fake_process(void *self, const struct process *process, uint32_t *ret_id)
{
	struct fake_sink *fake = self;

	fake->process_calls++;
	*ret_id = dictionary_process(&fake->dictionary, process);
	return 0;
}

static inline int fake_thread(void *self, const struct thread *thread, uint32_t *ret_id)
{
	struct fake_sink *fake = self;

	*ret_id = dictionary_thread(&fake->dictionary, thread);
	return 0;
}

static inline int fake_place(void *self, const struct place *place, uint32_t *ret_id)
{
	struct fake_sink *fake = self;

	*ret_id = dictionary_place(&fake->dictionary, place);
	return 0;
}

static inline int fake_stack(void *self, const struct frame *frames, size_t n, uint32_t *ret_id)
{
	struct fake_sink *fake = self;

	*ret_id = dictionary_stack(&fake->dictionary, frames, n);
	return 0;
}

static inline int fake_labels(void *self, const struct label *labels, size_t n, uint32_t *ret_id)
{
	struct fake_sink *fake = self;

	*ret_id = dictionary_labels(&fake->dictionary, labels, n);
	return 0;
}

static inline int fake_map(void *self, const struct map_event *event, struct error *err)
{
	struct fake_sink *fake = self;

	(void)err;
	return vec_push(&fake->maps, *event);
}

static inline int fake_batch(void *self, const struct sample_batch *batch, struct error *err)
{
	struct fake_sink *fake = self;
	size_t i;

	(void)err;
	for (i = 0; i < batch->count; i++)
		assert_int_equal(vec_push(&fake->samples,
					  (struct fake_sample){
						  .schema = batch->schema,
						  .stack = batch->stack[i],
						  .thread = batch->thread[i],
						  .cpu = batch->cpu[i],
						  .labels = batch->labels ? batch->labels[i] : 0,
						  .time_ns = batch->time_ns[i],
						  .weight = batch->weight[i],
						  .times = batch->times ? batch->times[i] : 0}),
				 0);
	return 0;
}

static inline int fake_loss(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples)
{
	struct fake_sink *fake = self;

	(void)time_ns;
	fake->lost[reason] += samples;
	return 0;
}

static inline int fake_trim(void *self, struct error *err)
{
	struct fake_sink *fake = self;

	(void)err;
	return fake->trims && dictionary_forget_stacks(&fake->dictionary, true) == 0;
}

static inline void fake_sink_init(struct fake_sink *fake)
{
	static const struct sink_ops ops = {
		.schema = fake_schema,
		.module = fake_module,
		.process = fake_process,
		.thread = fake_thread,
		.place = fake_place,
		.stack = fake_stack,
		.labels = fake_labels,
		.map = fake_map,
		.batch = fake_batch,
		.loss = fake_loss,
		.trim = fake_trim,
	};

	*fake = (struct fake_sink){.sink = {.ops = &ops, .self = fake}};
	assert_int_equal(dictionary_init(&fake->dictionary), 0);
}

static inline void fake_sink_fini(struct fake_sink *fake)
{
	dictionary_fini(&fake->dictionary);
	vec_fini(&fake->maps);
	vec_fini(&fake->samples);
}

#endif
