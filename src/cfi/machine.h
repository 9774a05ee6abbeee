/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CFI_MACHINE_H
#define WICK_CFI_MACHINE_H

/* machine: the DWARF numbers of the registers that unwinding needs, for each CPU. */

#include <stdbool.h>
#include <stdint.h>

#define NO_REGISTER UINT8_MAX

struct cfi_machine {
	uint16_t elf_machine;
	uint8_t sp;
	uint8_t fp;
	uint8_t lr;               /* NO_REGISTER: calls push the return address */
	uint8_t pc;               /* NO_REGISTER: expressions cannot name it */
	uint32_t callee_saved;    /* a bit for each register, besides sp, fp and lr */
	bool has_synchronous_cfi; /* compilers emit it: cfi/repair.h */
	bool has_bare_plt;        /* its PLT has no CFI: cfi/arch/a64_plt.h */
	bool has_bare_stubs;      /* its startup code has no CFI: cfi/arch/x64_bare.h */
	bool has_bare_trampoline; /* nor has its vdso's: cfi/arch/a64_trampoline.h */
};

/* NULL for an unknown machine. */
const struct cfi_machine *cfi_machine_find(uint16_t elf_machine);

#endif
