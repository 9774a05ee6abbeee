/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_BPF_SAMPLE_H
#define WICK_ENGINE_PERF_BPF_SAMPLE_H

/*
 * bpf_sample: what a BPF program wrote about a stack, as the chain of a sample.
 */

#include <stdbool.h>

struct perf_engine;
struct sample_record;
struct tracked_process;

/*
 * Makes the chain of a sample from its raw part. A slice is walked here, and its
 * address space told to the programs. False when it makes no sense.
 */
bool bpf_sample_read(struct perf_engine *engine, struct tracked_process *process,
		     struct sample_record *sample);

#endif
