/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_WALKER_PROGRAMS_H
#define WICK_ENGINE_EBPF_WALKER_PROGRAMS_H

/* walker_programs: access to the programs of a walker, for files that attach them elsewhere. */

#include <stdint.h>

struct walker;
struct wick_bpf;

struct wick_bpf *walker_programs(struct walker *walker);

/* Sums up the counters of all CPUs. */
void walker_sum_counters(int map_fd, uint64_t *counters, uint32_t count);

#endif
