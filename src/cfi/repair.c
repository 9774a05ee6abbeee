/* SPDX-License-Identifier: BSD-2-Clause */
#include "cfi/repair.h"

int cfi_repair(struct elf_file *elf, uint64_t base, struct rows *rows, uint32_t *ret_repaired)
{
	*ret_repaired = 0;
	return 0;
}
