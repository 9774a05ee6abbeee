/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/arch/a64.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
	CLASS_NONE,
	CLASS_PAIR,
	CLASS_SINGLE,
	CLASS_ADD_IMMEDIATE,
	CLASS_ADD_REGISTER,
	CLASS_LOGICAL_IMMEDIATE,
	CLASS_ADD_VECTOR_LENGTH,
	CLASS_JUMP, /* from here on they may not fall through to the next instruction */
	CLASS_CALL,
	CLASS_BRANCH_19, /* the distance has 19 bits */
	CLASS_BRANCH_14,
	CLASS_BRANCH_REGISTER,
	CLASS_TRAP,
};

/* By the top byte of the instruction. */
static const uint8_t classes[256] = {
	[0x00] = CLASS_TRAP,
	[0x04] = CLASS_ADD_VECTOR_LENGTH,
	[0x14 ... 0x17] = CLASS_JUMP,
	[0x28 ... 0x29] = CLASS_PAIR,
	[0x2c ... 0x2d] = CLASS_PAIR,
	[0x34 ... 0x35] = CLASS_BRANCH_19,
	[0x36 ... 0x37] = CLASS_BRANCH_14,
	[0x38] = CLASS_SINGLE,
	[0x3c] = CLASS_SINGLE,
	[0x54] = CLASS_BRANCH_19,
	[0x68 ... 0x69] = CLASS_PAIR,
	[0x6c ... 0x6d] = CLASS_PAIR,
	[0x78] = CLASS_SINGLE,
	[0x7c] = CLASS_SINGLE,
	[0x8b] = CLASS_ADD_REGISTER,
	[0x91] = CLASS_ADD_IMMEDIATE,
	[0x92] = CLASS_LOGICAL_IMMEDIATE,
	[0x94 ... 0x97] = CLASS_CALL,
	[0xa8 ... 0xa9] = CLASS_PAIR,
	[0xac ... 0xad] = CLASS_PAIR,
	[0xb2] = CLASS_LOGICAL_IMMEDIATE,
	[0xb4 ... 0xb5] = CLASS_BRANCH_19,
	[0xb6 ... 0xb7] = CLASS_BRANCH_14,
	[0xb8] = CLASS_SINGLE,
	[0xbc] = CLASS_SINGLE,
	[0xcb] = CLASS_ADD_REGISTER,
	[0xd1] = CLASS_ADD_IMMEDIATE,
	[0xd2] = CLASS_LOGICAL_IMMEDIATE,
	[0xd4] = CLASS_TRAP,
	[0xd6] = CLASS_BRANCH_REGISTER,
	[0xf8 ... 0xf9] = CLASS_SINGLE,
	[0xfc] = CLASS_SINGLE,
};

/* Four instructions at once: branching on each would mostly be mispredicted. */
#define LANES 4
typedef uint32_t words_t __attribute__((vector_size(LANES * A64_INSN_BYTES)));
typedef int32_t masks_t __attribute__((vector_size(LANES * A64_INSN_BYTES)));

/*
 * All bits set for instructions that need a64_decode(); few others pass. The forms that add the
 * vector length do not: code that uses them has CFI with expressions.
 */
static inline masks_t may_change_frame(words_t words)
{
	masks_t has_base_sp = (words & 0x0a0003e0) == 0x080003e0;
	masks_t has_writeback =
		((words & 1u << 23) != 0) | ((words & (1u << 24 | 1u << 10)) == 1u << 10);
	masks_t has_saved_register = /* x29 or x30; in pairs only the second */
		((words & 0x1f) - 29 <= 1) | ((words & 0x10007c00) - (29 << 10) <= 1 << 10);
	masks_t is_add_immediate = (words & 0xbf80001d) == 0x9100001d; /* to x29 or sp */
	masks_t is_add_register = (words & 0xbfe0001f) == 0x8b20001f;
	masks_t is_logical = (words & 0x9f80001f) == 0x9200001f;

	return (has_base_sp & (has_writeback | has_saved_register)) | is_add_immediate |
	       is_add_register | is_logical;
}

static bool may_change_frame_alone(uint32_t word)
{
	return may_change_frame((words_t){word})[0] != 0;
}

#define GROUP (2 * LANES)

