/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_stacks/registers.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "base/vec.h"
#include "process_stacks/arch/native.h"
#include "unwind/arch/native.h"

static int read_words(pid_t tid, uint64_t words[PTRACE_WORDS])
{
	struct iovec room = {words, PTRACE_WORDS * sizeof(*words)};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &room) < 0)
		return -errno;
	return room.iov_len == PTRACE_WORDS * sizeof(*words) ? 0 : -EOPNOTSUPP; /* 32-bit program */
}

int registers_system_call(pid_t tid, uint64_t *ret_number, uint64_t *ret_argument)
{
	uint64_t words[PTRACE_WORDS] = {0};
	int r = read_words(tid, words);

	if (r < 0)
		return r;
	*ret_number = words[CALL_NUMBER_WORD];
	*ret_argument = words[CALL_ARGUMENT_WORD];
	return 0;
}

int registers_of_thread(pid_t tid, struct registers *ret)
{
	uint64_t words[PTRACE_WORDS] = {0};
	int r = read_words(tid, words);

	if (r < 0)
		return r;
	*ret = (struct registers){.pc = words[pc_register_place.ptrace]};
	for (size_t i = 0; i < ARRAY_SIZE(register_places); i++)
		ret->values[i] = words[register_places[i].ptrace];
	return 0;
}

int registers_thread_pointer(pid_t tid, uint64_t *ret)
{
	uint64_t words[PTRACE_WORDS] = {0};
	struct iovec room = {words, sizeof(words)};

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)THREAD_POINTER_SET, &room) < 0)
		return -errno;
	if (room.iov_len < (THREAD_POINTER_WORD + 1) * sizeof(*words))
		return -EOPNOTSUPP;
	*ret = words[THREAD_POINTER_WORD];
	return 0;
}

uint64_t registers_perf_mask(void)
{
	uint64_t mask = UINT64_C(1) << pc_register_place.perf;

	for (size_t i = 0; i < ARRAY_SIZE(register_places); i++)
		mask |= UINT64_C(1) << register_places[i].perf;
	return mask;
}

/* The value of a bit: those of lower bits come first. */
static uint64_t value_of_bit(uint64_t mask, const void *values, unsigned int bit)
{
	uint64_t below = mask & ((UINT64_C(1) << bit) - 1);
	uint64_t value;

	if (!(mask >> bit & 1))
		return 0;
	/* Records in a file may be unaligned. */
	memcpy(&value, (const uint8_t *)values + __builtin_popcountll(below) * sizeof(value),
	       sizeof(value));
	return value;
}

int registers_of_sample(uint64_t mask, const void *values, struct registers *ret)
{
	const struct unwind_arch *arch = &UNWIND_NATIVE;
	uint64_t needed = UINT64_C(1) << pc_register_place.perf |
			  UINT64_C(1) << register_places[arch->sp_register].perf;

	needed |= UINT64_C(1) << register_places[arch->fp_register].perf;
	if (arch->lr_register < ARRAY_SIZE(register_places))
		needed |= UINT64_C(1) << register_places[arch->lr_register].perf;
	if ((mask & needed) != needed)
		return -EINVAL;
	*ret = (struct registers){.pc = value_of_bit(mask, values, pc_register_place.perf)};
	for (size_t i = 0; i < ARRAY_SIZE(register_places); i++)
		ret->values[i] = value_of_bit(mask, values, register_places[i].perf);
	return 0;
}

int registers_link(uint64_t mask, const void *perf_values, uint64_t *values)
{
	unsigned int link = UNWIND_NATIVE.lr_register;

	if (link >= ARRAY_SIZE(register_places))
		return -ENOTSUP;
	if (!(mask >> register_places[link].perf & 1))
		return -EINVAL;
	values[link] = value_of_bit(mask, perf_values, register_places[link].perf);
	return 0;
}
