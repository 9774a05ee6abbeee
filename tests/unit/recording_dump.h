/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TEST_RECORDING_DUMP_H
#define WICK_TEST_RECORDING_DUMP_H

/* A recording as lines of text, with names instead of ids, so that damaged files can be compared.
 */

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "model/dictionary.h"
#include "model/heap_event.h"
#include "model/leak.h"
#include "model/memory_reading.h"
#include "model/sink.h"
#include "recording/reader.h"

struct dump {
	struct bytes text;
	const struct recording_reader *reader;
	bool bare; /* leave out what damage may take from a sample: labels, names of threads */
};

static inline int dump_info(void *self, const char *key, const char *value)
{
	bytes_printf(&((struct dump *)self)->text, "info %s=%s\n", key, value);
	return 0;
}

static inline int dump_schema(void *self, uint32_t id, const struct schema *schema)
{
	bytes_printf(&((struct dump *)self)->text, "schema %u %s %s %s %" PRIu64 "\n", id,
		     schema->event, schema->value, schema->unit, schema->period);
	if (schema->kind != SCHEMA_SAMPLED)
		bytes_printf(&((struct dump *)self)->text, "told schema %u is of kind %u\n", id,
			     (unsigned int)schema->kind);
	return 0;
}

static inline int dump_clock(void *self, uint64_t monotonic_ns, uint64_t realtime_ns)
{
	bytes_printf(&((struct dump *)self)->text, "clock %" PRIu64 " %" PRIu64 "\n", monotonic_ns,
		     realtime_ns);
	return 0;
}

static inline int dump_loss(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples)
{
	bytes_printf(&((struct dump *)self)->text, "loss %d %" PRIu64 " %" PRIu64 "\n", (int)reason,
		     time_ns, samples);
	return 0;
}

static inline int dump_kernel_symbol(void *self, uint64_t start, uint64_t size, const char *name,
				     const char *module)
{
	bytes_printf(&((struct dump *)self)->text, "symbol %" PRIx64 "+%" PRIu64 " %s %s\n", start,
		     size, name, module);
	return 0;
}

static inline void dump_module(struct dump *dump, uint32_t id)
{
	const struct dictionary *dictionary = recording_reader_dictionary(dump->reader);

	if (id == MODULE_NONE) {
		bytes_printf(&dump->text, "-");
		return;
	}
	bytes_printf(&dump->text, "%s/%d/%u", dictionary->modules.items[id].path,
		     (int)dictionary->modules.items[id].kind,
		     dictionary->modules.items[id].kind == MODULE_ANONYMOUS
			     ? dictionary->processes.items[dictionary->modules.items[id].owner].pid
			     : 0);
}

static inline int dump_map(void *self, const struct map_event *event)
{
	struct dump *dump = self;
	const struct dictionary *dictionary = recording_reader_dictionary(dump->reader);

	bytes_printf(&dump->text,
		     "map %u %" PRIu64 " %" PRIx64 "-%" PRIx64 " @%" PRIx64 " bias %" PRIx64 " ",
		     dictionary->processes.items[event->process].pid, event->time_ns, event->start,
		     event->end, event->file_offset, event->bias);
	dump_module(dump, event->module);
	bytes_printf(&dump->text, "\n");
	return 0;
}

static inline void dump_stack(struct dump *dump, uint32_t node)
{
	const struct dictionary *dictionary = recording_reader_dictionary(dump->reader);

	for (; node != 0; node = dictionary->stacks.nodes.items[node].parent) {
		struct frame frame =
			dictionary->frames.items[dictionary->stacks.nodes.items[node].frame];

		bytes_printf(&dump->text, " %u:%" PRIx64 ":", frame.kind, frame.b);
		if (frame.kind <= FRAME_KERNEL)
			dump_module(dump, frame.a);
	}
}

static inline void dump_names(struct dump *dump, uint32_t thread, uint32_t set)
{
	const struct dictionary *dictionary = recording_reader_dictionary(dump->reader);
	struct label_set labels = dictionary->labels.sets.items[set];

	bytes_printf(&dump->text, " %s %s",
		     dictionary->processes.items[dictionary->threads.items[thread].process].comm,
		     dictionary->threads.items[thread].comm);
	for (uint32_t i = labels.first; i < labels.first + labels.count; i++)
		bytes_printf(
			&dump->text, " %s=%s",
			strings_get(&dictionary->strings, dictionary->labels.pairs.items[i].key),
			strings_get(&dictionary->strings, dictionary->labels.pairs.items[i].value));
}