/* One byte for each mask, the first instruction's lowest. */
static inline uint64_t narrow_masks(masks_t low, masks_t high)
{
	typedef int16_t half_t __attribute__((vector_size(LANES * sizeof(int16_t))));
	typedef int16_t halves_t __attribute__((vector_size(GROUP * sizeof(int16_t))));
	typedef int8_t bytes_t __attribute__((vector_size(GROUP)));
	half_t low_half = __builtin_convertvector(low, half_t);
	half_t high_half = __builtin_convertvector(high, half_t);
	halves_t halves = __builtin_shufflevector(low_half, high_half, 0, 1, 2, 3, 4, 5, 6, 7);
	bytes_t bytes = __builtin_convertvector(halves, bytes_t);
	uint64_t result;

	memcpy(&result, &bytes, sizeof(result));
	return result;
}

/* The index of the first instruction of a group that may change the frame, or GROUP. */
static inline uint32_t find_in_group(const uint8_t *text)
{
	words_t low;
	words_t high;
	uint64_t masks;

	memcpy(&low, text, sizeof(low));
	memcpy(&high, text + sizeof(low), sizeof(high));
	/* One branch for all of them: which one matches cannot be predicted. */
	masks = narrow_masks(may_change_frame(low), may_change_frame(high));
	return masks != 0 ? (uint32_t)__builtin_ctzll(masks) / 8 : GROUP;
}

static uint32_t word_at(const uint8_t *text, uint32_t at)
{
	uint32_t word;

	memcpy(&word, text + (size_t)at * A64_INSN_BYTES, sizeof(word));
	return word;
}

uint32_t a64_find_frame_change(const uint8_t *text, uint32_t at, uint32_t end)
{
	while (at < end) {
		uint32_t place = find_in_group(text + (size_t)at * A64_INSN_BYTES);

		at += place;
		if (place < GROUP)
			break;
	}
	return at < end ? at : end;
}

uint32_t a64_find_change(const uint8_t *text, uint32_t at, uint32_t end)
{
	while (at < end) {
		uint32_t word = word_at(text, at);

		if (classes[word >> 24] >= CLASS_JUMP || may_change_frame_alone(word))
			break;
		at++;
	}
	return at;
}

static uint32_t bits(uint32_t word, unsigned int high, unsigned int low)
{
	return word >> low & ((1u << (high - low + 1)) - 1);
}

static int32_t signed_bits(uint32_t word, unsigned int high, unsigned int low)
{
	uint32_t sign = 1u << (high - low);

	return (int32_t)((bits(word, high, low) ^ sign) - sign);
}

static uint8_t frame_register(uint32_t number)
{
	return number == A64_FP || number == A64_LR ? (uint8_t)number : A64_NO_REGISTER;
}

/* A store or load relative to sp that changes neither sp nor x29 nor x30 does not matter. */
static struct a64_insn memory_insn(struct a64_insn insn, bool is_load)
{
	if (insn.pre != 0 || insn.post != 0 || insn.reg[0] != A64_NO_REGISTER ||
	    insn.reg[1] != A64_NO_REGISTER)
		insn.kind = is_load ? A64_LOAD : A64_STORE;
	return insn;
}

/* Where the distance goes, by the two bits that say how an instruction addresses memory. */
static void set_distance(struct a64_insn *insn, uint32_t mode, int32_t distance)
{
	if (mode == 1)
		insn->post = distance;
	else if (mode == 3)
		insn->pre = distance;
	else
		insn->imm = distance;
}

static struct a64_insn decode_pair(uint32_t word)
{
	struct a64_insn insn = {.reg = {A64_NO_REGISTER, A64_NO_REGISTER}};
	bool is_vector = bits(word, 26, 26);
	uint32_t size = bits(word, 31, 30);
	int32_t scale = is_vector ? 4 << size : (size == 2 ? 8 : 4);
	int32_t distance = signed_bits(word, 21, 15) * scale;

	if (bits(word, 9, 5) != A64_SP)
		return insn;
	if (!is_vector && size == 2) {
		insn.reg[0] = frame_register(bits(word, 4, 0));
		insn.reg[1] = frame_register(bits(word, 14, 10));
	}
	set_distance(&insn, bits(word, 25, 23), distance);
	return memory_insn(insn, bits(word, 22, 22));
}

