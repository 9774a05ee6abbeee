/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/probe_place.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "cfi/arch/x64_length.h"

#define MOST_BYTES 24u /* what compilers put before a push or a jump is shorter */

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

/* An opcode of one byte, after at most a REX prefix. */
struct insn {
	uint8_t rex; /* 0: none */
	uint8_t opcode;
	uint8_t modrm; /* 0: none */
};

/* Other prefixes leave an opcode that no table here has. */
static struct insn decode(const uint8_t *bytes, size_t size)
{
	struct insn insn = {0};
	size_t at = 0;

	if ((bytes[0] & 0xf0) == 0x40)
		insn.rex = bytes[at++];
	insn.opcode = at < size ? bytes[at++] : 0;
	insn.modrm = at < size ? bytes[at] : 0;
	return insn;
}

/*
 * push of a register; jumps and calls to a fixed address. The kernel accepts no prefix but the one
 * that pushes r8 to r15 need.
 */
static bool is_emulated(const uint8_t *bytes, const struct x64_extent *extent)
{
	struct insn insn = decode(bytes, extent->size);

	if ((insn.opcode & 0xf8) == 0x50)
		return extent->size == 1 || (extent->size == 2 && insn.rex == 0x41);
	if (!extent->branches)
		return false;
	return (bytes[0] & 0xf0) == 0x70 || bytes[0] == 0xeb || bytes[0] == 0xe9 ||
	       bytes[0] == 0xe8 || (bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80);
}

/* rsp, and rdi, rsi and rdx with the first arguments. */
static bool matters(uint32_t number)
{
	return number == 2 || number == 4 || number == 6 || number == 7;
}

/* Whether an instruction changes no register that matters, and is one that we know. */
static bool is_harmless(const uint8_t *bytes, const struct x64_extent *extent)
{
	struct insn insn = decode(bytes, extent->size);
	uint32_t reg = (insn.modrm >> 3 & 7) | (insn.rex & 4) << 1;
	uint32_t rm = (insn.modrm & 7) | (insn.rex & 1) << 3;
	bool names_register = insn.modrm >> 6 == 3;

	if (extent->size == sizeof(endbr64) && memcmp(bytes, endbr64, sizeof(endbr64)) == 0)
		return true;
	switch (insn.opcode) {
	case 0x38: /* cmp */
	case 0x39:
	case 0x3a:
	case 0x3b:
	case 0x3c:
	case 0x3d:
	case 0x84: /* test */
	case 0x85:
	case 0xa8:
	case 0xa9:
		return true;
	case 0x80: /* cmp with a number is one of a group */
	case 0x81:
	case 0x83:
		return (insn.modrm >> 3 & 7) == 7;
	case 0xf6: /* test with a number, too */
	case 0xf7:
		return (insn.modrm >> 3 & 7) <= 1;
	case 0x31: /* xor, mov */
	case 0x89:
		return names_register && !matters(rm);
	case 0x33: /* xor, mov, lea */
	case 0x8b:
	case 0x8d:
		return !matters(reg);
	default:
		return false;
	}
}

/* Whether a jump or call in the function may go to one of its bytes from 1 to the place. */
static bool is_reached(const uint8_t *bytes, uint64_t size, uint64_t place)
{
	struct x64_extent extent;

	for (uint64_t at = 0; at < size; at += extent.size) {
		int64_t target;

		if (!x64_measure(bytes + at, size - at, &extent))
			return true; /* it may */
		target = (int64_t)at + extent.target;
		if (extent.branches && target >= 1 && target <= (int64_t)place)
			return true;
	}
	return false;
}

static struct probe_place choose_x64(const uint8_t *bytes, uint64_t size)
{
	struct probe_place beginning = {0};
	struct x64_extent extent;
	uint64_t at = 0;

	for (; at < size && at < MOST_BYTES; at += extent.size) {
		if (!x64_measure(bytes + at, size - at, &extent))
			return beginning;
		if (is_emulated(bytes + at, &extent))
			break;
		if (!is_harmless(bytes + at, &extent))
			return beginning;
	}
	if (at >= size || at >= MOST_BYTES)
		return beginning;
	if (at > 0 && is_reached(bytes, size, at))
		return beginning;
	return (struct probe_place){.offset = (uint32_t)at, .emulated = true};
}

struct probe_place probe_place_choose(uint16_t machine, const uint8_t *bytes, uint64_t size)
{
	return machine == EM_X86_64 ? choose_x64(bytes, size) : (struct probe_place){0};
}
