/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/repair.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/vec.h"
#include "cfi/arch/a64.h"
#include "cfi/arch/a64_frame.h"
#include "cfi/rows.h"
#include "cfi/text_window.h"

/* A function has a handful of different frames; one with more is not compiled code. */
#define MAX_FRAMES 64
#define NO_FRAME 0

/* One function while it is analysed. Instructions have indices from its start. */
struct walk {
	struct rows *rows;
	const struct rows_function *function;
	const uint8_t *text;
	uint32_t insn_count;
	uint32_t row;      /* the current row of the CFI */
	uint32_t next_row; /* the instruction where the next one begins */
	struct a64_frame frame;
	struct a64_frame body; /* the last frame that the CFI confirmed inside the body */
	bool has_body;
	bool is_in_body;          /* frame is body */
	bool has_targets;         /* a branch was noted */
	bool is_known;            /* frame was tracked to here and not taken from the CFI */
	uint32_t verified;        /* changes of the CFI that the instructions confirmed */
	uint32_t repaired;        /* rows that the CFI does not have */
	struct a64_frame *frames; /* [1..frame_count): those of branch targets */
	uint32_t frame_count;
	uint8_t frame_number; /* index of frame in frames; NO_FRAME without one */
	uint8_t *targets;     /* for each instruction: the frame that a branch brings, or none */
};

struct repair {
	struct text_window window;
	struct rows *rows;
	struct a64_frame frames[MAX_FRAMES];
	VEC(uint8_t) targets;
	VEC(struct unwind_row) found; /* the new rows of one function */
};

static const struct unwind_rule *rule_of_row(const struct walk *walk, uint32_t row)
{
	const struct rows *rows = walk->rows;

	return &rows->rules.items[rows->rows.items[walk->function->first_row + row].rule];
}

static bool is_entry_rule(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_SP && rule->cfa_offset == 0 && rule->ra == UNWIND_RA_IN_LR &&
	       rule->fp == UNWIND_FP_SAME;
}

/*
 * Clang gives a leaf its frame from its first instruction on even if a store creates the frame
 * later (str x0, [sp, #-160]!). So does GCC where it is true: in the cold part of a function, which
 * creates no frame that would confirm it.
 */
static bool is_leaf_frame_rule(const struct unwind_rule *rule)
{
	return rule->cfa == UNWIND_CFA_SP && rule->cfa_offset > 0 && rule->ra == UNWIND_RA_IN_LR &&
	       rule->fp == UNWIND_FP_SAME;
}

/*
 * Whether the CFI may be synchronous: it starts like a function, has a frame, and never says that
 * the frame is gone. Asynchronous CFI says so before each return.
 */
static bool may_be_synchronous(const struct walk *walk)
{
	if (is_leaf_frame_rule(rule_of_row(walk, 0)))
		return walk->function->row_count == 1;
	if (walk->function->row_count < 2 || !is_entry_rule(rule_of_row(walk, 0)))
		return false;
	for (uint32_t i = 1; i < walk->function->row_count; i++) {
		const struct unwind_rule *rule = rule_of_row(walk, i);

		if (is_entry_rule(rule))
			return false;
		if (rule->cfa != UNWIND_CFA_SP && rule->cfa != UNWIND_CFA_FP)
			return false;
	}
	return true;
}

static void find_next_row(struct walk *walk)
{
	const struct rows_function *function = walk->function;

	walk->next_row = UINT32_MAX;
	if (walk->row + 1 < function->row_count)
		walk->next_row = (walk->rows->rows.items[function->first_row + walk->row + 1].pc -
				  function->start) /
				 A64_INSN_BYTES;
}

/* Gives the frame a number, the same for equal frames. False if there are too many. */
static bool number_frame(struct walk *walk)
{
	uint32_t i = 1;

	while (i < walk->frame_count && !a64_frame_equal(&walk->frames[i], &walk->frame))
		i++;
	if (i == MAX_FRAMES)
		return false;
	walk->frames[i] = walk->frame;
	if (i == walk->frame_count)
		walk->frame_count++;
	walk->frame_number = (uint8_t)i;
	return true;
}

/* Records the frame that a branch brings to a later instruction. */
static bool note_target(struct walk *walk, uint32_t at, int32_t distance)
{
	int64_t target = (int64_t)at + distance / A64_INSN_BYTES;

	if (walk->is_in_body || target <= at || target >= walk->insn_count ||
	    walk->targets[target] != NO_FRAME)
		return true;
	if (walk->frame_number == NO_FRAME && !number_frame(walk))
		return false;
	walk->targets[target] = walk->frame_number;
	walk->has_targets = true;
	return true;
}

