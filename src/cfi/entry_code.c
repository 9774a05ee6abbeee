/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/entry_code.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "cfi/arch/a64.h"
#include "cfi/arch/x64_length.h"

#define X64_JUMP_BYTES 5u

static const char too_short[] = "is too short for a jump";
static const char depends[] = "begins with position-dependent code";
static const char comes_back[] = "jumps back to its own beginning";
static const char unknown[] = "has unknown instructions";

static uint32_t word_at(const uint8_t *bytes, uint64_t at)
{
	uint32_t word;

	memcpy(&word, bytes + at, sizeof(word));
	return word;
}

/* bti, in all its forms. */
static bool is_mark(uint32_t word)
{
	return (word & 0xffffff3fu) == 0xd503241fu;
}

/* paciasp and pacibsp: they are landing pads for indirect calls too. */
static bool signs(uint32_t word)
{
	return word == 0xd503233fu || word == 0xd503237fu;
}

/* adr, adrp, pc-relative loads; and everything that branches: calls would return to the copy. */
static bool is_bound(uint32_t word)
{
	enum a64_kind kind = a64_decode(word).kind;

	return (word & 0x1f000000u) == 0x10000000u || (word & 0x3b000000u) == 0x18000000u ||
	       kind == A64_CALL || kind == A64_BRANCH || kind == A64_JUMP ||
	       (word & 0xfffffc00u) == 0xd63f0000u || (word & 0xfe000000u) == 0xd6000000u;
}

static const char *look_a64(const uint8_t *bytes, uint64_t size, struct entry_code *ret)
{
	struct entry_code entry = {.moved = A64_INSN_BYTES};
	uint64_t end;

	if (size < A64_INSN_BYTES)
		return too_short;
	if (is_mark(word_at(bytes, 0)))
		entry.offset = A64_INSN_BYTES;
	entry.marked = signs(word_at(bytes, 0));
	if (entry.marked)
		entry.moved = 2 * A64_INSN_BYTES;
	end = entry.offset + entry.moved;
	if (size < end)
		return too_short;
	for (uint64_t at = entry.offset; at < end; at += A64_INSN_BYTES)
		if (is_bound(word_at(bytes, at)))
			return depends;
	for (uint64_t at = end; at + A64_INSN_BYTES <= size; at += A64_INSN_BYTES) {
		struct a64_insn insn = a64_decode(word_at(bytes, at));
		int64_t target = (int64_t)at + insn.imm;

		if ((insn.kind == A64_BRANCH || insn.kind == A64_JUMP) && target >= 0 &&
		    target < (int64_t)end)
			return comes_back;
	}
	*ret = entry;
	return NULL;
}

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

/*
 * Whether a jump or call of the function goes to moved code. Recursive calls to its start are fine.
 */
static bool hits(const struct x64_extent *extent, uint64_t at, uint64_t end)
{
	int64_t target = (int64_t)at + extent->target;

	return extent->branches && target >= (extent->calls ? 1 : 0) && target < (int64_t)end;
}

static const char *look_x64(const uint8_t *bytes, uint64_t size, struct entry_code *ret)
{
	struct entry_code entry = {0};
	struct x64_extent extent;
	uint64_t at;

	if (size >= sizeof(endbr64) && memcmp(bytes, endbr64, sizeof(endbr64)) == 0)
		entry.offset = sizeof(endbr64);
	if (size < entry.offset + X64_JUMP_BYTES)
		return too_short;
	for (at = entry.offset; at < entry.offset + X64_JUMP_BYTES; at += extent.size) {
		if (!x64_measure(bytes + at, size - at, &extent))
			return unknown;
		if (extent.by_place || extent.branches || extent.calls)
			return depends; /* a call would return to the copy */
		if (bytes[at] == 0xc3)
			return too_short;
	}
	entry.moved = (uint8_t)(at - entry.offset);
	for (uint64_t end = at; at < size; at += extent.size) {
		if (!x64_measure(bytes + at, size - at, &extent))
			return unknown;
		if (hits(&extent, at, end))
			return comes_back;
	}
	*ret = entry;
	return NULL;
}

const char *entry_code_look(uint16_t machine, const uint8_t *bytes, uint64_t size,
			    struct entry_code *ret)
{
	switch (machine) {
	case EM_AARCH64:
		return look_a64(bytes, size, ret);
	case EM_X86_64:
		return look_x64(bytes, size, ret);
	default:
		return "is for another CPU";
	}
}
