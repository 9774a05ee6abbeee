/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_BPF_SAMPLE_H
#define WICK_ENGINE_EBPF_BPF_SAMPLE_H

/*
 * bpf_sample: what a BPF program wrote about a stack, as the chain of a sample.
 */

#include <stdbool.h>
#include <stdint.h>

struct bpf_walk_head;
struct error;
struct bpf_programs;
struct sample_record;
struct tracked_process;

/*
 * Makes the chain of a sample from its raw part. A slice is walked here, and its
 * address space told to the programs. False when it makes no sense.
 */
bool bpf_sample_read(struct bpf_programs *programs, struct tracked_process *process,
		     struct sample_record *sample);

/* The same with a head that is not quite the one of the raw part. */
bool bpf_sample_read_head(struct bpf_programs *programs, struct tracked_process *process,
			  const struct bpf_walk_head *told, struct sample_record *sample);

/* Tells the tracker who the sample is about; one that has no ids any more gets its own back. */
void bpf_sample_name(struct bpf_programs *programs, struct sample_record *sample);

/* Whether it is a part of the sample before it. */
bool bpf_sample_is_more(const struct sample_record *sample);

/* Whether a sample is about a thread that was off its CPU, or is leaving it. */
bool bpf_sample_is_away(const struct sample_record *sample);
int bpf_sample_away(struct bpf_programs *programs, struct sample_record *sample, struct error *err);

/*
 * Keeps the stack of a slice of a thread that leaves, until its record comes. False when it
 * cannot be had.
 */
bool bpf_sample_keep_leaver(struct bpf_programs *programs, struct sample_record *sample);
void bpf_sample_forget_leaver(struct bpf_programs *programs, uint32_t tid);

/* Samples of the threads that are away still, as if they were back now. */
int bpf_sample_still_away(struct bpf_programs *programs, uint64_t now_ns, struct error *err);

#endif
