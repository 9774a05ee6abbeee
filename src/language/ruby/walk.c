/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/ruby/walk.h"

#include <string.h>

#include "language/language.h"
#include "language/ruby/layout.h"
#include "unwind/python_walk.h"

#define MAX_THREADS 4096u
#define MAX_FRAMES 65536u
#define MAX_STACK_WORDS (1ull << 27)

/* Of the first word of a frame's environment: */
#define FRAME_KIND 0x7fff0001u
#define FRAME_FIRST 0x20u /* C code started the loop with it */
#define FRAME_C 0x80u
#define FRAME_DUMMY 0x79990001u /* the outermost of a thread or fiber */

static uint64_t word_at(const uint8_t *bytes, uint16_t place)
{
	uint64_t word;

	memcpy(&word, bytes + place, sizeof(word));
	return word;
}

static bool is_address(uint64_t value)
{
	return value != 0 && (value & 7) == 0 && value < PYTHON_ADDRESS_LIMIT;
}

/*
 * Finds a thread by its thread pointer; 0: none. The list is a ring, and one of its members is not
 * a thread, but what holds the ring: it has no pointer to the virtual machine.
 */
static uint64_t find_thread(const struct ruby_layout *layout, const struct python_reader *reader,
			    const struct ruby_thread *wanted)
{
	uint64_t first;
	uint64_t thread;
	uint64_t vm;

	if (!python_read_word(reader, wanted->vm_pointer, &vm) || !is_address(vm) ||
	    !python_read_word(reader, vm + layout->main_thread, &first))
		return 0;
	thread = first;
	for (uint32_t i = 0; i < MAX_THREADS && is_address(thread); i++) {
		uint64_t owner;
		uint64_t id;

		if (python_read_word(reader, thread + layout->thread_vm, &owner) && owner == vm &&
		    python_read_word(reader, thread + layout->thread_id, &id) &&
		    wanted->thread_pointer - id <= LANGUAGE_THREAD_SLACK)
			return thread;
		if (!python_read_word(reader, thread, &thread) || thread == first)
			return 0;
	}
	return 0;
}

/* The kinds of frames that run Ruby code: method, block, class, top, eval, rescue. */
static bool is_ruby_kind(uint32_t flags)
{
	static const uint32_t kinds[] = {0x11110001, 0x22220001, 0x33330001,
					 0x44440001, 0x77770001, 0x78880001};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if ((flags & FRAME_KIND) == kinds[i])
			return (flags & FRAME_C) == 0;
	return false;
}

/* The index of an instruction in the code of its iseq; false: it is not there. */
static bool find_index(const struct ruby_layout *layout, const struct python_reader *reader,
		       uint64_t iseq, uint64_t instruction, uint64_t *ret)
{
	uint32_t code_words;
	uint64_t body;
	uint64_t code;

	if (!python_read_word(reader, iseq + layout->body, &body) || !is_address(body) ||
	    !python_read_word(reader, body + layout->code, &code) ||
	    !reader->read(reader->context, body + layout->code_words, &code_words,
			  sizeof(code_words)))
		return false;
	*ret = (instruction - code) / sizeof(uint64_t);
	return instruction >= code && *ret <= code_words;
}

/* *ret_word is 0 for a frame of C code. */
static enum python_end decode(const struct ruby_layout *layout, const struct python_reader *reader,
			      uint64_t frame, uint64_t *ret_word)
{
	uint8_t bytes[RUBY_FRAME_BYTES];
	uint64_t environment;
	uint64_t instruction;
	uint64_t flags;
	uint64_t index;
	uint64_t iseq;

	*ret_word = 0;
	if (!reader->read(reader->context, frame, bytes, layout->frame_bytes))
		return PYTHON_UNREADABLE;
	instruction = word_at(bytes, layout->instruction);
	iseq = word_at(bytes, layout->iseq);
	environment = word_at(bytes, layout->environment);
	if (instruction == 0 || iseq == 0)
		return PYTHON_GOING;
	if (!is_address(iseq) || !is_address(environment) ||
	    !python_read_word(reader, environment, &flags))
		return PYTHON_TORN;
	if ((flags & FRAME_KIND) == FRAME_DUMMY)
		return PYTHON_GOING;
	if (!is_ruby_kind((uint32_t)flags) ||
	    !find_index(layout, reader, iseq, instruction, &index))
		return PYTHON_TORN;
	if (index > PYTHON_INDEX_MAX)
		index = PYTHON_INDEX_MAX;
	*ret_word = PYTHON_WORD | index << PYTHON_INDEX_SHIFT | iseq >> 3;
	if (flags & FRAME_FIRST)
		*ret_word |= PYTHON_WORD_ENTRY;
	return PYTHON_GOING;
}

/* The innermost frame of a thread, and the end of its stack. */
static enum python_end find_frames(const struct ruby_layout *layout,
				   const struct python_reader *reader, uint64_t thread,
				   uint64_t *ret_frame, uint64_t *ret_end)
{
	uint64_t context;
	uint64_t stack;
	uint64_t words;

	if (!python_read_word(reader, thread + layout->thread_context, &context) ||
	    !python_read_word(reader, context + layout->stack, &stack) ||
	    !python_read_word(reader, context + layout->stack_words, &words) ||
	    !python_read_word(reader, context + layout->frame, ret_frame))
		return PYTHON_UNREADABLE;
	if (stack == 0 && *ret_frame == 0)
		return PYTHON_NO_THREAD; /* it starts or ends */
	*ret_end = stack + words * sizeof(uint64_t);
	if (words > MAX_STACK_WORDS || !is_address(stack) || *ret_frame < stack ||
	    *ret_frame > *ret_end || (*ret_end - *ret_frame) % layout->frame_bytes != 0)
		return PYTHON_TORN;
	return PYTHON_GOING;
}

int ruby_walk(const struct ruby_layout *layout, const struct python_reader *reader,
	      const struct ruby_thread *thread, uint64_t *words, uint32_t capacity,
	      uint32_t *ret_count)
{
	uint64_t found = find_thread(layout, reader, thread);
	enum python_end end;
	uint32_t count = 0;
	uint64_t frame;
	uint64_t last;

	*ret_count = 0;
	if (found == 0)
		return PYTHON_NO_THREAD;
	end = find_frames(layout, reader, found, &frame, &last);
	if (end != PYTHON_GOING)
		return (int)end;
	for (uint32_t i = 0; i < MAX_FRAMES && frame < last && count < capacity; i++) {
		uint64_t word;

		end = decode(layout, reader, frame, &word);
		if (end != PYTHON_GOING)
			return (int)end;
		if (word != 0)
			words[count++] = word;
		frame += layout->frame_bytes;
	}
	*ret_count = count;
	return frame >= last ? PYTHON_ROOT : PYTHON_DEPTH;
}
