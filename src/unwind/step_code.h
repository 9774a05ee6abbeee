/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_UNWIND_STEP_CODE_H
#define WICK_UNWIND_STEP_CODE_H

/*
 * step_code: what the instructions show about a frame without a known rule.
 *
 * A part of step.h, which includes it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "unwind/frame.h"

/*
 * How much code is searched for the beginning of a thread, for a call, and for the creation of a
 * frame.
 */
#define UNWIND_START_BYTES 64u
#define UNWIND_CALL_BYTES 256u
#define UNWIND_FRAME_BYTES 1024u

/* The pc of a trampoline is its start (returned to), or either of its instructions. */
UNWIND_INLINE bool unwind_is_trampoline(const struct unwind_arch *arch,
					const struct unwind_reader *reader,
					const struct unwind_frame *frame)
{
	const struct unwind_trampoline *code = &arch->trampoline;
	uint64_t pc = frame->pc;
	uint64_t bytes;

	if (!reader->read_code)
		return false;
	for (int i = 0; i < 2; i++, pc -= code->last_instruction) {
		if (i == 1 && !frame->exact)
			return false;
		if (reader->read_code(reader->context, pc, &bytes) && bytes == code->first &&
		    reader->read_code(reader->context, pc + code->second_offset, &bytes) &&
		    bytes == code->second)
			return true;
	}
	return false;
}

UNWIND_INLINE bool unwind_is(const struct unwind_code *code, uint64_t word)
{
	return code->mask != 0 && ((uint32_t)word & code->mask) == code->value;
}

UNWIND_INLINE bool unwind_is_jump(const struct unwind_arch *arch, uint64_t word)
{
	return unwind_is(&arch->jumps[0], word) || unwind_is(&arch->jumps[1], word);
}

/*
 * Whether an interrupted pc is in the code that a thread begins with: there is no jump between its
 * beginning and pc.
 */
UNWIND_INLINE bool unwind_is_start(const struct unwind_arch *arch,
				   const struct unwind_reader *reader, uint64_t pc)
{
	uint64_t bytes;

	if (!reader->read_code || arch->start_code == 0)
		return false;
	pc += 4; /* the first instruction may be a no-op */
	for (uint64_t back = 0; back < UNWIND_START_BYTES; back += 4) {
		if (!reader->read_code(reader->context, pc - back, &bytes))
			return false;
		if (bytes == arch->start_code)
			return true;
		if (unwind_is_jump(arch, bytes))
			return false;
	}
	return false;
}

/*
 * Whether lr is left over from a call that this function made itself: it points to straight code
 * that leads to pc.
 */
UNWIND_INLINE bool unwind_is_stale_lr(const struct unwind_arch *arch,
				      const struct unwind_reader *reader, uint64_t lr, uint64_t pc)
{
	uint64_t bytes;

	if (lr > pc || pc - lr > UNWIND_CALL_BYTES || !reader->read_code)
		return false;
	for (; lr < pc; lr += 4)
		if (!reader->read_code(reader->context, lr, &bytes) || unwind_is_jump(arch, bytes))
			return false;
	return true;
}

/*
 * The size of the frame that a function without a rule creates, from the instruction before pc that
 * creates it. 0: not found.
 */
UNWIND_INLINE uint64_t unwind_frame_bytes(const struct unwind_arch *arch,
					  const struct unwind_reader *reader, uint64_t pc)
{
	uint64_t bytes;

	if (!reader->read_code || arch->record_push.mask == 0)
		return 0;
	for (uint64_t back = 4; back <= UNWIND_FRAME_BYTES; back += 4) {
		if (!reader->read_code(reader->context, pc - back, &bytes))
			return 0;
		/* Bits 15 to 21 are the change of sp in words, negative. */
		if (unwind_is(&arch->record_push, bytes))
			return (0x80 - (bytes >> 15 & 0x7f)) * 8;
	}
	return 0;
}

/*
 * Whether 8 bytes of x86-64 code end with a call: of an address, or through a register or memory.
 * The first byte in memory is the lowest.
 */
UNWIND_INLINE bool unwind_ends_with_call(uint64_t bytes)
{
	uint64_t second = bytes >> 8 & 0xffff; /* the bytes 1 and 2, and so on */
	uint64_t third = bytes >> 16 & 0xffff;
	uint64_t fifth = bytes >> 32 & 0xffff;
	uint64_t sixth = bytes >> 40 & 0xffff;
	uint64_t last = bytes >> 48;

	if ((bytes >> 24 & 0xff) == 0xe8)
		return true;
	return (last & 0xf8ff) == 0xd0ff || (last & 0xf8ff) == 0x10ff || /* *%reg, *(%reg) */
	       (sixth & 0xf8ff) == 0x50ff || sixth == 0x14ff ||          /* 8(%reg), (%reg,%reg) */
	       fifth == 0x54ff ||                                        /* 8(%reg,%reg) */
	       (third & 0xf8ff) == 0x90ff || third == 0x15ff ||          /* far(%reg), far(%rip) */
	       second == 0x94ff;                                         /* far(%reg,%reg) */
}

/* Reads 8 bytes of code near a call. */
UNWIND_INLINE bool unwind_read_call(const struct unwind_reader *reader, uint64_t address,
				    uint64_t *ret)
{
	if (reader->read_call)
		return reader->read_call(reader->context, address, ret);
	return reader->read_code && reader->read_code(reader->context, address, ret);
}

/* Whether an address follows a call, on a CPU whose calls push it. */
UNWIND_INLINE bool unwind_follows_call(const struct unwind_reader *reader, uint64_t address)
{
	uint64_t bytes;

	return unwind_read_call(reader, address - 8, &bytes) && unwind_ends_with_call(bytes);
}

/*
 * How many bytes above sp the return address is if all that is left of a function is to remove its
 * frame and to return: add $n, %rsp; ret. That is what follows the call in stubs that programs
 * generate, such as those of Python's -X perf. -1: the code is different.
 */
UNWIND_INLINE int unwind_removed_bytes(const struct unwind_reader *reader, uint64_t pc)
{
	uint64_t bytes;

	if (!unwind_read_call(reader, pc, &bytes))
		return -1;
	if ((bytes & 0xf8ff) == 0xd0ff) /* interrupted before its call: call *%reg */
		bytes >>= 16;
	return (bytes & 0xff80ffffff) == 0xc300c48348 ? (int)(bytes >> 24 & 0x7f) : -1;
}

#endif
