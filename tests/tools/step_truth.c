/* SPDX-License-Identifier: BSD-2-Clause */
#include "step_truth.h"

#include <string.h>

#if defined(__aarch64__)
enum instruction instruction_decode(const unsigned char *bytes, size_t *ret_size)
{
	uint32_t word;

	memcpy(&word, bytes, sizeof(word));
	*ret_size = 4;
	if ((word & 0xfc000000) == 0x94000000)
		return INSTRUCTION_CALL; /* bl */
	if ((word & 0xfffffc1f) == 0xd63f0000 || (word & 0xfefff800) == 0xd63f0800)
		return INSTRUCTION_CALL; /* blr, blraa … */
	if ((word & 0xfffffc1f) == 0xd65f0000 || (word & 0xfffffbff) == 0xd65f0bff)
		return INSTRUCTION_RETURN; /* ret, retaa, retab */
	return word == 0xd4000001 ? INSTRUCTION_SYSTEM_CALL : INSTRUCTION_OTHER;
}
#else
/* The length of an operand of the ff opcodes: ModRM, SIB, displacement. */
static size_t operand_size(const unsigned char *at)
{
	unsigned int mode = at[0] >> 6;
	unsigned int base = at[0] & 7;
	size_t size = 1;

	if (mode == 3)
		return size;
	if (base == 4) {
		base = at[1] & 7;
		size++;
	} else if (mode == 0 && base == 5) {
		return size + 4;
	}
	if (mode == 0)
		return base == 5 ? size + 4 : size;
	return size + (mode == 1 ? 1 : 4);
}

enum instruction instruction_decode(const unsigned char *bytes, size_t *ret_size)
{
	size_t at = 0;

	/* rep, bnd, notrack, operand and address size (linkers pad calls with it), REX */
	while (at < 8 && (bytes[at] == 0xf3 || bytes[at] == 0xf2 || bytes[at] == 0x3e ||
			  bytes[at] == 0x66 || bytes[at] == 0x67 || (bytes[at] & 0xf0) == 0x40))
		at++;
	*ret_size = 0;
	if (bytes[at] == 0xe8) {
		*ret_size = at + 5;
		return INSTRUCTION_CALL;
	}
	if (bytes[at] == 0xff && (bytes[at + 1] >> 3 & 7) == 2) {
		*ret_size = at + 1 + operand_size(bytes + at + 1);
		return INSTRUCTION_CALL;
	}
	if (bytes[at] == 0xc3 || bytes[at] == 0xc2)
		return INSTRUCTION_RETURN;
	if (bytes[at] == 0x0f && bytes[at + 1] == 0x05)
		return INSTRUCTION_SYSTEM_CALL;
	return INSTRUCTION_OTHER;
}
#endif

static void truth_push(struct truth *truth, uint64_t address)
{
	if (truth->depth < TRUTH_DEPTH)
		truth->chain[truth->depth++] = address;
	else
		truth->broken++;
}

/* Some returns go further than one frame (longjmp): look for where. Signals left one more. */
static void truth_return(struct truth *truth, uint64_t to)
{
	for (size_t i = truth->depth; i > 0; i--)
		if (truth->chain[i - 1] == to || truth->chain[i - 1] == to + 1) {
			truth->depth = i - 1;
			return;
		}
	truth->broken++;
}

void truth_follow(struct truth *truth, const struct executed *executed)
{
	size_t size;

	switch (instruction_decode(executed->bytes, &size)) {
	case INSTRUCTION_CALL:
		truth_push(truth, executed->from + size);
		break;
	case INSTRUCTION_RETURN:
		truth_return(truth, executed->to);
		break;
	case INSTRUCTION_SYSTEM_CALL:
		if (!executed->is_signal_return)
			break;
		/* The trampoline itself has been taken away by the handler's return. */
		truth_return(truth, executed->to);
		truth->signals--;
		break;
	case INSTRUCTION_OTHER:
		break;
	}
}

void truth_signal(struct truth *truth, uint64_t interrupted, uint64_t trampoline)
{
	truth_push(truth, interrupted + 1);
	truth_push(truth, trampoline + 1);
	truth->signals++;
}
