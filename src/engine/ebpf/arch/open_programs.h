/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_ARCH_OPEN_PROGRAMS_H
#define WICK_ENGINE_EBPF_ARCH_OPEN_PROGRAMS_H

/*
 * open_programs: opens the BPF programs. On some CPUs they exist twice: those that read variables
 * of the kernel can distinguish interrupts from tasks that wake others, but not every kernel
 * accepts them. See bpf/arch. The build uses one <cpu>.c of this folder.
 */

#include <stdbool.h>

struct wick_bpf;

/* Whether the programs distinguish interrupts only if they read variables of the kernel. */
extern const bool open_programs_needs_variables;

/* The caller releases them with wick_bpf__destroy(). NULL with errno set on failure. */
struct wick_bpf *open_programs(bool with_variables);

#endif
