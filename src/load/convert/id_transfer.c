/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/convert/id_transfer.h"

#include <errno.h>

#include "model/dictionary.h"
#include "model/sink.h"

void id_transfer_fini(struct id_transfer *transfer)
{
	vec_fini(&transfer->modules.ids);
	vec_fini(&transfer->processes.ids);
	vec_fini(&transfer->threads.ids);
	vec_fini(&transfer->places.ids);
	vec_fini(&transfer->stacks.ids);
	vec_fini(&transfer->labels.ids);
	vec_fini(&transfer->frames);
}

/* The slot of an id, NULL if out of memory. */
static uint32_t *slot(struct id_transfer_list *list, uint32_t id)
{
	while (list->ids.count <= id)
		if (vec_push(&list->ids, ID_NONE) < 0)
			return NULL;
	return &list->ids.items[id];
}

int id_transfer_process(struct id_transfer *transfer, uint32_t id, uint32_t *ret)
{
	struct process process = transfer->from->processes.items[id];
	uint32_t *known = slot(&transfer->processes, id);
	int r = known ? 0 : -ENOMEM;

	if (r == 0 && *known == ID_NONE) {
		if (transfer->process_count)
			process.exec_count = ++*transfer->process_count;
		r = sink_process(transfer->to, &process, known);
	}
	if (r == 0)
		*ret = *known;
	return r;
}

int id_transfer_module(struct id_transfer *transfer, uint32_t id, uint32_t *ret)
{
	uint32_t *known = slot(&transfer->modules, id);
	int r = known ? 0 : -ENOMEM;

	if (r == 0 && *known == ID_NONE) {
		struct module module = transfer->from->modules.items[id];

		if (module.kind == MODULE_ANONYMOUS)
			r = id_transfer_process(transfer, module.owner, &module.owner);
		if (r == 0)
			r = sink_module(transfer->to, &module, known);
	}
	if (r == 0)
		*ret = *known;
	return r;
}

int id_transfer_thread(struct id_transfer *transfer, uint32_t id, uint32_t *ret)
{
	uint32_t *known = slot(&transfer->threads, id);
	int r = known ? 0 : -ENOMEM;

	if (r == 0 && *known == ID_NONE) {
		struct thread thread = transfer->from->threads.items[id];

		r = id_transfer_process(transfer, thread.process, &thread.process);
		if (r == 0)
			r = sink_thread(transfer->to, &thread, known);
	}
	if (r == 0)
		*ret = *known;
	return r;
}

/* Outer places have smaller ids: all up to this one are mapped in order. */
static int map_place(struct id_transfer *transfer, uint32_t id, uint32_t *ret)
{
	const struct sink *sink = transfer->to;
	int r = 0;

	while (transfer->places.ids.count <= id && r == 0) {
		struct place place = transfer->from->places.items[transfer->places.ids.count];
		uint32_t made;

		if (place.module != MODULE_NONE)
			r = id_transfer_module(transfer, place.module, &place.module);
		if (place.outer < transfer->places.ids.count)
			place.outer = transfer->places.ids.items[place.outer];
		if (r == 0)
			r = sink_place(sink, &place, &made);
		if (r == 0)
			r = vec_push(&transfer->places.ids, made);
	}
	if (r == 0)
		*ret = transfer->places.ids.items[id];
	return r;
}

static int map_frame(struct id_transfer *transfer, struct frame *frame)
{
	if (frame->kind == FRAME_CUSTOM && frame->a < transfer->from->places.count)
		return map_place(transfer, frame->a, &frame->a);
	if (frame->kind > FRAME_KERNEL || frame->a == MODULE_NONE)
		return 0;
	return id_transfer_module(transfer, frame->a, &frame->a);
}

int id_transfer_stack(struct id_transfer *transfer, uint32_t id, uint32_t *ret)
{
	const struct dictionary *dictionary = transfer->from;
	uint32_t *known = slot(&transfer->stacks, id);
	uint32_t node = id;
	size_t depth = stack_tree_depth(&dictionary->stacks, id);
	int r = known ? 0 : -ENOMEM;

	if (r == 0 && *known != ID_NONE) {
		*ret = *known;
		return 0;
	}
	if (r < 0 || vec_reserve(&transfer->frames, depth) < 0)
		return -ENOMEM;
	transfer->frames.count = depth;
	while (r == 0 && depth-- > 0) {
		struct stack_node item = dictionary->stacks.nodes.items[node];

		transfer->frames.items[depth] = dictionary->frames.items[item.frame];
		r = map_frame(transfer, &transfer->frames.items[depth]);
		node = item.parent;
	}
	if (r == 0)
		r = sink_stack(transfer->to, transfer->frames.items, transfer->frames.count, known);
	if (r == 0)
		*ret = *known;
	return r;
}

static int map_labels(struct id_transfer *transfer, uint32_t id, uint32_t *ret)
{
	const struct dictionary *dictionary = transfer->from;
	uint32_t *known = slot(&transfer->labels, id);
	struct label labels[LABELS_MAX];
	int r = known ? 0 : -ENOMEM;

	if (r == 0 && *known == ID_NONE) {
		size_t n = label_sets_get(&dictionary->labels, &dictionary->strings, id, labels);

		r = sink_labels(transfer->to, labels, n, known);
	}
	if (r == 0)
		*ret = *known;
	return r;
}

int id_transfer_sample(struct id_transfer *transfer, const struct sample_batch *batch, size_t i,
		       struct id_transfer_ids *ret)
{
	int r = id_transfer_stack(transfer, batch->stack[i], &ret->stack);

	if (r == 0)
		r = id_transfer_thread(transfer, batch->thread[i], &ret->thread);
	if (r == 0)
		r = map_labels(transfer, batch->labels[i], &ret->labels);
	return r;
}
