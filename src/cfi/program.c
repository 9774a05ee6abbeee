/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/program.h"

#include <errno.h>

#include "base/leb.h"
#include "cfi/machine.h"

enum {
	CFA_ADVANCE_LOC = 0x40, /* the low six bits are the operand of these three */
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_IN_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_AT_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_ADVANCE_LOC8 = 0x1d,
	CFA_NEGATE_RA_STATE_WITH_PC = 0x2c,
	CFA_NEGATE_RA_STATE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
};

/* Compilers nest two or three levels. */
#define MAX_REMEMBERED 64

struct run {
	const struct frame_program *program;
	struct cursor code;
	uint64_t code_vaddr;
	const uint8_t *code_start;
	uint64_t location;
	struct frame_state *state;
	uint32_t remembered_count;
	struct frame_state remembered[MAX_REMEMBERED];
};

/* Offsets are hostile; a product that wraps is as good as any other. */
static int64_t scaled(int64_t offset, int64_t factor)
{
	return (int64_t)((uint64_t)offset * (uint64_t)factor);
}

/* Where a register's rule is stored, NULL for one that is not tracked. */
static struct frame_place *place_of(struct run *run, uint64_t reg)
{
	if (reg == run->program->cie->ra_register)
		return &run->state->ra;
	if (reg == run->program->machine->fp)
		return &run->state->fp;
	if (reg == run->state->kept_register && reg != 0)
		return &run->state->kept;
	return NULL;
}

static void set_place(struct run *run, uint64_t reg, enum frame_place_kind kind, int64_t value)
{
	struct frame_place *place = place_of(run, reg);

	if (place)
		*place = (struct frame_place){.kind = kind, .value = value};
}

static void set_place_expression(struct run *run, enum frame_place_kind kind)
{
	struct frame_place *place = place_of(run, cursor_varint(&run->code));
	uint64_t size = cursor_varint(&run->code);
	const uint8_t *bytes = cursor_take(&run->code, size);

	if (place && bytes)
		*place = (struct frame_place){
			.kind = kind, .size = (uint32_t)size, .expression = bytes};
}

static void restore_place(struct run *run, uint64_t reg)
{
	struct frame_place *place = place_of(run, reg);
	const struct frame_state *initial = run->program->initial;

	if (!place)
		return;
	if (!initial)
		*place = (struct frame_place){.kind = PLACE_SAME};
	else if (place == &run->state->kept)
		*place = initial->kept;
	else
		*place = place == &run->state->ra ? initial->ra : initial->fp;
}

static void set_cfa_expression(struct run *run)
{
	uint64_t size = cursor_varint(&run->code);
	const uint8_t *bytes = cursor_take(&run->code, size);

	if (!bytes)
		return;
	run->state->cfa = CFA_EXPRESSION;
	run->state->cfa_expression = bytes;
	run->state->cfa_size = (uint32_t)size;
}

static void set_cfa(struct run *run, uint64_t reg, int64_t offset)
{
	run->state->cfa = CFA_REGISTER;
	run->state->cfa_register = reg;
	run->state->cfa_offset = offset;
}

/* 1 after the end of the program's range: what follows describes none of its code. */
static int move_to(struct run *run, uint64_t location)
{
	const struct frame_program *program = run->program;
	uint64_t from = run->location;
	uint64_t to = location < program->end ? location : program->end;
	int r;

	if (location < from || !program->visit)
		return -EINVAL;
	run->location = location;
	if (to == from)
		return location >= program->end;
	r = program->visit(program->self, from, to, run->state);
	if (r < 0)
		return r;
	return location >= program->end;
}

static int advance(struct run *run, uint64_t units)
{
	uint64_t step = units * run->program->cie->code_align;

	if (run->code.failed || run->location + step < run->location)
		return -EINVAL;
	return move_to(run, run->location + step);
}

static int remember_state(struct run *run)
{
	if (run->remembered_count >= MAX_REMEMBERED)
		return -EINVAL;
	run->remembered[run->remembered_count++] = *run->state;
	return 0;
}

static int restore_state(struct run *run)
{
	if (run->remembered_count == 0)
		return -EINVAL;
	*run->state = run->remembered[--run->remembered_count];
	return 0;
}

/* Register rules. 1 if op is not one of them. */
static int run_register_op(struct run *run, uint8_t op)
{
	struct cursor *code = &run->code;
	int64_t align = run->program->cie->data_align;
	uint64_t reg;

	switch (op) {
	case CFA_AT_EXPRESSION:
		set_place_expression(run, PLACE_EXPRESSION);
		return 0;
	case CFA_VAL_EXPRESSION:
		set_place_expression(run, PLACE_OTHER);
		return 0;
	case CFA_OFFSET_EXTENDED:
		reg = cursor_varint(code);
		set_place(run, reg, PLACE_AT_CFA, scaled((int64_t)cursor_varint(code), align));
		return 0;
	case CFA_OFFSET_EXTENDED_SF:
		reg = cursor_varint(code);
		set_place(run, reg, PLACE_AT_CFA, scaled(cursor_sleb(code), align));
		return 0;
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		reg = cursor_varint(code);
		set_place(run, reg, PLACE_AT_CFA,
			  scaled((int64_t)(0 - cursor_varint(code)), align));
		return 0;
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
		reg = cursor_varint(code);
		set_place(run, reg, PLACE_OTHER, cursor_sleb(code));
		return 0;
	case CFA_RESTORE_EXTENDED:
		restore_place(run, cursor_varint(code));
		return 0;
	case CFA_UNDEFINED:
		set_place(run, cursor_varint(code), PLACE_UNDEFINED, 0);
		return 0;
	case CFA_SAME_VALUE:
		set_place(run, cursor_varint(code), PLACE_SAME, 0);
		return 0;
	case CFA_IN_REGISTER:
		reg = cursor_varint(code);
		set_place(run, reg, PLACE_REGISTER, (int64_t)cursor_varint(code));
		return 0;
	default:
		return 1;
	}
}

