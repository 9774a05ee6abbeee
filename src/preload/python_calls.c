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

/* Code that was sent, by address. An entry that is replaced is sent again. */
#define KNOWN 4096u
#define PLACES_APART 389u /* of one code object for two readers */
#define SPREAD 0x9e3779b97f4a7c15ull
static struct known_code {
	_Atomic uint64_t hash;
	_Atomic uint64_t head; /* of the ring, after it */
} known_codes[KNOWN];

#define READ_MOST 4096u /* of what an address refers to */

static inline __attribute__((always_inline)) bool read_own(void *context, uint64_t address,
							   void *ret, uint32_t size)
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

static const struct python_reader own_reader = {read_own, NULL};

bool python_calls_layout(struct python_layout *ret)
{
	const _Atomic uint64_t *told = preload.process->python;
	typedef uint64_t __attribute__((may_alias)) word;
	word *words = (word *)ret;

	words[0] = atomic_load_explicit(&told[0], memory_order_acquire);
	if (words[0] == 0)
		return false;
	for (size_t i = 1; i < sizeof(*ret) / sizeof(word); i++)
		words[i] = atomic_load_explicit(&told[i], memory_order_relaxed);
	return ret->frame_bytes <= PYTHON_FRAME_WORDS * 8;
}

/* Whether a thread's state is still what it was found to be. This is for each allocation. */
static __attribute__((flatten)) bool is_known(const struct python_layout *layout, uint64_t state,
					      uint64_t pointer)
{
	return python_is_thread(layout, &own_reader, state, pointer) &&
	       python_is_listed(layout, &own_reader, state) &&
	       python_is_single(layout, &own_reader, state);
}

/* *ret_single: the thread has no state in another interpreter. */
static inline uint64_t find_state(struct preload_thread *thread, const struct python_layout *layout,
				  bool *ret_single)
{
	uint64_t pointer = safe_thread_pointer();
	uint64_t state = thread->python_state;

	*ret_single = true;
	if (state != 0 && is_known(layout, state, pointer))
		return state;
	state = python_find_thread(layout, &own_reader, pointer);
	thread->python_state = state;
	*ret_single = state != 0 && python_is_single(layout, &own_reader, state);
	return state;
}

/* A string object, of at most that many bytes. */
static struct ring_part string_part(const struct python_layout *layout, uint64_t address,
				    uint32_t most)
{
	struct ring_part part = {.address = address};
	uint64_t head[5]; /* with its length and, in the last, its state */
	uint64_t bytes;

	if (!read_own(NULL, address, head, sizeof(head)))
		return part;
	bytes = (head[4] >> 6 & 1 ? layout->ascii_bytes : layout->unicode_bytes) +
		head[2] * (head[4] >> 2 & 7);
	part.bytes = bytes < most ? (uint32_t)bytes : most;
	return part;
}

static struct ring_part lines_part(uint64_t address)
{
	struct ring_part part = {.address = address};
	uint64_t size;

	if (read_own(NULL, address + 16, &size, sizeof(size)))
		part.bytes = size < LINE_BYTES - 32 ? (uint32_t)size + 32 : LINE_BYTES;
	return part;
}

/* What tells a code object apart from others at its address. False: it cannot be read. */
struct code_key {
	uint64_t name;
	uint64_t file;
	uint64_t lines;
};

static bool read_key(const struct python_layout *layout, uint64_t address, struct code_key *ret)
{
	return read_own(NULL, address + layout->code_name, &ret->name, sizeof(ret->name)) &&
	       read_own(NULL, address + layout->code_file, &ret->file, sizeof(ret->file)) &&
	       read_own(NULL, address + layout->code_lines, &ret->lines, sizeof(ret->lines));
}

static uint64_t key_hash(uint64_t address, const struct code_key *key)
{
	return (address * 3 + key->name * 5 + key->file * 7 + key->lines * 11) * SPREAD;
}

static bool is_place(uint64_t address)
{
	return (address & 7) == 0 && address >= LOWEST_ADDRESS &&
	       address < PYTHON_ADDRESS_LIMIT - READ_MOST;
}

static inline uint64_t word_at(uint64_t address)
{
	return fallible_load((const uint64_t *)(address & ~7ull));
}

static __attribute__((flatten)) uint64_t hash_chain(const struct python_layout *layout,
						    uint64_t state, uint32_t limit)
{
	bool is_number = layout->first_instruction == PYTHON_NO_OFFSET;
	uint64_t sum = 0;
	uint64_t frame;

	if (python_first_frame(layout, &own_reader, state, &frame) != PYTHON_GOING)
		return 0;
	for (uint32_t i = 0; i < limit && is_place(frame); i++) {
		uint64_t code = word_at(frame + layout->code) & ~7ull;
		uint64_t instruction = word_at(frame + layout->instruction);

		if (is_number)
			instruction = (uint32_t)(instruction >> (layout->instruction & 4) * 8);
		if (is_place(code))
			sum += word_at(code + layout->code_name) * 5 +
			       word_at(code + layout->code_lines) * 11;
		sum = (sum + code * 3 + instruction) * SPREAD;
		sum ^= sum >> 29;
		frame = word_at(frame + layout->previous);
	}
	return sum;
}

