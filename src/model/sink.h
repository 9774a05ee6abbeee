/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_SINK_H
#define WICK_MODEL_SINK_H

/*
 * sink: where every source of samples puts its results.
 *
 * A source registers modules, processes, threads and stacks once and receives ids for them; samples
 * are then passed in batches of columns that refer to those ids. A sink is called by one thread.
 */

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "model/entity.h"

struct error;
struct heap_batch;
struct leak_scan;

/* From time_ns on, this part of the module is mapped at [start, end) of the process. */
struct map_event {
	uint32_t process;
	uint32_t module; /* MODULE_NONE: nothing from here on */
	uint64_t time_ns;
	uint64_t start;
	uint64_t end;
	uint64_t file_offset;
	uint64_t bias; /* runtime address - ELF vaddr */
};

/* Where weights come from, and what may be done with them. */
enum schema_kind {
	SCHEMA_SAMPLED = 0, /* a profiler interrupts the program now and then */
	SCHEMA_TOLD = 1,    /* the program itself reports each event */
	SCHEMA_GAUGE = 2,   /* it reports a current level: int64_t, never added up */
	SCHEMA_KINDS
};

/* What the weights of a batch mean. */
struct schema {
	const char *event; /* "cpu-clock", "page-faults" … */
	const char *value; /* "cpu", "wall", "alloc" … */
	const char *unit;  /* "nanoseconds", "bytes", "count" */
	uint64_t period;   /* nominal weight of one sample; 0: none */
	enum schema_kind kind;
};

/* Columns of equal length. Times need not be in order, but mostly are. */
struct sample_batch {
	uint32_t schema;
	size_t count;
	const uint32_t *stack;
	const uint32_t *thread;
	const uint32_t *cpu;
	const uint32_t *labels;  /* ids of label sets, 0 = none; NULL: all none */
	const uint64_t *time_ns; /* CLOCK_MONOTONIC */
	const uint64_t *weight;
	const uint64_t *times; /* how many samples each represents; NULL or 0: one */
};

enum loss_reason {
	LOSS_RING_FULL = 0,  /* the kernel had no room for the record */
	LOSS_TIMER = 1,      /* a timer tick was late or missed */
	LOSS_THROTTLED = 2,  /* the kernel throttled the event */
	LOSS_NO_MEMORY = 3,  /* we could not store it */
	LOSS_UNREADABLE = 4, /* in a damaged part of an imported file */
	LOSS_REASONS
};

struct sink_ops {
	/* Each returns 0 and the id, or a negative errno. */
	int (*schema)(void *self, const struct schema *schema, uint32_t *ret_id);
	int (*module)(void *self, const struct module *module, uint32_t *ret_id);
	int (*process)(void *self, const struct process *process, uint32_t *ret_id);
	int (*thread)(void *self, const struct thread *thread, uint32_t *ret_id);
	int (*stack)(void *self, const struct frame *frames, size_t n, uint32_t *ret_id);

	int (*map)(void *self, const struct map_event *event, struct error *err);
	int (*batch)(void *self, const struct sample_batch *batch, struct error *err);
	int (*loss)(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples);

	/* Optional: a name without an address. */
	int (*place)(void *self, const struct place *place, uint32_t *ret_id);
	/*
	 * Optional: at most LABELS_MAX labels in any order, else -E2BIG. Without labels the id
	 * is 0.
	 */
	int (*labels)(void *self, const struct label *labels, size_t n, uint32_t *ret_id);
	/* Optional: what a thread did with its memory. */
	int (*heap)(void *self, const struct heap_batch *batch, struct error *err);
	/* Optional, with heap: all events before this time have been passed. */
	int (*heap_until)(void *self, uint64_t time_ns, struct error *err);
	/* Optional, with heap: the results of a leak scan. */
	int (*leaks)(void *self, const struct leak_scan *scan, struct error *err);
	/* Optional: nothing more follows from a process, but its id may still be used. */
	void (*ended)(void *self, uint32_t process);
	/*
	 * Optional: frees memory when much has accumulated. Returns 1 if all stack ids that were
	 * returned are now invalid, 0 if nothing was done, or a negative errno.
	 */
	int (*trim)(void *self, struct error *err);
};

struct sink {
	const struct sink_ops *ops;
	void *self;
};

/*
 * Sources call the operations through these. An optional one that a sink does not have does nothing
 * and returns 0; if it would return an id, it returns -ENOTSUP.
 */
static inline int sink_schema(const struct sink *sink, const struct schema *schema,
			      uint32_t *ret_id)
{
	return sink->ops->schema(sink->self, schema, ret_id);
}

static inline int sink_module(const struct sink *sink, const struct module *module,
			      uint32_t *ret_id)
{
	return sink->ops->module(sink->self, module, ret_id);
}

static inline int sink_process(const struct sink *sink, const struct process *process,
			       uint32_t *ret_id)
{
	return sink->ops->process(sink->self, process, ret_id);
}

static inline int sink_thread(const struct sink *sink, const struct thread *thread,
			      uint32_t *ret_id)
{
	return sink->ops->thread(sink->self, thread, ret_id);
}

static inline int sink_stack(const struct sink *sink, const struct frame *frames, size_t n,
			     uint32_t *ret_id)
{
	return sink->ops->stack(sink->self, frames, n, ret_id);
}

static inline int sink_map(const struct sink *sink, const struct map_event *event,
			   struct error *err)
{
	return sink->ops->map(sink->self, event, err);
}

static inline int sink_batch(const struct sink *sink, const struct sample_batch *batch,
			     struct error *err)
{
	return sink->ops->batch(sink->self, batch, err);
}

static inline int sink_loss(const struct sink *sink, enum loss_reason reason, uint64_t time_ns,
			    uint64_t samples)
{
	return sink->ops->loss(sink->self, reason, time_ns, samples);
}

static inline int sink_place(const struct sink *sink, const struct place *place, uint32_t *ret_id)
{
	return sink->ops->place ? sink->ops->place(sink->self, place, ret_id) : -ENOTSUP;
}

static inline int sink_labels(const struct sink *sink, const struct label *labels, size_t n,
			      uint32_t *ret_id)
{
	return sink->ops->labels ? sink->ops->labels(sink->self, labels, n, ret_id) : -ENOTSUP;
}

static inline int sink_heap(const struct sink *sink, const struct heap_batch *batch,
			    struct error *err)
{
	return sink->ops->heap ? sink->ops->heap(sink->self, batch, err) : 0;
}

static inline int sink_heap_until(const struct sink *sink, uint64_t time_ns, struct error *err)
{
	return sink->ops->heap_until ? sink->ops->heap_until(sink->self, time_ns, err) : 0;
}

static inline int sink_leaks(const struct sink *sink, const struct leak_scan *scan,
			     struct error *err)
{
	return sink->ops->leaks ? sink->ops->leaks(sink->self, scan, err) : 0;
}

static inline void sink_ended(const struct sink *sink, uint32_t process)
{
	if (sink->ops->ended)
		sink->ops->ended(sink->self, process);
}

static inline int sink_trim(const struct sink *sink, struct error *err)
{
	return sink->ops->trim ? sink->ops->trim(sink->self, err) : 0;
}

#endif
