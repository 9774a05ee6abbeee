/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/python_calls.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "preload/fallible_load.h"
#include "preload/ring.h"
#include "preload/runtime.h"
#include "safe/thread_pointer.h"
#include "unwind/python_layout.h"
#include "unwind/python_thread.h"
#include "unwind/python_walk.h"
#include "wire/session_code.h"

_Static_assert(sizeof(struct python_layout) == sizeof(((struct session_process *)0)->python),
	       "fits its place");
_Static_assert(offsetof(struct python_layout, runtime) == 0, "is the first word");

/* Limits of what is copied of a code object; longer ones are read by the recorder. */
#define NAME_BYTES 320u
#define FILE_BYTES 640u
#define LINE_BYTES 4096u
#define LOWEST_ADDRESS 65536u

/* Hashes of code that was sent, by address. An entry that is replaced is sent again. */
#define KNOWN 4096u
static _Atomic uint64_t known_codes[KNOWN];

static bool read_own(void *context, uint64_t address, void *ret, uint32_t size)
{
	uint64_t *words = ret;

	(void)context;
	if ((address & 7) != 0 || address < LOWEST_ADDRESS ||
	    address >= PYTHON_ADDRESS_LIMIT - size)
		return false;
	for (uint32_t i = 0; i < size / 8; i++)
		words[i] = fallible_load((const uint64_t *)address + i);
	return true;
}

/* The layout that the recorder has found; false: none. */
static bool read_layout(struct python_layout *ret)
{
	const _Atomic uint64_t *told = preload.process->python;
	uint64_t words[sizeof(*ret) / 8];

	words[0] = atomic_load_explicit(&told[0], memory_order_acquire);
	if (words[0] == 0)
		return false;
	for (size_t i = 1; i < sizeof(words) / sizeof(words[0]); i++)
		words[i] = atomic_load_explicit(&told[i], memory_order_relaxed);
	memcpy(ret, words, sizeof(*ret));
	return ret->frame_bytes <= PYTHON_FRAME_WORDS * 8;
}

static uint64_t find_state(struct preload_thread *thread, const struct python_layout *layout,
			   const struct python_reader *reader)
{
	uint64_t pointer = safe_thread_pointer();

	if (thread->python_state != 0 &&
	    python_is_thread(layout, reader, thread->python_state, pointer) &&
	    python_is_listed(layout, reader, thread->python_state))
		return thread->python_state;
	thread->python_state = python_find_thread(layout, reader, pointer);
	return thread->python_state;
}

/* A string object, of at most that many bytes. */
static struct ring_part string_part(const struct python_layout *layout,
				    const struct python_reader *reader, uint64_t address,
				    uint32_t most)
{
	struct ring_part part = {.address = address};
	uint64_t head[5]; /* with its length and, in the last, its state */
	uint64_t bytes;

	if (!read_own(reader->context, address, head, sizeof(head)))
		return part;
	bytes = (head[4] >> 6 & 1 ? layout->ascii_bytes : layout->unicode_bytes) +
		head[2] * (head[4] >> 2 & 7);
	part.bytes = bytes < most ? (uint32_t)bytes : most;
	return part;
}

static struct ring_part lines_part(const struct python_reader *reader, uint64_t address)
{
	struct ring_part part = {.address = address};
	uint64_t size;

	if (read_own(reader->context, address + 16, &size, sizeof(size)))
		part.bytes = size < LINE_BYTES - 32 ? (uint32_t)size + 32 : LINE_BYTES;
	return part;
}

/* Sends a code object if it is new, or another one is at its address. */
static void send_code(struct preload_thread *thread, const struct python_layout *layout,
		      const struct python_reader *reader, uint64_t address)
{
	_Atomic uint64_t *known = &known_codes[(address >> 4 ^ address >> 16) % KNOWN];
	struct ring_part parts[SESSION_CODE_PARTS];
	uint64_t name, file, lines, mix;

	if (!python_read_word(reader, address + layout->code_name, &name) ||
	    !python_read_word(reader, address + layout->code_file, &file) ||
	    !python_read_word(reader, address + layout->code_lines, &lines))
		return;
	/* A forked child is another process to the recorder. */
	mix = (address * 3 + name * 5 + file * 7 + lines * 11) * 0x9e3779b97f4a7c15ull +
	      preload.pid;
	if (atomic_load_explicit(known, memory_order_relaxed) == mix)
		return;
	parts[0] = (struct ring_part){address, layout->code_lines + 8u};
	parts[1] = string_part(layout, reader, name, NAME_BYTES);
	parts[2] = string_part(layout, reader, file, FILE_BYTES);
	parts[3] = lines_part(reader, lines);
	if (ring_put_code(thread, parts))
		atomic_store_explicit(known, mix, memory_order_relaxed);
}

uint32_t python_calls_take(struct preload_thread *thread, uint32_t count)
{
	const struct python_reader reader = {read_own, NULL};
	uint64_t *words = thread->pcs + count;
	struct python_layout layout;
	enum python_end end;
	uint64_t state;
	uint32_t calls;

	if (count >= PRELOAD_DEPTH || !read_layout(&layout))
		return 0;
	state = find_state(thread, &layout, &reader);
	if (state == 0)
		return 0;
	end = python_walk(&layout, &reader, state, words, PRELOAD_DEPTH - count, &calls);
	if (end != PYTHON_ROOT && end != PYTHON_DEPTH) {
		preload_count(SESSION_PYTHON_TORN, 1);
		return 0;
	}
	for (uint32_t i = 0; i < calls; i++)
		send_code(thread, &layout, &reader, python_word_code(words[i]));
	return calls;
}
