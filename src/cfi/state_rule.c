/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/state_rule.h"

#include <stdint.h>

#include "cfi/expression.h"
#include "cfi/frames.h"
#include "cfi/machine.h"
#include "cfi/program.h"
#include "unwind/table.h"

static bool fits(int64_t value)
{
	return value >= INT32_MIN && value <= INT32_MAX;
}

static bool cfa_from_register(const struct cfi_machine *machine, uint64_t reg, int64_t offset,
			      struct unwind_rule *rule)
{
	if (!fits(offset) || reg >= NO_REGISTER)
		return false;
	rule->cfa_offset = (int32_t)offset;
	if (reg == machine->sp) {
		rule->cfa = UNWIND_CFA_SP;
	} else if (reg == machine->fp) {
		rule->cfa = UNWIND_CFA_FP;
	} else {
		rule->cfa = UNWIND_CFA_REGISTER;
		rule->cfa_register = (uint8_t)reg;
	}
	return true;
}

static bool cfa_from_expression(const struct cfi_machine *machine, const struct frame_state *state,
				struct unwind_rule *rule)
{
	struct expression found =
		expression_recognise(machine, state->cfa_expression, state->cfa_size);

	switch (found.kind) {
	case EXPRESSION_REGISTER:
		return cfa_from_register(machine, found.reg, found.offset, rule);
	case EXPRESSION_DEREF:
		if (!fits(found.offset) || !fits(found.extra))
			return false;
		if (found.reg != machine->sp && (found.reg != machine->fp || found.index != 0))
			return false;
		rule->cfa = found.reg == machine->sp ? UNWIND_CFA_DEREF_SP : UNWIND_CFA_DEREF_FP;
		rule->cfa_offset = (int32_t)found.offset;
		rule->cfa_extra = (int32_t)found.extra;
		rule->cfa_register = found.index;
		return true;
	case EXPRESSION_PLT:
		rule->cfa = UNWIND_CFA_PLT;
		rule->cfa_extra = (int32_t)found.extra;
		return true;
	case EXPRESSION_OTHER:
	default:
		return false;
	}
}

static uint8_t cfa_register_of(const struct cfi_machine *machine, const struct unwind_rule *rule)
{
	switch (rule->cfa) {
	case UNWIND_CFA_SP:
		return machine->sp;
	case UNWIND_CFA_FP:
		return machine->fp;
	case UNWIND_CFA_REGISTER:
		return rule->cfa_register;
	default:
		return NO_REGISTER;
	}
}

/*
 * The offset of a place in memory from the CFA; also for an expression based on the CFA's register.
 */
static bool offset_of(const struct cfi_machine *machine, const struct unwind_rule *rule,
		      const struct frame_place *place, int32_t *ret)
{
	int64_t offset = place->value;

	if (place->kind == PLACE_EXPRESSION) {
		struct expression found =
			expression_recognise(machine, place->expression, place->size);

		if (found.kind != EXPRESSION_REGISTER || !fits(found.offset) ||
		    found.reg != cfa_register_of(machine, rule))
			return false;
		offset = found.offset - rule->cfa_offset;
	} else if (place->kind != PLACE_AT_CFA) {
		return false;
	}
	if (!fits(offset))
		return false;
	*ret = (int32_t)offset;
	return true;
}

static bool set_ra(const struct cfi_machine *machine, const struct frame_cie *cie,
		   const struct frame_place *place, struct unwind_rule *rule)
{
	switch (place->kind) {
	case PLACE_UNDEFINED:
		rule->ra = UNWIND_RA_ROOT;
		return true;
	case PLACE_SAME:
	case PLACE_REGISTER: {
		uint64_t reg =
			place->kind == PLACE_SAME ? cie->ra_register : (uint64_t)place->value;

		if (reg == machine->pc || reg >= NO_REGISTER)
			return false;
		rule->ra = reg == machine->lr ? UNWIND_RA_IN_LR : UNWIND_RA_REGISTER;
		rule->ra_offset = reg == machine->lr ? 0 : (int32_t)reg;
		return true;
	}
	case PLACE_AT_CFA:
	case PLACE_EXPRESSION:
		rule->ra = UNWIND_RA_AT_CFA;
		return offset_of(machine, rule, place, &rule->ra_offset);
	case PLACE_OTHER:
	default:
		return false;
	}
}

/* A function that aligns its stack has its CFA in memory and the caller's fp where fp points. */
static bool offset_from_fp(const struct cfi_machine *machine, const struct frame_place *place,
			   int32_t *ret)
{
	struct expression found;

	if (place->kind != PLACE_EXPRESSION)
		return false;
	found = expression_recognise(machine, place->expression, place->size);
	if (found.kind != EXPRESSION_REGISTER || found.reg != machine->fp || !fits(found.offset))
		return false;
	*ret = (int32_t)found.offset;
	return true;
}

static bool set_fp(const struct cfi_machine *machine, const struct frame_place *place,
		   struct unwind_rule *rule)
{
	rule->fp = UNWIND_FP_SAME;
	if (place->kind == PLACE_SAME)
		return true;
	rule->fp = UNWIND_FP_AT_CFA;
	if (offset_of(machine, rule, place, &rule->fp_offset))
		return true;
	rule->fp = UNWIND_FP_AT_FP;
	if (offset_from_fp(machine, place, &rule->fp_offset)) {
		/*
		 * The last instruction of such a function: gcc does not say that fp was restored.
		 */
		if (rule->cfa == UNWIND_CFA_SP) {
			rule->fp = UNWIND_FP_SAME;
			rule->fp_offset = 0;
		}
		return true;
	}
	rule->fp = UNWIND_FP_UNKNOWN;
	return place->kind == PLACE_UNDEFINED;
}

/*
 * The register that is tracked besides sp and fp: stored in members that the usual rules do not
 * use. What cannot be expressed counts as unknown.
 */
static void set_kept(const struct cfi_machine *machine, const struct frame_state *state,
		     struct unwind_rule *rule)
{
	int32_t offset = 0;

	if (state->kept_register == 0 || state->kept_register >= NO_REGISTER ||
	    (rule->cfa != UNWIND_CFA_SP && rule->cfa != UNWIND_CFA_FP))
		return;
	if (state->kept.kind != PLACE_SAME &&
	    (!offset_of(machine, rule, &state->kept, &offset) || offset == 0))
		return;
	rule->cfa_register = (uint8_t)state->kept_register;
	rule->cfa_extra = offset;
}

bool frame_state_rule(const struct cfi_machine *machine, const struct frame_cie *cie,
		      const struct frame_state *state, struct unwind_rule *ret)
{
	const struct unwind_rule none = {0};
	struct unwind_rule rule = {0};
	bool has_cfa = false;

	*ret = none;
	if (cie->is_signal_frame) { /* the kernel's layout is known; its CFI is long-winded */
		ret->cfa = UNWIND_CFA_SIGNAL;
		return true;
	}
	if (state->cfa == CFA_REGISTER)
		has_cfa = cfa_from_register(machine, state->cfa_register, state->cfa_offset, &rule);
	else if (state->cfa == CFA_EXPRESSION)
		has_cfa = cfa_from_expression(machine, state, &rule);
	if (state->ra.kind == PLACE_UNDEFINED) { /* a root needs neither CFA nor fp */
		ret->cfa = UNWIND_CFA_SP;
		ret->ra = UNWIND_RA_ROOT;
		return true;
	}
	if (!has_cfa || !set_ra(machine, cie, &state->ra, &rule))
		return false;
	set_kept(machine, state, &rule);
	*ret = rule;
	return set_fp(machine, &state->fp, ret);
}
