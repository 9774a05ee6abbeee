/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/heap_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id_index.h"
#include "engine/ebpf/bpf_programs.h"
#include "engine/ebpf/bpf_sample.h"
#include "engine/perf/perf_sample.h"
#include "model/sink.h"
#include "perf_records/perf_record.h"
#include "process_stacks/process_tracker.h"
#include "wire/bpf_heap.h"
#include "wire/bpf_walk.h"

#define ROWS_MOST 65536u

_Static_assert((int)BPF_HEAP_FREED == (int)HEAP_FREE && (int)BPF_HEAP_MOVED == (int)HEAP_MOVE &&
		       (int)BPF_HEAP_KEPT == (int)HEAP_KEPT,
	       "ops are the same on both sides");

void bpf_heap_fini(struct bpf_heap *heap)
{
	vec_fini(&heap->rows);
	vec_fini(&heap->batch);
	vec_fini(&heap->rated);
}

static int compare_rows(const void *left, const void *right)
{
	const struct bpf_heap_row *a = left;
	const struct bpf_heap_row *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static int hand_on(struct bpf_programs *programs, uint32_t thread, struct error *err)
{
	struct bpf_heap *heap = &programs->heap;
	struct heap_batch batch = {thread, heap->batch.count, heap->batch.items};

	heap->batch.count = 0;
	if (batch.count == 0)
		return 0;
	return sink_heap(programs->output->sink, &batch, err);
}

static int hand_on_all(struct bpf_programs *programs, struct error *err)
{
	struct bpf_heap *heap = &programs->heap;
	bool mixed = false;
	int r = 0;

	for (size_t i = 1; i < heap->rows.count && !mixed; i++)
		mixed = heap->rows.items[i].thread != heap->rows.items[0].thread;
	if (mixed)
		qsort(heap->rows.items, heap->rows.count, sizeof(*heap->rows.items), compare_rows);
	for (size_t i = 0; i < heap->rows.count && r == 0; i++) {
		const struct bpf_heap_row *row = &heap->rows.items[i];

		if (vec_push(&heap->batch, row->event) < 0)
			return error_set(err, -ENOMEM, "out of memory");
		if (i + 1 == heap->rows.count || row[1].thread != row->thread)
			r = hand_on(programs, row->thread, err);
	}
	heap->rows.count = 0;
	return r;
}

int bpf_heap_flush(struct bpf_programs *programs, uint64_t until_ns, struct error *err)
{
	int r = hand_on_all(programs, err);

	if (until_ns == UINT64_MAX)
		until_ns = clock_monotonic_ns();
	return r < 0 ? r : sink_heap_until(programs->output->sink, until_ns, err);
}

static int put(struct bpf_programs *programs, uint32_t thread, const struct heap_event *event)
{
	struct bpf_heap *heap = &programs->heap;
	struct bpf_heap_row row = {thread, (uint32_t)heap->rows.count, *event};

	return vec_push(&heap->rows, row);
}

/* Reports the blocks that already exist, before the first event of a thread. */
static int put_rate(struct bpf_programs *programs, uint32_t thread, uint64_t time_ns)
{
	struct bpf_heap *heap = &programs->heap;
	struct heap_event event = {
		.size = heap->sample_bytes, .time_ns = time_ns, .stack = ID_NONE, .op = HEAP_RATE};

	while (heap->rated.count <= thread)
		if (vec_push(&heap->rated, false) < 0)
			return -ENOMEM;
	if (heap->rated.items[thread])
		return 0;
	heap->rated.items[thread] = true;
	return put(programs, thread, &event);
}

static bool read_end(const struct sample_record *sample, struct heap_event *ret)
{
	struct bpf_heap_end end;

	if (sample->raw_bytes < sizeof(end))
		return false;
	memcpy(&end, sample->raw, sizeof(end));
	if (end.op < HEAP_FREE || end.op > HEAP_KEPT || end.call >= HEAP_CALLS)
		return false;
	ret->address = end.block;
	ret->op = end.op;
	ret->call = end.call;
	return true;
}

/* The block's words are where other records have kernel addresses. */
static bool read_block(struct bpf_programs *programs, struct tracked_process *process,
		       struct sample_record *sample, struct heap_event *ret)
{
	struct bpf_walk_head head;
	uint64_t words[BPF_HEAP_WORDS];

	if (sample->raw_bytes < sizeof(head) + sizeof(words))
		return false;
	memcpy(&head, sample->raw, sizeof(head));
	memcpy(words, sample->raw + sizeof(head), sizeof(words));
	if (head.kernel_count != BPF_HEAP_WORDS || words[BPF_HEAP_WORD_CALL] >= HEAP_CALLS)
		return false;
	head.kernel_count = 0;
	if (head.kind == BPF_WALK_HEAP_SLICE) {
		head.kind = BPF_WALK_SLICE;
	} else {
		sample->raw += sizeof(words);
		sample->raw_bytes -= (uint32_t)sizeof(words);
	}
	if (!bpf_sample_read_head(programs, process, &head, sample))
		return false;
	ret->address = words[BPF_HEAP_WORD_BLOCK];
	ret->size = words[BPF_HEAP_WORD_SIZE];
	ret->call = (uint8_t)words[BPF_HEAP_WORD_CALL];
	ret->stack = perf_stack_of(programs->output, process, sample);
	perf_count_stack(programs->output, &programs->output->facts);
	return ret->stack != ID_NONE;
}

int bpf_heap_take(struct bpf_programs *programs, struct sample_record *sample, struct error *err)
{
	struct heap_event event = {
		.time_ns = sample->time_ns, .stack = ID_NONE, .cpu = (uint16_t)sample->cpu};
	struct tracked_process *process;
	uint32_t thread;
	int r;

	if (process_tracker_sample(programs->output->tracker, sample->pid, sample->tid, &process,
				   &thread) < 0)
		return perf_lose_sample(programs->output, sample->time_ns);
	if (!(sample->raw[0] == BPF_WALK_HEAP_END ? read_end(sample, &event)
						  : read_block(programs, process, sample, &event)))
		return perf_lose_sample(programs->output, sample->time_ns);
	r = programs->heap.sample_bytes > 0 ? put_rate(programs, thread, event.time_ns) : 0;
	if (r == 0)
		r = put(programs, thread, &event);
	if (r < 0)
		return error_set(err, r, "out of memory");
	programs->heap.events++;
	return programs->heap.rows.count >= ROWS_MOST ? hand_on_all(programs, err) : 0;
}