uint64_t python_calls_hash(struct preload_thread *thread, const struct python_layout *layout,
			   uint32_t limit)
{
	uint64_t pointer = safe_thread_pointer();
	struct python_threads at = {0};
	uint64_t sum = 0;
	uint64_t other;
	bool single;
	uint64_t state = find_state(thread, layout, &single);

	if (state == 0)
		return 0;
	if (single)
		return hash_chain(layout, state, limit);
	while ((other = python_next_thread(layout, &own_reader, &at)) != 0)
		if (python_is_thread(layout, &own_reader, other, pointer))
			sum = sum * SPREAD + hash_chain(layout, other, limit);
	return sum;
}

/* Whether a code object is known to the reader of the ring, or is before any sample in it. */
static bool is_sent(const struct preload_thread *thread, const struct known_code *known,
		    uint64_t hash)
{
	uint64_t head = atomic_load_explicit(&known->head, memory_order_relaxed);

	if (atomic_load_explicit(&known->hash, memory_order_relaxed) != hash)
		return false;
	/* It may be overwritten while samples that need it are not. */
	return !preload.control->overwrite_old ||
	       atomic_load_explicit(&thread->slot->tail, memory_order_acquire) >= head ||
	       thread->head - head < thread->ring_words / 4;
}

/* Sends a code object if it is new, or another one is at its address. */
static bool send_code(struct preload_thread *thread, const struct python_layout *layout,
		      uint64_t address, uint64_t reader, python_calls_put *put)
{
	uint64_t place = (address >> 4 ^ address >> 16) + reader * PLACES_APART;
	struct known_code *known = &known_codes[place % KNOWN];
	struct ring_part parts[SESSION_CODE_PARTS];
	struct code_key key;
	uint64_t mix;

	if (!read_key(layout, address, &key))
		return true; /* it has no name, now or later */
	/* A forked child is another process to the recorder. */
	mix = key_hash(address, &key) + preload.pid + (reader << 32);
	if (is_sent(thread, known, mix))
		return true;
	parts[0] = (struct ring_part){address, layout->code_lines + 8u};
	parts[1] = string_part(layout, key.name, NAME_BYTES);
	parts[2] = string_part(layout, key.file, FILE_BYTES);
	parts[3] = lines_part(key.lines);
	if (!put(thread, parts))
		return false;
	atomic_store_explicit(&known->hash, mix, memory_order_relaxed);
	atomic_store_explicit(&known->head, thread->head, memory_order_relaxed);
	return true;
}

bool python_calls_send(struct preload_thread *thread, const struct python_layout *layout,
		       const uint64_t *words, uint32_t count, uint64_t reader,
		       python_calls_put *put)
{
	bool all = true;
	uint64_t last = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t address = python_word_code(words[i]);

		if (address != last) /* a function that calls itself is looked up once */
			all &= send_code(thread, layout, address, reader, put);
		last = address;
	}
	return all;
}

uint32_t python_calls_read(struct preload_thread *thread, const struct python_layout *layout,
			   uint64_t *words, uint32_t capacity)
{
	bool single;
	const struct python_thread own = {
		.state = find_state(thread, layout, &single),
		.pointer = safe_thread_pointer(),
	};
	enum python_end end;
	uint32_t calls;

	if (own.state == 0)
		return 0;
	end = python_walk_thread(layout, &own_reader, &own, words, capacity, &calls);
	if (end == PYTHON_ROOT || end == PYTHON_DEPTH)
		return calls;
	preload_count(SESSION_PYTHON_TORN, 1);
	return 0;
}

uint32_t python_calls_take(struct preload_thread *thread, uint32_t count)
{
	uint64_t *words = thread->pcs + count;
	/* A ring that is overwritten must have all that its samples need. */
	uint64_t reader = preload.control->overwrite_old ? thread->index + 1 : 0;
	struct python_layout layout;
	uint32_t calls;

	if (count >= PRELOAD_DEPTH || !python_calls_layout(&layout))
		return 0;
	calls = python_calls_read(thread, &layout, words, PRELOAD_DEPTH - count);
	if (calls > 0 && python_holds_gil(&layout, &own_reader, thread->python_state))
		words[0] |= PYTHON_WORD_HOLDS;
	/* The sample has no names if there is no room; the next one tries again. */
	(void)python_calls_send(thread, &layout, words, calls, reader, ring_put_code);
	return calls;
}
