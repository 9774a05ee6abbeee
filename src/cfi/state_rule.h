/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_STATE_RULE_H
#define WICK_CFI_STATE_RULE_H

/* state_rule: from the state of a call frame program to a rule of the unwind table. */

#include <stdbool.h>

struct cfi_machine;
struct frame_cie;
struct frame_state;
struct unwind_rule;

/*
 * The rule that is equivalent to the state. false if a part of it cannot be expressed: the CFA or
 * return address (then it is "no rule") or the frame pointer.
 */
bool frame_state_rule(const struct cfi_machine *machine, const struct frame_cie *cie,
		      const struct frame_state *state, struct unwind_rule *ret);

#endif
