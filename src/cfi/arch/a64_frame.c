/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/arch/a64_frame.h"

#include <string.h>

#include "cfi/arch/a64.h"
#include "unwind/table.h"

/* No frame is larger; it keeps sums within 32 bits. */
#define MAX_FRAME_BYTES (1 << 28)

struct a64_frame a64_frame_at_entry(void)
{
	return (struct a64_frame){.has_sp = true, .ra_in_register = true, .fp_in_register = true};
}

struct a64_frame a64_frame_from_rule(const struct unwind_rule *rule)
{
	struct a64_frame frame = {0};

	frame.has_sp = rule->cfa == UNWIND_CFA_SP;
	frame.sp = frame.has_sp ? rule->cfa_offset : 0;
	frame.has_fp = rule->cfa == UNWIND_CFA_FP;
	frame.fp = frame.has_fp ? rule->cfa_offset : 0;
	frame.ra_in_register = rule->ra == UNWIND_RA_IN_LR;
	frame.ra_at = rule->ra == UNWIND_RA_AT_CFA ? rule->ra_offset : 0;
	frame.fp_in_register = rule->fp == UNWIND_FP_SAME;
	frame.fp_at = rule->fp == UNWIND_FP_AT_CFA ? rule->fp_offset : 0;
	return frame;
}

bool a64_frame_equal(const struct a64_frame *a, const struct a64_frame *b)
{
	return a->sp == b->sp && a->fp == b->fp && a->ra_at == b->ra_at && a->fp_at == b->fp_at &&
	       a->has_sp == b->has_sp && a->has_fp == b->has_fp &&
	       a->ra_in_register == b->ra_in_register && a->fp_in_register == b->fp_in_register;
}

static void store(struct a64_frame *frame, uint8_t reg, int32_t at)
{
	if (reg == A64_LR && frame->ra_in_register && at < 0) {
		frame->ra_at = at;
		frame->ra_in_register = false;
	}
	if (reg == A64_FP && frame->fp_in_register && at < 0) {
		frame->fp_at = at;
		frame->fp_in_register = false;
	}
}

static void load(struct a64_frame *frame, uint8_t reg, int32_t at)
{
	if (reg == A64_LR && frame->ra_at == at && at < 0)
		frame->ra_in_register = true;
	if (reg == A64_FP) {
		frame->has_fp = false;
		frame->fp = 0;
		if (frame->fp_at == at && at < 0)
			frame->fp_in_register = true;
	}
}

/* An unknown sp becomes known again when the pair is loaded from its known place. */
static void find_sp(struct a64_frame *frame, const struct a64_insn *insn)
{
	int32_t second = insn->reg[0] == A64_FP ? frame->ra_at : frame->fp_at;
	int32_t first = insn->reg[0] == A64_FP ? frame->fp_at : frame->ra_at;

	if (insn->reg[0] == A64_NO_REGISTER || insn->reg[1] == A64_NO_REGISTER || first >= 0 ||
	    second != first + 8)
		return;
	frame->has_sp = true;
	frame->sp = insn->imm - first;
}

static void access(struct a64_frame *frame, const struct a64_insn *insn)
{
	frame->sp -= insn->pre;
	if (!frame->has_sp && insn->kind == A64_LOAD)
		find_sp(frame, insn);
	for (int i = 0; i < 2; i++) {
		int32_t at = insn->imm + 8 * i - frame->sp;

		if (insn->reg[i] == A64_NO_REGISTER)
			continue;
		if (insn->kind == A64_LOAD)
			load(frame, insn->reg[i], frame->has_sp ? at : 0);
		else if (frame->has_sp)
			store(frame, insn->reg[i], at);
	}
	frame->sp -= insn->post;
}

bool a64_frame_step(struct a64_frame *frame, const struct a64_insn *insn)
{
	switch ((enum a64_kind)insn->kind) {
	case A64_STORE:
	case A64_LOAD:
		access(frame, insn);
		break;
	case A64_SP_ADD:
		frame->sp -= insn->imm;
		break;
	case A64_SP_FROM_FP:
		frame->has_sp = frame->has_fp;
		frame->sp = frame->fp - insn->imm;
		break;
	case A64_SP_LOST:
		frame->has_sp = false;
		break;
	case A64_FP_FROM_SP:
		frame->has_fp = frame->has_sp;
		frame->fp = frame->sp - insn->imm;
		break;
	case A64_NONE:
	case A64_CALL:
	case A64_BRANCH:
	case A64_JUMP:
	case A64_END:
	default:
		break;
	}
	if (!frame->has_sp)
		frame->sp = 0;
	if (!frame->has_fp)
		frame->fp = 0;
	/* The function has nothing above the CFA: that is the caller's. */
	return frame->sp >= 0 && frame->sp < MAX_FRAME_BYTES && frame->fp > -MAX_FRAME_BYTES &&
	       frame->fp < MAX_FRAME_BYTES;
}

/* Saved there, and still above sp: memory below sp may be overwritten. */
static bool is_saved_at(const struct a64_frame *frame, int32_t at, int32_t wanted)
{
	return at < 0 && at == wanted && (!frame->has_sp || frame->sp >= -at);
}

bool a64_frame_agrees(const struct a64_frame *frame, const struct unwind_rule *rule)
{
	if (rule->cfa == UNWIND_CFA_SP) {
		if (!frame->has_sp || frame->sp != rule->cfa_offset)
			return false;
	} else if (rule->cfa == UNWIND_CFA_FP) {
		if (!frame->has_fp || frame->fp != rule->cfa_offset)
			return false;
	} else {
		return false;
	}
	if (rule->ra == UNWIND_RA_AT_CFA) {
		if (!is_saved_at(frame, frame->ra_at, rule->ra_offset))
			return false;
	} else if (rule->ra != UNWIND_RA_IN_LR || !frame->ra_in_register) {
		return false;
	}
	if (rule->fp == UNWIND_FP_AT_CFA)
		return is_saved_at(frame, frame->fp_at, rule->fp_offset);
	return rule->fp == UNWIND_FP_SAME && frame->fp_in_register;
}

bool a64_frame_rule(const struct a64_frame *frame, struct unwind_rule *ret)
{
	struct unwind_rule rule = {0};

	if (!frame->has_sp && !frame->has_fp)
		return false;
	rule.cfa = frame->has_sp ? UNWIND_CFA_SP : UNWIND_CFA_FP;
	rule.cfa_offset = frame->has_sp ? frame->sp : frame->fp;
	rule.ra = frame->ra_in_register ? UNWIND_RA_IN_LR : UNWIND_RA_AT_CFA;
	rule.ra_offset = frame->ra_in_register ? 0 : frame->ra_at;
	rule.fp = frame->fp_in_register ? UNWIND_FP_SAME : UNWIND_FP_AT_CFA;
	rule.fp_offset = frame->fp_in_register ? 0 : frame->fp_at;
	if ((!frame->ra_in_register && frame->ra_at >= 0) ||
	    (!frame->fp_in_register && frame->fp_at >= 0))
		return false;
	*ret = rule;
	return true;
}
