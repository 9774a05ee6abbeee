/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_HEAP_EVENTS_H
#define WICK_ENGINE_EBPF_HEAP_EVENTS_H

/*
 * heap_events: turns the records of BPF programs at an allocator's functions into heap events.
 *
 * Records come in time order, with threads mixed; the sink wants events grouped by thread. They are
 * collected here until they are flushed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/heap_event.h"

struct bpf_programs;
struct error;
struct sample_record;

struct bpf_heap_row {
	uint32_t thread;
	uint32_t order; /* of arrival */
	struct heap_event event;
};

struct bpf_heap {
	bool on;
	uint64_t sample_bytes; /* 0: all blocks are recorded */
	uint64_t events;
	VEC(struct bpf_heap_row) rows;
	VEC(struct heap_event) batch; /* of one thread, for the sink */
	VEC(bool) rated;              /* by thread: the sink knows that its blocks are sampled */
};

void bpf_heap_fini(struct bpf_heap *heap);

/* Collects the event of a record. */
int bpf_heap_take(struct bpf_programs *programs, struct sample_record *sample, struct error *err);

/* Hands all events to the sink, which learns that those up to until_ns are complete. */
int bpf_heap_flush(struct bpf_programs *programs, uint64_t until_ns, struct error *err);

#endif
