/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_WALKER_PROGRAMS_H
#define WICK_ENGINE_EBPF_WALKER_PROGRAMS_H

/* walker_programs: what a walker has loaded, for those who put its programs elsewhere. */

#include <stdint.h>

struct walker;
struct wick_bpf;

struct wick_bpf *walker_programs(struct walker *walker);

/* Adds up what each CPU has counted. */
void walker_sum_counters(int map_fd, uint64_t *counters, uint32_t count);

#endif
