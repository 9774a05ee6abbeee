/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/registers.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "base/vec.h"
#include "unwind/arch/native.h"

/* Where ptrace (in words) and perf (in bits) have a register. */
struct place {
	uint8_t ptrace;
	uint8_t perf;
};

/* By DWARF number. */
#if defined(__aarch64__)
#define SAME(n)                                                                                    \
	{                                                                                          \
		n, n                                                                               \
	}
static const struct place places[] = {
	SAME(0),  SAME(1),  SAME(2),  SAME(3),  SAME(4),  SAME(5),  SAME(6),  SAME(7),
	SAME(8),  SAME(9),  SAME(10), SAME(11), SAME(12), SAME(13), SAME(14), SAME(15),
	SAME(16), SAME(17), SAME(18), SAME(19), SAME(20), SAME(21), SAME(22), SAME(23),
	SAME(24), SAME(25), SAME(26), SAME(27), SAME(28), SAME(29), SAME(30), SAME(31),
};
static const struct place pc_place = SAME(32);
#define PTRACE_WORDS 34
#else
static const struct place places[] = {
	{10, 0}, {12, 3}, {11, 2}, {5, 1},  {13, 4}, {14, 5}, {4, 6},  {19, 7}, /* rax … rsp */
	{9, 16}, {8, 17}, {7, 18}, {6, 19}, {3, 20}, {2, 21}, {1, 22}, {0, 23}, /* r8 … r15 */
};
static const struct place pc_place = {16, 8};
#define PTRACE_WORDS 27
#endif

int registers_of_thread(pid_t tid, struct registers *ret)
{
	uint64_t words[PTRACE_WORDS] = {0};
	struct iovec room = {words, sizeof(words)};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &room) < 0)
		return -errno;
	if (room.iov_len != sizeof(words)) /* a 32-bit program */
		return -EOPNOTSUPP;
	*ret = (struct registers){.pc = words[pc_place.ptrace]};
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		ret->values[i] = words[places[i].ptrace];
	return 0;
}

uint64_t registers_perf_mask(void)
{
	uint64_t mask = UINT64_C(1) << pc_place.perf;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		mask |= UINT64_C(1) << places[i].perf;
	return mask;
}

/* The value of a bit: those of the bits below it come before. */
static uint64_t value_of_bit(uint64_t mask, const void *values, unsigned int bit)
{
	uint64_t below = mask & ((UINT64_C(1) << bit) - 1);
	uint64_t value;

	if (!(mask >> bit & 1))
		return 0;
	/* Records of a file may begin anywhere. */
	memcpy(&value, (const uint8_t *)values + __builtin_popcountll(below) * sizeof(value),
	       sizeof(value));
	return value;
}

int registers_of_sample(uint64_t mask, const void *values, struct registers *ret)
{
	const struct unwind_arch *arch = &UNWIND_NATIVE;
	uint64_t needed = UINT64_C(1) << pc_place.perf | UINT64_C(1)
								 << places[arch->sp_register].perf;

	needed |= UINT64_C(1) << places[arch->fp_register].perf;
	if (arch->lr_register < ARRAY_SIZE(places))
		needed |= UINT64_C(1) << places[arch->lr_register].perf;
	if ((mask & needed) != needed)
		return -EINVAL;
	*ret = (struct registers){.pc = value_of_bit(mask, values, pc_place.perf)};
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		ret->values[i] = value_of_bit(mask, values, places[i].perf);
	return 0;
}

int registers_link(uint64_t mask, const void *perf_values, uint64_t *values)
{
	unsigned int link = UNWIND_NATIVE.lr_register;

	if (link >= ARRAY_SIZE(places))
		return -ENOTSUP;
	if (!(mask >> places[link].perf & 1))
		return -EINVAL;
	values[link] = value_of_bit(mask, perf_values, places[link].perf);
	return 0;
}
