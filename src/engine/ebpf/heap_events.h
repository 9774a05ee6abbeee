/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_HEAP_EVENTS_H
#define WICK_ENGINE_EBPF_HEAP_EVENTS_H

/*
 * heap_events: what BPF programs at an allocator's functions wrote, as events of the heap.
 *
 * Records come in order of time, threads mixed; the sink wants the events of one thread
 * after the other. They gather here until they are handed on.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/heap_event.h"

struct error;
struct bpf_programs;
struct sample_record;

struct bpf_heap_row {
	uint32_t thread;
	uint32_t order; /* of arrival */
	struct heap_event event;
};

struct bpf_heap {
	bool on;
	uint64_t sample_bytes; /* 0: all blocks are told of */
	uint64_t events;
	VEC(struct bpf_heap_row) rows;
	VEC(struct heap_event) batch; /* that is being handed on */
	VEC(bool) rated;              /* threads that were told of as sampled */
};

void bpf_heap_fini(struct bpf_heap *heap);

/* Whether a record is one of these. */
bool bpf_heap_is(const struct sample_record *sample);
int bpf_heap_take(struct bpf_programs *programs, struct sample_record *sample, struct error *err);

/* Hands on what has gathered; all that happened until then has come. */
int bpf_heap_flush(struct bpf_programs *programs, uint64_t until_ns, struct error *err);

#endif
