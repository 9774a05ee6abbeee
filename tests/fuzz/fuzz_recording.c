/* SPDX-License-Identifier: BSD-2-Clause */

/* Feeds the reader of recordings with whatever comes: see recording_input.h. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "model/dictionary.h"
#include "model/heap_event.h"
#include "model/leak.h"
#include "model/memory_reading.h"
#include "recording/chunk.h"
#include "recording/reader.h"
#include "recording_input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	const struct recording_reader *reader;
	uint64_t samples;
	uint64_t heap_events;
};

/* Every id that is handed out names something. */
static int check_samples(void *self, const struct sample_batch *batch)
{
	struct seen *seen = self;
	const struct dictionary *dictionary = recording_reader_dictionary(seen->reader);

	for (size_t i = 0; i < batch->count; i++) {
		if (batch->stack[i] >= dictionary->stacks.nodes.count ||
		    batch->thread[i] >= dictionary->threads.count ||
		    batch->labels[i] >= dictionary->labels.sets.count ||
		    batch->cpu[i] >= RECORDING_MAX_CPUS)
			abort();
	}
	seen->samples += batch->count;
	return 0;
}

static int check_heap(void *self, const struct heap_batch *batch)
{
	struct seen *seen = self;
	const struct dictionary *dictionary = recording_reader_dictionary(seen->reader);

	if (batch->thread >= dictionary->threads.count)
		abort();
	for (size_t i = 0; i < batch->count; i++)
		if (batch->events[i].op >= HEAP_OPS || batch->events[i].call >= HEAP_CALLS ||
		    batch->events[i].zero != 0 ||
		    (batch->events[i].stack != ID_NONE &&
		     batch->events[i].stack >= dictionary->stacks.nodes.count))
			abort();
	seen->heap_events += batch->count;
	return 0;
}

static int check_leaks(void *self, const struct leak_scan *scan)
{
	struct seen *seen = self;
	const struct dictionary *dictionary = recording_reader_dictionary(seen->reader);

	if (scan->process >= dictionary->processes.count || scan->trigger > LEAK_ON_DEMAND ||
	    scan->group_count > CHUNK_MAX_LEAK_GROUPS)
		abort();
	for (size_t i = 0; i < scan->group_count; i++)
		if (scan->groups[i].leak_class >= LEAK_CLASSES ||
		    (scan->groups[i].stack != ID_NONE &&
		     scan->groups[i].stack >= dictionary->stacks.nodes.count) ||
		    (scan->groups[i].thread != ID_NONE &&
		     scan->groups[i].thread >= dictionary->threads.count))
			abort();
	return 0;
}

static int check_map(void *self, const struct map_event *event)
{
	const struct dictionary *dictionary =
		recording_reader_dictionary(((struct seen *)self)->reader);

	if (event->process >= dictionary->processes.count ||
	    (event->module != MODULE_NONE && event->module >= dictionary->modules.count))
		abort();
	return 0;
}

static int check_memory(void *self, const struct memory_reading *reading)
{
	uint64_t end = 0;

	(void)self;
	if (reading->kind >= MEMORY_READING_KINDS || reading->region_count > MEMORY_MAX_REGIONS)
		abort();
	for (size_t i = 0; i < reading->region_count; i++) {
		if (reading->regions[i].start < end)
			abort();
		end = reading->regions[i].start + reading->regions[i].size_bytes;
		if (end < reading->regions[i].start)
			abort();
	}
	return 0;
}

static int check_text(void *self, const char *key, const char *value)
{
	return strlen(key) + strlen(value) > 2 * (size_t)CHUNK_MAX_BYTES ? -1 : 0;
}

/* What refers to other things refers to things that are there. */
static void check_dictionary(const struct dictionary *dictionary)
{
	for (size_t i = 0; i < dictionary->threads.count; i++)
		if (dictionary->threads.items[i].process >= dictionary->processes.count)
			abort();
	for (size_t i = 0; i < dictionary->modules.count; i++)
		if (dictionary->modules.items[i].kind == MODULE_ANONYMOUS &&
		    dictionary->modules.items[i].owner >= dictionary->processes.count)
			abort();
	for (size_t i = 0; i < dictionary->frames.count; i++) {
		struct frame frame = dictionary->frames.items[i];

		if (frame.kind <= FRAME_KERNEL && frame.a != MODULE_NONE &&
		    frame.a >= dictionary->modules.count)
			abort();
	}
	for (size_t i = 1; i < dictionary->stacks.nodes.count; i++)
		if (dictionary->stacks.nodes.items[i].parent >= i ||
		    dictionary->stacks.nodes.items[i].frame >= dictionary->frames.count)
			abort();
}

static void read_it(const void *data, size_t size)
{
	struct seen seen = {0};
	struct recording_visitor visitor = {.self = &seen,
					    .samples = check_samples,
					    .heap = check_heap,
					    .memory = check_memory,
					    .leaks = check_leaks,
					    .map = check_map,
					    .info = check_text};
	struct recording_reader *reader;

	if (recording_reader_open_memory(data, size, "fuzz", &reader, NULL) < 0)
		abort();
	seen.reader = reader;
	(void)recording_reader_run(reader, &visitor, NULL);
	check_dictionary(recording_reader_dictionary(reader));
	if (recording_reader_damage(reader).samples != seen.samples ||
	    recording_reader_damage(reader).heap_events != seen.heap_events)
		abort();
	recording_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes file = {0};

	recording_input(data, size, &file);
	if (!file.failed)
		read_it(file.data, file.size);
	bytes_fini(&file);
	return 0;
}
