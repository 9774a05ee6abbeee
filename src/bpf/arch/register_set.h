/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_ARCH_REGISTER_SET_H
#define WICK_BPF_ARCH_REGISTER_SET_H

/* register_set: the user registers of a sample. */

#include "wire/bpf_walk.h"

struct registers {
	uint64_t pc;
	uint64_t values[BPF_WALK_REGISTERS]; /* by DWARF number */
};

#endif