static inline int dump_samples(void *self, const struct sample_batch *batch)
{
	struct dump *dump = self;
	const struct dictionary *dictionary = recording_reader_dictionary(dump->reader);

	for (size_t i = 0; i < batch->count; i++) {
		bytes_printf(&dump->text, "sample %u %" PRIu64 " cpu%u tid%u %" PRIu64,
			     batch->schema, batch->time_ns[i], batch->cpu[i],
			     dictionary->threads.items[batch->thread[i]].tid, batch->weight[i]);
		if (!dump->bare)
			dump_names(dump, batch->thread[i], batch->labels[i]);
		dump_stack(dump, batch->stack[i]);
		bytes_printf(&dump->text, "\n");
	}
	return 0;
}

static inline int dump_heap(void *self, const struct heap_batch *batch)
{
	struct dump *dump = self;
	const struct dictionary *dictionary = recording_reader_dictionary(dump->reader);

	for (size_t i = 0; i < batch->count; i++) {
		const struct heap_event *event = &batch->events[i];

		bytes_printf(&dump->text,
			     "heap tid%u %" PRIu64 " cpu%u op%u call%u %" PRIx64 " %" PRIu64 "+%u",
			     dictionary->threads.items[batch->thread].tid, event->time_ns,
			     event->cpu, event->op, event->call, event->address, event->size,
			     event->slack);
		if (event->stack != ID_NONE)
			dump_stack(dump, event->stack);
		bytes_printf(&dump->text, "\n");
	}
	return 0;
}

static inline int dump_heap_until(void *self, uint64_t time_ns)
{
	bytes_printf(&((struct dump *)self)->text, "heap until %" PRIu64 "\n", time_ns);
	return 0;
}

static inline int dump_memory(void *self, const struct memory_reading *reading)
{
	struct dump *dump = self;
	const struct memory_split *split = &reading->split;

	bytes_printf(&dump->text, "memory pid%u kind%u %" PRIu64 " %" PRIu64 " %" PRIu64,
		     reading->pid, reading->kind, reading->time_ns, reading->resident_bytes,
		     reading->shared_bytes);
	if (reading->kind == MEMORY_SPLIT)
		bytes_printf(&dump->text,
			     " heap %" PRIu64 "/%" PRIu64 " stacks %" PRIu64 " files %" PRIu64
			     " own %" PRIu64 " rest %" PRIu64,
			     split->heap_bytes, split->heap_size_bytes, split->stack_bytes,
			     split->file_bytes, split->own_bytes, split->rest_bytes);
	for (size_t i = 0; i < reading->region_count; i++)
		bytes_printf(&dump->text, " %" PRIx64 "+%" PRIx64 ":%" PRIu64,
			     reading->regions[i].start, reading->regions[i].size_bytes,
			     reading->regions[i].resident_bytes);
	bytes_printf(&dump->text, "\n");
	return 0;
}

static inline int dump_leaks(void *self, const struct leak_scan *scan)
{
	struct dump *dump = self;
	const struct dictionary *dictionary = recording_reader_dictionary(dump->reader);

	bytes_printf(&dump->text,
		     "leaks pid%u trigger%u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		     " %" PRIu64 " %" PRIu64 " %" PRIu64 " %u\n",
		     dictionary->processes.items[scan->process].pid, scan->trigger, scan->time_ns,
		     scan->paused_ns, scan->cpu_ns, scan->live_blocks, scan->live_bytes,
		     scan->read_bytes, scan->unread_bytes, scan->unread_threads);
	for (size_t i = 0; i < scan->group_count; i++) {
		const struct leak_group *group = &scan->groups[i];

		bytes_printf(&dump->text,
			     "leak class%u %x %" PRIu64 "x%" PRIu64 " led %" PRIu64 "/%" PRIu64
			     " born %" PRIu64 "-%" PRIu64 " %" PRIx64,
			     group->leak_class, group->evidence, group->blocks, group->size_bytes,
			     group->led_blocks, group->led_bytes, group->first_born_ns,
			     group->last_born_ns, group->example);
		if (group->thread != ID_NONE)
			bytes_printf(&dump->text, " tid%u",
				     dictionary->threads.items[group->thread].tid);
		if (group->stack != ID_NONE)
			dump_stack(dump, group->stack);
		bytes_printf(&dump->text, "\n");
	}
	return 0;
}

static inline struct recording_visitor dump_visitor(struct dump *dump)
{
	return (struct recording_visitor){
		.self = dump,
		.info = dump_info,
		.schema = dump_schema,
		.samples = dump_samples,
		.heap = dump_heap,
		.heap_until = dump_heap_until,
		.memory = dump_memory,
		.leaks = dump_leaks,
		.map = dump_map,
		.clock = dump_clock,
		.loss = dump_loss,
		.kernel_symbol = dump_kernel_symbol,
	};
}

/* Of a whole recording. Returns what the reader said. */
static inline int dump_run(struct dump *dump, struct recording_reader *reader, struct error *err)
{
	struct recording_visitor visitor = dump_visitor(dump);
	int r;

	dump->reader = reader;
	r = recording_reader_run(reader, &visitor, err);
	bytes_put_u8(&dump->text, 0); /* text for strcmp() */
	return r;
}

#endif
