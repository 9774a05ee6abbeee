/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/heap/heap_python.h"

#include "preload/heap/heap_memory.h"
#include "preload/python_calls.h"
#include "preload/ring.h"
#include "preload/stack.h"
#include "unwind/python_layout.h"

void heap_python_look(struct preload_thread *thread, bool find_out)
{
	struct heap_memory *memory = thread->heap;
	struct python_layout layout;

	memory->calls_hash = 0;
	memory->call_count = 0;
	if ((thread->python_state != 0 || find_out) && python_calls_layout(&layout))
		memory->calls_hash = python_calls_hash(thread, &layout, stack_depth());
}

void heap_python_read(struct preload_thread *thread)
{
	struct heap_memory *memory = thread->heap;
	struct python_layout layout;

	if (memory->calls_hash != 0 && python_calls_layout(&layout))
		memory->call_count =
			python_calls_read(thread, &layout, memory->calls, stack_depth());
}

static bool put_code(struct preload_thread *thread, const struct ring_part *parts)
{
	uint32_t words = ring_code_words(parts);
	uint64_t head;
	uint64_t *place = heap_claim(thread, words, &head);

	if (!place)
		return false;
	ring_write_code(place, words, parts);
	heap_publish(thread, head);
	return true;
}

bool heap_python_send(struct preload_thread *thread)
{
	const struct heap_memory *memory = thread->heap;
	struct python_layout layout;

	/* In the ring of each thread: the rings of others may be read later. */
	return memory->call_count == 0 || !python_calls_layout(&layout) ||
	       python_calls_send(thread, &layout, memory->calls, memory->call_count,
				 thread->index + 1, put_code);
}