/* CFA rules. 1 if op is not one of them. */
static int run_cfa_op(struct run *run, uint8_t op)
{
	struct cursor *code = &run->code;
	int64_t align = run->program->cie->data_align;
	uint64_t reg;

	switch (op) {
	case CFA_DEF_CFA:
		reg = cursor_varint(code);
		set_cfa(run, reg, (int64_t)cursor_varint(code));
		return 0;
	case CFA_DEF_CFA_SF:
		reg = cursor_varint(code);
		set_cfa(run, reg, scaled(cursor_sleb(code), align));
		return 0;
	case CFA_DEF_CFA_EXPRESSION:
		set_cfa_expression(run);
		return 0;
	case CFA_DEF_CFA_REGISTER:
	case CFA_DEF_CFA_OFFSET:
	case CFA_DEF_CFA_OFFSET_SF:
		if (run->state->cfa == CFA_UNSET)
			return -EINVAL; /* there is no other half to keep */
		/* After an expression, the earlier register and offset apply again. */
		run->state->cfa = CFA_REGISTER;
		if (op == CFA_DEF_CFA_REGISTER)
			run->state->cfa_register = cursor_varint(code);
		else if (op == CFA_DEF_CFA_OFFSET)
			run->state->cfa_offset = (int64_t)cursor_varint(code);
		else
			run->state->cfa_offset = scaled(cursor_sleb(code), align);
		return 0;
	default:
		return 1;
	}
}

static int run_location_op(struct run *run, uint8_t op)
{
	struct cursor *code = &run->code;
	uint64_t vaddr;

	switch (op) {
	case CFA_SET_LOC:
		vaddr = run->code_vaddr + (uint64_t)(code->at - run->code_start);
		vaddr = frame_read_pointer(run->program->section,
					   run->program->cie->pointer_encoding, vaddr, code);
		return code->failed ? -EINVAL : move_to(run, vaddr);
	case CFA_ADVANCE_LOC1:
		return advance(run, cursor_u8(code));
	case CFA_ADVANCE_LOC2:
		return advance(run, cursor_u16(code));
	case CFA_ADVANCE_LOC4:
		return advance(run, cursor_u32(code));
	case CFA_ADVANCE_LOC8:
		return advance(run, cursor_u64(code));
	case CFA_REMEMBER_STATE:
		return remember_state(run);
	case CFA_RESTORE_STATE:
		return restore_state(run);
	case CFA_NOP:
	case CFA_NEGATE_RA_STATE: /* signed return addresses are masked when they are read */
	case CFA_NEGATE_RA_STATE_WITH_PC:
		return 0;
	case CFA_GNU_ARGS_SIZE:
		(void)cursor_varint(code);
		return 0;
	default:
		return -EINVAL;
	}
}

static int run_op(struct run *run, uint8_t op)
{
	int r;

	switch (op & 0xc0) {
	case CFA_ADVANCE_LOC:
		return advance(run, op & 0x3f);
	case CFA_OFFSET:
		set_place(
			run, op & 0x3f, PLACE_AT_CFA,
			scaled((int64_t)cursor_varint(&run->code), run->program->cie->data_align));
		return 0;
	case CFA_RESTORE:
		restore_place(run, op & 0x3f);
		return 0;
	default:
		break;
	}
	r = run_cfa_op(run, op);
	if (r > 0)
		r = run_register_op(run, op);
	if (r > 0)
		r = run_location_op(run, op);
	return r;
}

int frame_program_run(const struct frame_program *program, struct cursor code, uint64_t code_vaddr,
		      struct frame_state *state)
{
	struct run run;

	/* The remembered states are large and rarely used: they are not initialised. */
	run.program = program;
	run.code = code;
	run.code_vaddr = code_vaddr;
	run.code_start = code.at;
	run.location = program->start;
	run.state = state;
	run.remembered_count = 0;
	while (run.code.at < run.code.end) {
		int r = run_op(&run, *run.code.at++);

		if (r < 0)
			return r;
		if (run.code.failed)
			return -EINVAL;
		if (r > 0)
			return 0;
	}
	if (program->visit && run.location < program->end) {
		int r = move_to(&run, program->end);

		return r < 0 ? r : 0;
	}
	return 0;
}
