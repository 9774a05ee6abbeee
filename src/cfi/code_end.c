/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/code_end.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "cfi/arch/a64.h"
#include "cfi/arch/x64_length.h"

/* An unconditional jump further ahead than this is assumed to go to another function. */
#define MAX_JUMP_BYTES 1024

struct step {
	uint64_t size;
	bool ends;     /* does not fall through */
	bool branches; /* to its target */
	int64_t target;
};

static bool step_x64(const uint8_t *code, uint64_t size, struct step *ret)
{
	struct x64_extent extent;

	if (!x64_measure(code, size, &extent))
		return false;
	*ret = (struct step){.size = extent.size,
			     .ends = extent.ends,
			     .branches = extent.branches && !extent.calls,
			     .target = extent.target};
	return true;
}

static bool step_a64(const uint8_t *code, uint64_t size, struct step *ret)
{
	struct a64_insn insn;
	uint32_t word;

	if (size < A64_INSN_BYTES)
		return false;
	memcpy(&word, code, sizeof(word));
	if (word == 0)
		return false; /* data, or padding */
	insn = a64_decode(word);
	*ret = (struct step){.size = A64_INSN_BYTES,
			     .ends = insn.kind == A64_JUMP || insn.kind == A64_END,
			     .branches = insn.kind == A64_JUMP || insn.kind == A64_BRANCH,
			     .target = insn.imm};
	return true;
}

uint64_t code_end_find(uint16_t machine, const uint8_t *code, uint64_t size)
{
	bool (*measure)(const uint8_t *, uint64_t, struct step *) =
		machine == EM_X86_64 ? step_x64 : step_a64;
	uint64_t reached = 0; /* the furthest target of a branch */
	uint64_t at = 0;
	struct step step;

	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return 0;
	while (at < size && measure(code + at, size - at, &step)) {
		uint64_t target = at + (uint64_t)step.target;

		if (step.branches && step.target > 0 && target < size && target > reached &&
		    (!step.ends || step.target <= MAX_JUMP_BYTES))
			reached = target;
		at += step.size;
		if (step.ends && at > reached)
			break;
	}
	return at;
}
