/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/expression.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/bytes.h"
#include "base/leb.h"
#include "cfi/machine.h"

enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S = 0x09,
	OP_CONST2U = 0x0a,
	OP_CONST2S = 0x0b,
	OP_CONST4U = 0x0c,
	OP_CONST4S = 0x0d,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_NOP = 0x96,
};

/* The constant that an operation pushes; false if it pushes none. */
static bool read_constant(uint8_t op, struct cursor *cursor, int64_t *ret)
{
	if (op >= OP_LIT0 && op <= OP_LIT31) {
		*ret = op - OP_LIT0;
		return true;
	}
	switch (op) {
	case OP_CONST1U:
		*ret = cursor_u8(cursor);
		return true;
	case OP_CONST1S:
		*ret = (int64_t)(cursor_u8(cursor) ^ 0x80) - 0x80; /* the sign is bit 7 */
		return true;
	case OP_CONST2U:
		*ret = cursor_u16(cursor);
		return true;
	case OP_CONST2S:
		*ret = (int16_t)cursor_u16(cursor);
		return true;
	case OP_CONST4U:
		*ret = cursor_u32(cursor);
		return true;
	case OP_CONST4S:
		*ret = (int32_t)cursor_u32(cursor);
		return true;
	case OP_CONSTU:
		*ret = (int64_t)cursor_varint(cursor);
		return true;
	case OP_CONSTS:
		*ret = cursor_sleb(cursor);
		return true;
	default:
		return false;
	}
}

static bool is_plt(const struct cfi_machine *machine, const uint8_t *bytes, uint32_t size,
		   struct expression *ret)
{
	uint8_t form[] = {OP_BREG0 + machine->sp,
			  8,
			  OP_BREG0 + machine->pc,
			  0,
			  OP_LIT0 + 15,
			  OP_AND,
			  0, /* the literal n */
			  OP_GE,
			  OP_LIT0 + 3,
			  OP_SHL,
			  OP_PLUS};

	if (machine->pc == NO_REGISTER || size != sizeof(form))
		return false;
	form[6] = bytes[6];
	if (memcmp(bytes, form, sizeof(form)) != 0 || form[6] < OP_LIT0 || form[6] > OP_LIT0 + 15)
		return false;
	*ret = (struct expression){.kind = EXPRESSION_PLT,
				   .reg = machine->sp,
				   .offset = 8,
				   .extra = form[6] - OP_LIT0};
	return true;
}

static bool read_base(struct cursor *cursor, struct expression *ret)
{
	uint8_t op = cursor_u8(cursor);
	uint64_t reg;

	if (op >= OP_BREG0 && op <= OP_BREG31)
		reg = op - OP_BREG0;
	else if (op == OP_BREGX)
		reg = cursor_varint(cursor);
	else
		return false;
	if (reg >= NO_REGISTER)
		return false;
	*ret = (struct expression){
		.kind = EXPRESSION_REGISTER, .reg = (uint8_t)reg, .offset = cursor_sleb(cursor)};
	return !cursor->failed;
}

/* The rest of "register * 8 +" after the operation that names the register. */
static bool read_index(uint8_t op, struct cursor *cursor, struct expression *ret)
{
	static const uint8_t rest[] = {0, OP_LIT0 + 8, OP_MUL, OP_PLUS};

	if (op <= OP_BREG0 || op > OP_BREG31 || ret->kind != EXPRESSION_REGISTER || ret->index != 0)
		return false;
	ret->index = op - OP_BREG0;
	for (size_t i = 0; i < sizeof(rest); i++)
		if (cursor_u8(cursor) != rest[i])
			return false;
	return !cursor->failed;
}

/*
 * Offsets that do not fit 32 bits are useless for a rule; smaller ones cannot overflow a sum here.
 */
static bool add_constant(struct expression *expression, int64_t value)
{
	int64_t *sum =
		expression->kind == EXPRESSION_DEREF ? &expression->extra : &expression->offset;

	if (value < INT32_MIN || value > INT32_MAX || *sum < INT32_MIN || *sum > INT32_MAX)
		return false;
	*sum += value;
	return true;
}

struct expression expression_recognise(const struct cfi_machine *machine, const uint8_t *bytes,
				       uint32_t size)
{
	const struct expression other = {.kind = EXPRESSION_OTHER};
	struct cursor cursor = cursor_of(bytes, size);
	struct expression result;
	int64_t value;

	if (is_plt(machine, bytes, size, &result))
		return result;
	if (!read_base(&cursor, &result))
		return other;
	while (cursor_left(&cursor) > 0) {
		uint8_t op = cursor_u8(&cursor);

		if (op == OP_NOP)
			continue;
		if (op == OP_DEREF && result.kind == EXPRESSION_REGISTER) {
			result.kind = EXPRESSION_DEREF;
			continue;
		}
		if (read_index(op, &cursor, &result))
			continue;
		if (op == OP_PLUS_UCONST) {
			value = (int64_t)cursor_varint(&cursor);
		} else if (read_constant(op, &cursor, &value)) {
			uint8_t sum = cursor_u8(&cursor);

			if (sum == OP_MINUS && value > INT64_MIN)
				value = -value;
			else if (sum != OP_PLUS)
				return other;
		} else {
			return other;
		}
		if (!add_constant(&result, value))
			return other;
	}
	if (result.index != 0 && result.kind != EXPRESSION_DEREF)
		return other;
	return cursor.failed ? other : result;
}