/* The frame of an instruction that the previous one does not reach. */
static void start_block(struct walk *walk, uint32_t at)
{
	const struct unwind_rule *rule = rule_of_row(walk, walk->row);

	if (at >= walk->insn_count)
		return;
	walk->frame_number = walk->targets[at];
	walk->is_known = walk->frame_number != NO_FRAME;
	if (walk->is_known)
		walk->frame = walk->frames[walk->frame_number];
	else if (walk->has_body && a64_frame_agrees(&walk->body, rule))
		walk->frame = walk->body;
	else
		walk->frame = a64_frame_from_rule(rule);
}

/* Adds a row at an instruction if another rule applies from there on. */
static int put_row(struct repair *repair, struct walk *walk, uint32_t at)
{
	const struct unwind_rule *rule = rule_of_row(walk, walk->row);
	int number = walk->rows->rows.items[walk->function->first_row + walk->row].rule;
	bool agrees = a64_frame_agrees(&walk->frame, rule);
	struct unwind_rule own;
	bool is_own = false;

	/* Once the address is back in its register, the epilogue has begun. */
	walk->is_in_body =
		agrees && walk->row > 0 && !(walk->frame.ra_in_register && walk->frame.ra_at != 0);
	if (walk->is_in_body) {
		walk->body = walk->frame;
		walk->has_body = true;
	}
	if (!agrees && a64_frame_rule(&walk->frame, &own)) {
		number = rows_intern(walk->rows, &own);
		if (number < 0)
			return number;
		is_own = true;
	}
	if (repair->found.count > 0 && repair->found.items[repair->found.count - 1].rule == number)
		return 0;
	walk->repaired += is_own;
	return vec_push(&repair->found,
			(struct unwind_row){.pc = walk->function->start + at * A64_INSN_BYTES,
					    .rule = (uint16_t)number});
}

/* The CFI changes here: the tracked frame must agree. 1, or 0 if it does not. */
static int enter_row(struct walk *walk)
{
	walk->row++;
	find_next_row(walk);
	if (!walk->is_known) {
		walk->frame_number = NO_FRAME;
		walk->frame = a64_frame_from_rule(rule_of_row(walk, walk->row));
		return 1;
	}
	if (a64_frame_agrees(&walk->frame, rule_of_row(walk, walk->row)))
		walk->verified++;
	else if (!is_leaf_frame_rule(rule_of_row(walk, walk->row)))
		return 0;
	return 1;
}

enum step { STEP_GIVE_UP, STEP_SAME_FRAME, STEP_NEW_FRAME };

/* Tracks one instruction. */
static enum step follow(struct walk *walk, uint32_t at, uint32_t word)
{
	struct a64_insn insn = a64_decode(word);

	switch ((enum a64_kind)insn.kind) {
	case A64_NONE:
		return STEP_SAME_FRAME;
	case A64_BRANCH:
		return note_target(walk, at, insn.imm) ? STEP_SAME_FRAME : STEP_GIVE_UP;
	case A64_JUMP:
		if (!note_target(walk, at, insn.imm))
			return STEP_GIVE_UP;
		start_block(walk, at + 1);
		return STEP_NEW_FRAME;
	case A64_END:
		start_block(walk, at + 1);
		return STEP_NEW_FRAME;
	case A64_CALL:
		/*
		 * A call never returns if a branch with another frame jumps to the instruction
		 * after it.
		 */
		if (at + 1 >= walk->insn_count || walk->targets[at + 1] == NO_FRAME)
			return STEP_SAME_FRAME;
		start_block(walk, at + 1);
		return STEP_NEW_FRAME;
	case A64_SP_ADD:
	case A64_SP_FROM_FP:
	case A64_SP_LOST:
	case A64_FP_FROM_SP:
	case A64_STORE:
	case A64_LOAD:
	default:
		walk->frame_number = NO_FRAME;
		if (!a64_frame_step(&walk->frame, &insn))
			return STEP_GIVE_UP;
		/* A row that precedes the creation of its frame. */
		if (is_leaf_frame_rule(rule_of_row(walk, walk->row)) &&
		    a64_frame_agrees(&walk->frame, rule_of_row(walk, walk->row)))
			walk->verified++;
		return STEP_NEW_FRAME;
	}
}

