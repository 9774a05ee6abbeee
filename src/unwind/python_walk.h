/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_PYTHON_WALK_H
#define WICK_UNWIND_PYTHON_WALK_H

/*
 * python_walk: the Python calls of a thread, from the frames that its interpreter keeps.
 *
 * Written once, for every walker: from outside, inside the process, and in the kernel. Freestanding
 * and entirely in this header. The memory may change while it is read, and a walk may begin at any
 * instruction of the interpreter: what does not look like a frame ends the walk, and its result is
 * not used.
 *
 * A call is one word, which cannot be mistaken for a user address:
 *
 *	bit 63       set
 *	bit 62       set if C code called it: its interpreter loop ends here
 *	bit 61       in the innermost call: set if the thread holds the global lock
 *	bits 60..45  the index of its instruction, PYTHON_INDEX_MAX if it is larger
 *	bits 44..0   the address of its code object, divided by 8
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/frame.h"
#include "unwind/python_layout.h"

#define PYTHON_WORD (1ull << 63)
#define PYTHON_WORD_ENTRY (1ull << 62)
#define PYTHON_WORD_HOLDS (1ull << 61)
#define PYTHON_INDEX_SHIFT 45u
#define PYTHON_WORD_CODE ((1ull << PYTHON_INDEX_SHIFT) - 1)
#define PYTHON_INDEX_MAX 0xfffeu
#define PYTHON_ADDRESS_LIMIT (1ull << 48)
#define PYTHON_CODE_BYTES (1ll << 24) /* of the instructions of one function */

enum python_end {
	PYTHON_GOING = 0,
	PYTHON_ROOT,       /* all calls */
	PYTHON_DEPTH,      /* the limit on frames */
	PYTHON_NO_THREAD,  /* the thread runs no Python */
	PYTHON_UNREADABLE, /* memory that could not be read */
	PYTHON_TORN,       /* what was read is no frame: it was changing */
	PYTHON_ENDS
};

/* Copies size bytes. False if they cannot be read. */
typedef bool python_read_fn(void *context, uint64_t address, void *ret, uint32_t size);

struct python_reader {
	python_read_fn *read;
	void *context;
};

struct python_frame {
	uint64_t previous; /* 0: it is the last */
	uint64_t word;     /* without PYTHON_WORD_ENTRY of a shim; 0: it is a shim */
};

static inline uint64_t python_word_code(uint64_t word)
{
	return (word & PYTHON_WORD_CODE) << 3;
}

static inline uint32_t python_word_index(uint64_t word)
{
	return (uint32_t)(word >> PYTHON_INDEX_SHIFT) & 0xffffu;
}

static inline bool python_is_word(uint64_t word)
{
	return (word & PYTHON_WORD) != 0;
}

UNWIND_INLINE uint64_t python_frame_word(const uint64_t *words, uint16_t offset)
{
	return words[(offset >> 3) & (PYTHON_FRAME_WORDS - 1)];
}

/* The index of the instruction of a frame; false: it is not in its code. */
UNWIND_INLINE bool python_index(const struct python_layout *layout, const uint64_t *words,
				uint64_t code, uint64_t *ret)
{
	uint64_t value = python_frame_word(words, layout->instruction);
	int64_t bytes;

	if (layout->first_instruction == PYTHON_NO_OFFSET) {
		int32_t last = (int32_t)(value >> ((layout->instruction & 4) * 8));

		*ret = last < 0 ? 0 : (uint64_t)(uint32_t)last >> layout->instruction_shift;
		return last >= -1 && last < PYTHON_CODE_BYTES;
	}
	/* A new frame is one instruction before its first. */
	bytes = (int64_t)(value - code - layout->first_instruction);
	*ret = bytes < 0 ? 0 : (uint64_t)bytes >> 1;
	return bytes >= -2 && bytes < PYTHON_CODE_BYTES;
}

/* Decodes the words at the address of a frame. False if that is not a frame. */
UNWIND_INLINE bool python_frame_decode(const struct python_layout *layout, const uint64_t *words,
				       uint64_t address, struct python_frame *ret)
{
	uint64_t code = python_frame_word(words, layout->code) & ~7ull; /* 3.14 tags it */
	uint8_t boundary = (uint8_t)(python_frame_word(words, layout->boundary) >>
				     ((layout->boundary & 7) * 8));
	uint64_t index;

	ret->previous = python_frame_word(words, layout->previous);
	ret->word = 0;
	if (ret->previous == address || (ret->previous & 7) != 0 ||
	    ret->previous >= PYTHON_ADDRESS_LIMIT)
		return false;
	if (layout->entry == PYTHON_ENTRY_SHIM && boundary >= layout->shim)
		return boundary <= layout->shim + 1;
	if (code == 0 || code >= PYTHON_ADDRESS_LIMIT || !python_index(layout, words, code, &index))
		return false;
	if (index > PYTHON_INDEX_MAX)
		index = PYTHON_INDEX_MAX;
	ret->word = PYTHON_WORD | index << PYTHON_INDEX_SHIFT | code >> 3;
	if (layout->entry == PYTHON_ENTRY_EACH ||
	    (layout->entry == PYTHON_ENTRY_FLAG && boundary != 0))
		ret->word |= PYTHON_WORD_ENTRY;
	return true;
}

static inline bool python_read_word(const struct python_reader *reader, uint64_t address,
				    uint64_t *ret)
{
	return reader->read(reader->context, address, ret, sizeof(*ret));
}

/* The innermost frame of a thread state; 0: it runs no Python. */
static inline enum python_end python_first_frame(const struct python_layout *layout,
						 const struct python_reader *reader, uint64_t state,
						 uint64_t *ret)
{
	if (!python_read_word(reader, state + layout->frame, ret))
		return PYTHON_UNREADABLE;
	if (layout->c_frame == PYTHON_NO_OFFSET || *ret == 0)
		return PYTHON_GOING;
	return python_read_word(reader, *ret + layout->c_frame, ret) ? PYTHON_GOING
								     : PYTHON_UNREADABLE;
}

/*
 * Writes the calls of a thread, the innermost first. *ret_count is 0 unless it ends with
 * PYTHON_ROOT or PYTHON_DEPTH.
 */
static inline enum python_end python_walk(const struct python_layout *layout,
					  const struct python_reader *reader, uint64_t state,
					  uint64_t *words, uint32_t capacity, uint32_t *ret_count)
{
	uint64_t block[PYTHON_FRAME_WORDS] = {0};
	struct python_frame frame;
	uint32_t shims = 0;
	uint32_t count = 0;
	uint64_t address;
	enum python_end end = python_first_frame(layout, reader, state, &address);

	*ret_count = 0;
	if (end != PYTHON_GOING)
		return end;
	while (address != 0 && count < capacity) {
		if ((address & 7) != 0)
			return PYTHON_TORN;
		if (!reader->read(reader->context, address, block, layout->frame_bytes))
			return PYTHON_UNREADABLE;
		if (!python_frame_decode(layout, block, address, &frame))
			return PYTHON_TORN;
		if (frame.word != 0)
			words[count++] = frame.word;
		else if (count > 0)
			words[count - 1] |= PYTHON_WORD_ENTRY;
		/* Shims alternate with calls: a chain of them is a ring. */
		shims = frame.word != 0 ? 0 : shims + 1;
		if (shims > 2)
			return PYTHON_TORN;
		address = frame.previous;
	}
	if (count > 0 && address == 0)
		words[count - 1] |= PYTHON_WORD_ENTRY;
	*ret_count = count;
	return address == 0 ? PYTHON_ROOT : PYTHON_DEPTH;
}

#endif