static struct a64_insn decode_single(uint32_t word)
{
	struct a64_insn insn = {.reg = {A64_NO_REGISTER, A64_NO_REGISTER}};
	bool is_whole_register = bits(word, 31, 30) == 3 && !bits(word, 26, 26);
	int32_t distance = signed_bits(word, 20, 12);

	if (bits(word, 9, 5) != A64_SP)
		return insn;
	if (is_whole_register)
		insn.reg[0] = frame_register(bits(word, 4, 0));
	if (bits(word, 25, 24) == 1) { /* a scaled unsigned offset */
		insn.imm = (int32_t)(bits(word, 21, 10) * 8);
		return memory_insn(insn, bits(word, 23, 22) == 1);
	}
	if (bits(word, 21, 21))
		return (struct a64_insn){.kind = A64_NONE}; /* a register offset, or an atomic */
	set_distance(&insn, bits(word, 11, 10), distance);
	return memory_insn(insn, bits(word, 23, 22) != 0);
}

static struct a64_insn decode_add_immediate(uint32_t word)
{
	struct a64_insn insn = {.kind = A64_NONE};
	uint32_t from = bits(word, 9, 5);
	uint32_t to = bits(word, 4, 0);

	insn.imm = (int32_t)(bits(word, 21, 10) << (bits(word, 22, 22) ? 12 : 0));
	if (bits(word, 30, 30))
		insn.imm = -insn.imm;
	if (bits(word, 23, 23))
		return (struct a64_insn){.kind = to == A64_SP ? A64_SP_LOST : A64_NONE}; /* tags */
	if (to == A64_SP && from == A64_SP)
		insn.kind = A64_SP_ADD;
	else if (to == A64_SP && from == A64_FP)
		insn.kind = A64_SP_FROM_FP;
	else if (to == A64_SP)
		insn.kind = A64_SP_LOST;
	else if (to == A64_FP && from == A64_SP)
		insn.kind = A64_FP_FROM_SP;
	return insn;
}

static enum a64_kind register_branch_kind(uint32_t word)
{
	/* 0 br, 1 blr, 2 ret; 4 eret; with bit 3 or 0x9, 0xa the forms that authenticate */
	uint32_t operation = bits(word, 24, 21) & 7;

	return operation == 1 ? A64_CALL : A64_END;
}

static bool writes_sp(uint32_t word, uint8_t class)
{
	if (bits(word, 4, 0) != A64_SP)
		return false;
	if (class == CLASS_ADD_REGISTER)
		return bits(word, 21, 21); /* register 31 is zero in the other form */
	if (class == CLASS_LOGICAL_IMMEDIATE)
		return !bits(word, 23, 23);
	return (word & 0xffa0f800) == 0x04205000; /* addvl, addpl */
}

struct a64_insn a64_decode(uint32_t word)
{
	uint8_t class = classes[word >> 24];
	struct a64_insn insn = {.kind = A64_NONE};

	switch (class) {
	case CLASS_PAIR:
		return decode_pair(word);
	case CLASS_SINGLE:
		return decode_single(word);
	case CLASS_ADD_IMMEDIATE:
		return decode_add_immediate(word);
	case CLASS_ADD_REGISTER:
	case CLASS_LOGICAL_IMMEDIATE:
	case CLASS_ADD_VECTOR_LENGTH:
		insn.kind = writes_sp(word, class) ? A64_SP_LOST : A64_NONE;
		break;
	case CLASS_JUMP:
		insn.kind = A64_JUMP;
		insn.imm = signed_bits(word, 25, 0) * A64_INSN_BYTES;
		break;
	case CLASS_CALL:
		insn.kind = A64_CALL;
		break;
	case CLASS_BRANCH_19:
		insn.kind = A64_BRANCH;
		insn.imm = signed_bits(word, 23, 5) * A64_INSN_BYTES;
		break;
	case CLASS_BRANCH_14:
		insn.kind = A64_BRANCH;
		insn.imm = signed_bits(word, 18, 5) * A64_INSN_BYTES;
		break;
	case CLASS_BRANCH_REGISTER:
		insn.kind = register_branch_kind(word);
		break;
	case CLASS_TRAP: /* udf and brk; svc and the like continue */
		if (word >> 16 == 0 || bits(word, 31, 21) == 0x6a1)
			insn.kind = A64_END;
		break;
	default:
		break;
	}
	return insn;
}
