/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_SLEEPERS_H
#define WICK_ENGINE_EBPF_SLEEPERS_H

/*
 * sleepers: threads that are off their CPUs when the watching begins. Their time counts
 * from then on, under the stack that they have slept in all the time: it stands still, so
 * it can be read from outside.
 */

#include <stdint.h>

struct error;
struct bpf_programs;

/*
 * Begins with those that are watched, of a control group with those of this folder (NULL
 * for all others), as if they had left their CPUs at now_ns. To be called when the programs
 * watch already. 0 or a negative errno.
 */
int sleepers_begin(struct bpf_programs *programs, const char *cgroup, uint64_t now_ns,
		   struct error *err);

#endif
