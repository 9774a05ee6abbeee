/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_PROGRAM_LOAD_H
#define WICK_ENGINE_EBPF_PROGRAM_LOAD_H

/* program_load: opens, sizes and loads the BPF programs of a walker. */

#include <stdbool.h>

struct error;
struct walker_config;
struct wick_bpf;

/*
 * The caller releases *ret with wick_bpf__destroy(). Programs that record wakers read variables
 * of the kernel, which not every kernel exports. Without them *ret_knows_interrupts is false, and
 * the reader of a waker's stack must look for an interrupt in it.
 */
int program_load(const struct walker_config *config, struct wick_bpf **ret,
		 bool *ret_knows_interrupts, struct error *err);

#endif
