/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/machine.h"

#include <elf.h>
#include <stddef.h>

#include "base/vec.h"

static const struct cfi_machine machines[] = {
	{.elf_machine = EM_X86_64,
	 .sp = 7,
	 .fp = 6,
	 .lr = NO_REGISTER,
	 .pc = 16,
	 .callee_saved = 1u << 3 | 0xfu << 12, /* rbx, r12 … r15 */
	 .has_bare_stubs = true},
	{.elf_machine = EM_AARCH64,
	 .sp = 31,
	 .fp = 29,
	 .lr = 30,
	 .pc = NO_REGISTER,
	 .has_synchronous_cfi = true,
	 .has_bare_plt = true,
	 .has_bare_trampoline = true},
};

const struct cfi_machine *cfi_machine_find(uint16_t elf_machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++)
		if (machines[i].elf_machine == elf_machine)
			return &machines[i];
	return NULL;
}
