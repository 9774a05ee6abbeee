/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_SLEEPERS_H
#define WICK_ENGINE_EBPF_SLEEPERS_H

/*
 * sleepers: threads that are already off their CPUs when watching begins. Their time counts from
 * then on, with the stack in which they sleep: it does not change, so it can be read from outside.
 */

#include <stdint.h>

struct bpf_programs;
struct error;

/*
 * Counts all watched threads that sleep, as if they had left their CPUs at now_ns. cgroup is the
 * folder of a watched control group; NULL for other targets. Call it after the programs have begun
 * to watch. Returns 0 or a negative errno.
 */
int sleepers_begin(struct bpf_programs *programs, const char *cgroup, uint64_t now_ns,
		   struct error *err);

#endif
