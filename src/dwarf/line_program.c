/* SPDX-License-Identifier: BSD-2-Clause */
#include "dwarf/line_program.h"

#include "base/leb.h"
#include "dwarf/constants.h"

struct run {
	const struct line_program *program;
	uint16_t advances[256]; /* of addresses and lines, by opcode: saves two divisions */
	int16_t line_advances[256];
	line_row_fn *row;
	void *self;
	struct line_state state;
};

static void reset(struct run *run)
{
	run->state = (struct line_state){
		.file = 1, .line = 1, .is_statement = run->program->default_statement};
}

static bool emit(struct run *run)
{
	bool more = run->row(run->self, &run->state);

	run->state.prologue_end = run->state.epilogue_begin = false;
	return more;
}

static void advance(const struct line_program *program, struct line_state *state,
		    uint64_t operations)
{
	if (program->operations > 1)
		operations /= program->operations;
	state->address += operations * program->minimum_length;
}

static void advance_line(struct line_state *state, int64_t by)
{
	state->line =
		(uint32_t)((int64_t)state->line + (by > INT32_MAX || by < INT32_MIN ? 0 : by));
}

/* 0 …: length, opcode, operands. Returns the position after it, or NULL. */
static const uint8_t *run_extended(struct run *run, const uint8_t *at)
{
	uint64_t length = 0, opcode = 0;
	const uint8_t *end;
	bool more = true;

	at = leb_read(at, run->program->end, &length);
	end = bytes_skip(at, run->program->end, length);
	if (!end || length == 0)
		return end;
	at = fixed_read(at, end, 1, &opcode);
	switch (opcode) {
	case DW_LNE_end_sequence:
		run->state.end_sequence = true;
		more = emit(run);
		reset(run);
		break;
	case DW_LNE_set_address:
		if (length - 1 != 8 && length - 1 != 4)
			return NULL;
		(void)fixed_read(at, end, length - 1, &run->state.address); /* cannot fail */
		break;
	case DW_LNE_define_file: /* useless: no compiler emits it today */
	default:
		break;
	}
	return more ? end : NULL;
}

static const uint8_t *skip_operands(const struct line_program *program, uint8_t opcode,
				    const uint8_t *at)
{
	for (uint8_t i = 0; i < program->opcode_lengths[opcode - 1] && at; i++)
		at = leb_skip(at, program->end);
	return at;
}

/* Returns the position after the operands, or NULL. */
static const uint8_t *run_standard(struct run *run, uint8_t opcode, const uint8_t *at)
{
	const struct line_program *program = run->program;
	const uint8_t *end = program->end;
	uint64_t number = 0;
	int64_t by = 0;

	switch (opcode) {
	case DW_LNS_copy:
		return emit(run) ? at : NULL;
	case DW_LNS_advance_pc:
		at = leb_read(at, end, &number);
		advance(program, &run->state, number);
		return at;
	case DW_LNS_advance_line:
		at = leb_read_signed(at, end, &by);
		advance_line(&run->state, by);
		return at;
	case DW_LNS_set_file:
		return leb_read(at, end, &run->state.file);
	case DW_LNS_set_column:
		return leb_read(at, end, &run->state.column);
	case DW_LNS_negate_stmt:
		run->state.is_statement = !run->state.is_statement;
		return at;
	case DW_LNS_const_add_pc:
		advance(program, &run->state, (255u - program->opcode_base) / program->line_range);
		return at;
	case DW_LNS_fixed_advance_pc:
		at = fixed_read(at, end, 2, &number);
		run->state.address += number;
		return at;
	case DW_LNS_set_prologue_end:
		run->state.prologue_end = true;
		return at;
	case DW_LNS_set_epilogue_begin:
		run->state.epilogue_begin = true;
		return at;
	default:
		return skip_operands(program, opcode, at);
	}
}

static void init_run(struct run *run)
{
	const struct line_program *program = run->program;

	for (unsigned int opcode = program->opcode_base; opcode < 256; opcode++) {
		unsigned int adjusted = opcode - program->opcode_base;

		run->advances[opcode] = (uint16_t)(adjusted / program->line_range);
		run->line_advances[opcode] =
			(int16_t)(program->line_base + (int)(adjusted % program->line_range));
	}
	reset(run);
}

void line_program_run(const struct line_program *program, line_row_fn *row, void *self)
{
	struct run run = {.program = program, .row = row, .self = self};
	const uint8_t *at = program->at;

	init_run(&run);
	while (at && at < program->end) {
		uint8_t opcode = *at++;

		if (opcode >= program->opcode_base) {
			advance(program, &run.state, run.advances[opcode]);
			run.state.line += (uint32_t)run.line_advances[opcode];
			if (!emit(&run))
				return;
		} else if (opcode == 0) {
			at = run_extended(&run, at);
		} else {
			at = run_standard(&run, opcode, at);
		}
	}
}
