/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_PROGRAM_LOAD_H
#define WICK_ENGINE_EBPF_PROGRAM_LOAD_H

/* program_load: opens, sizes and loads the BPF programs of a walker. */

#include <stdbool.h>

struct error;
struct walker_config;
struct wick_bpf;

/*
 * The caller releases *ret with wick_bpf__destroy(). Programs that record wakers are loaded
 * without variables of the kernel where it has none to offer; *ret_tells_interrupts is false
 * then: whoever reads a waker's stack must tell an interrupt from a task by it.
 */
int program_load(const struct walker_config *config, struct wick_bpf **ret,
		 bool *ret_tells_interrupts, struct error *err);

#endif