/*
 * The next instruction from at on that may matter or begins a row of the CFI. Blocks without a
 * recorded frame have the frame of the body, so branches inside the body matter only if other
 * frames were recorded before.
 */
static uint32_t skip(const struct walk *walk, uint32_t at)
{
	uint32_t end = walk->next_row < walk->insn_count ? walk->next_row : walk->insn_count;

	if (walk->is_in_body && !walk->has_targets)
		return a64_find_frame_change(walk->text, at, end);
	return a64_find_change(walk->text, at, end);
}

/* Tracks the whole function into repair->found. 1, 0 to leave it unchanged, or -ENOMEM. */
static int follow_function(struct repair *repair, struct walk *walk)
{
	int r = put_row(repair, walk, 0);
	uint32_t at = 0;

	while (r >= 0) {
		uint32_t word;
		enum step step;

		at = skip(walk, at);
		if (at >= walk->insn_count)
			break;
		if (at == walk->next_row) {
			if (!enter_row(walk))
				return 0;
			r = put_row(repair, walk, at);
			continue;
		}
		memcpy(&word, walk->text + (size_t)at * A64_INSN_BYTES, sizeof(word));
		step = follow(walk, at, word);
		if (step == STEP_GIVE_UP)
			return 0;
		at++;
		/* If a row begins there, it is checked against the frame that is now known. */
		if (step == STEP_NEW_FRAME && at < walk->insn_count && at != walk->next_row)
			r = put_row(repair, walk, at);
	}
	return r < 0 ? r : 1;
}

static int replace_rows(struct repair *repair, struct rows_function *function)
{
	struct rows *rows = repair->rows;

	if (vec_reserve(&rows->rows, rows->rows.count + repair->found.count) < 0)
		return -ENOMEM;
	function->first_row = (uint32_t)rows->rows.count;
	function->row_count = (uint32_t)repair->found.count & (UINT32_MAX >> 2);
	memcpy(&rows->rows.items[rows->rows.count], repair->found.items,
	       repair->found.count * sizeof(*repair->found.items));
	rows->rows.count += repair->found.count;
	return 0;
}

/* Reserves that many targets. All are NO_FRAME between two functions. */
static int clean_targets(struct repair *repair, uint32_t count)
{
	size_t had = repair->targets.count;

	if (count <= had)
		return 0;
	if (vec_reserve(&repair->targets, count) < 0)
		return -ENOMEM;
	memset(repair->targets.items + had, NO_FRAME, count - had);
	repair->targets.count = count;
	return 0;
}

static int repair_function(struct repair *repair, struct rows_function *function, uint64_t vaddr,
			   uint32_t *repaired)
{
	struct walk walk = {
		.rows = repair->rows,
		.function = function,
		.insn_count = (function->end - function->start) / A64_INSN_BYTES,
		.frame = a64_frame_at_entry(),
		.is_known = true,
		.frames = repair->frames,
		.frame_count = 1,
	};
	int r;

	if (function->is_exact || vaddr % A64_INSN_BYTES != 0 || !may_be_synchronous(&walk))
		return 0;
	walk.text = text_window_get(&repair->window, vaddr, walk.insn_count * A64_INSN_BYTES);
	if (!walk.text)
		return 0;
	if (clean_targets(repair, walk.insn_count) < 0)
		return -ENOMEM;
	walk.targets = repair->targets.items;
	repair->found.count = 0;
	find_next_row(&walk);
	r = follow_function(repair, &walk);
	if (walk.has_targets)
		memset(walk.targets, NO_FRAME, walk.insn_count);
	if (r <= 0 || walk.repaired == 0 || walk.verified == 0)
		return r < 0 ? r : 0;
	*repaired += walk.repaired;
	return replace_rows(repair, function);
}

int cfi_repair(struct elf_file *elf, uint64_t base, struct rows *rows, uint32_t *ret_repaired)
{
	struct repair repair = {.rows = rows};
	uint32_t repaired = 0;
	int r = text_window_init(&repair.window, elf);

	for (size_t i = 0; r == 0 && i < rows->functions.count; i++) {
		struct rows_function *function = &rows->functions.items[i];

		r = repair_function(&repair, function, base + function->start, &repaired);
	}
	if (r == 0)
		*ret_repaired = repaired;
	text_window_fini(&repair.window);
	vec_fini(&repair.targets);
	vec_fini(&repair.found);
	return r;
}
