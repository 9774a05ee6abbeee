/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_REGISTERS_H
#define WICK_PROCESS_STACKS_REGISTERS_H

/*
 * registers: the general registers of a thread in the order of DWARF, from the
 * orders that ptrace and perf have them in. Of this machine's CPU only.
 */

#include <stdint.h>
#include <sys/types.h>

#include "unwind/arch/arch.h"

struct registers {
	uint64_t pc;
	uint64_t values[UNWIND_REGISTERS]; /* by DWARF number; 0 where there is none */
};

/* Of a thread that is in a ptrace stop of the caller. Returns 0 or a negative errno. */
int registers_of_thread(pid_t tid, struct registers *ret);

/*
 * Of a perf sample: values are those of the bits of mask (sample_regs_user) from
 * the lowest on. Returns -EINVAL when the mask lacks some that a walk needs.
 */
int registers_of_sample(uint64_t mask, const void *values, struct registers *ret);

/*
 * The register that holds the return address of a leaf, put into values, which are
 * by DWARF number. -EINVAL when the mask lacks it, -ENOTSUP when the CPU has none.
 */
int registers_link(uint64_t mask, const void *perf_values, uint64_t *values);

/* The mask to ask perf for: all that have a DWARF number, and pc. */
uint64_t registers_perf_mask(void);

#endif
