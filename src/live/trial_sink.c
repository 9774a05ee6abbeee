/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/trial_sink.h"

#include "elf/elf.h"
#include "model/heap_event.h"

#define NO_ENTRY UINT64_MAX
#define ENTRY_BYTES 256u /* the startup code of a program is about ten instructions long */

static int give_id(struct trial_sink *count, uint32_t *ret_id)
{
	*ret_id = count->others++;
	return 0;
}

static int count_schema(void *self, const struct schema *schema, uint32_t *ret_id)
{
	(void)schema;
	return give_id(self, ret_id);
}

static int count_process(void *self, const struct process *process, uint32_t *ret_id)
{
	(void)process;
	return give_id(self, ret_id);
}

static int count_thread(void *self, const struct thread *thread, uint32_t *ret_id)
{
	(void)thread;
	return give_id(self, ret_id);
}

static int count_labels(void *self, const struct label *labels, size_t n, uint32_t *ret_id)
{
	(void)labels, (void)n;
	return give_id(self, ret_id);
}

static int count_place(void *self, const struct place *place, uint32_t *ret_id)
{
	(void)place;
	return give_id(self, ret_id);
}

static int count_module(void *self, const struct module *module, uint32_t *ret_id)
{
	struct trial_sink *count = self;
	struct elf_file *elf = NULL;
	uint64_t entry = NO_ENTRY;

	if (module->kind == MODULE_FILE && elf_open(module->path, &elf, NULL) == 0)
		entry = elf_entry(elf);
	elf_close(elf);
	*ret_id = (uint32_t)count->entries.count;
	return vec_push(&count->entries, entry);
}

static bool is_whole(const struct trial_sink *count, const struct frame *frames, size_t n)
{
	const struct frame *root = frames;

	return n > 0 && root->kind == FRAME_NATIVE && root->a < count->entries.count &&
	       count->entries.items[root->a] != NO_ENTRY &&
	       root->b - count->entries.items[root->a] < ENTRY_BYTES;
}

static int count_stack(void *self, const struct frame *frames, size_t n, uint32_t *ret_id)
{
	struct trial_sink *count = self;

	struct trial_stack stack = {.whole = is_whole(count, frames, n)};

	for (size_t i = 0; i < n; i++)
		stack.woken |= frames[i].kind == FRAME_CUSTOM;
	*ret_id = (uint32_t)count->stacks_seen.count;
	return vec_push(&count->stacks_seen, stack);
}

static int add_stack(struct trial_sink *count, uint32_t id)
{
	struct trial_stack stack = {0};

	if (id < count->stacks_seen.count)
		stack = count->stacks_seen.items[id];
	count->stacks++;
	count->whole_stacks += stack.whole;
	count->woken_stacks += stack.woken;
	return vec_push(&count->in_order, stack.whole);
}

uint64_t trial_sink_late_cut(const struct trial_sink *count)
{
	uint64_t cut = 0;

	for (size_t i = count->in_order.count / 2; i < count->in_order.count; i++)
		cut += !count->in_order.items[i];
	return cut;
}

static int count_map(void *self, const struct map_event *event, struct error *err)
{
	(void)self, (void)event, (void)err;
	return 0;
}

static int count_batch(void *self, const struct sample_batch *batch, struct error *err)
{
	int r = 0;

	(void)err;
	for (size_t i = 0; i < batch->count && r == 0; i++)
		r = add_stack(self, batch->stack[i]);
	return r;
}

static int count_loss(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples)
{
	(void)self, (void)reason, (void)time_ns, (void)samples;
	return 0;
}

static int count_heap(void *self, const struct heap_batch *batch, struct error *err)
{
	int r = 0;

	(void)err;
	for (size_t i = 0; i < batch->count && r == 0; i++)
		if (batch->events[i].op == HEAP_ALLOC)
			r = add_stack(self, batch->events[i].stack);
	return r;
}

static int count_heap_until(void *self, uint64_t time_ns, struct error *err)
{
	(void)self, (void)time_ns, (void)err;
	return 0;
}

static const struct sink_ops count_ops = {
	.schema = count_schema,
	.module = count_module,
	.process = count_process,
	.thread = count_thread,
	.stack = count_stack,
	.labels = count_labels,
	.place = count_place,
	.map = count_map,
	.batch = count_batch,
	.loss = count_loss,
	.heap = count_heap,
	.heap_until = count_heap_until,
};

void trial_sink_init(struct trial_sink *count)
{
	*count = (struct trial_sink){.sink = {.ops = &count_ops, .self = count}};
}

void trial_sink_fini(struct trial_sink *count)
{
	vec_fini(&count->entries);
	vec_fini(&count->stacks_seen);
	vec_fini(&count->in_order);
}
