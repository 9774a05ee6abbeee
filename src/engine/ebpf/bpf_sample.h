/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_BPF_SAMPLE_H
#define WICK_ENGINE_EBPF_BPF_SAMPLE_H

/*
 * bpf_sample: decodes the records of BPF programs: stacks become chains of samples, times off a
 * CPU become samples.
 */

#include <stdbool.h>
#include <stdint.h>

struct bpf_programs;
struct bpf_walk_head;
struct error;
struct sample_record;
struct tracked_process;

/*
 * Makes the chain of a sample from its raw part. A slice is walked here, and the programs will
 * learn its address space. False when the record is invalid.
 */
bool bpf_sample_read(struct bpf_programs *programs, struct tracked_process *process,
		     struct sample_record *sample);

/* The same, with a changed copy of the head that begins the raw part. */
bool bpf_sample_read_head(struct bpf_programs *programs, struct tracked_process *process,
			  const struct bpf_walk_head *changed, struct sample_record *sample);

/*
 * Gives the name of the sample's thread to the tracker. Restores the ids of a thread that is about
 * to end and no longer has any.
 */
void bpf_sample_name(struct bpf_programs *programs, struct sample_record *sample);

/* Puts the samples of a record about a thread that was off its CPU, or is leaving it. */
int bpf_sample_away(struct bpf_programs *programs, struct sample_record *sample, struct error *err);

/*
 * Keeps the stack of a thread that leaves its CPU, which came as a slice, until the record of
 * that time comes. False on failure.
 */
bool bpf_sample_keep_leaver(struct bpf_programs *programs, struct sample_record *sample);
void bpf_sample_forget_leaver(struct bpf_programs *programs, uint32_t tid);

/* Puts samples for the threads that are still off their CPUs, as if they were back at now_ns. */
int bpf_sample_still_away(struct bpf_programs *programs, uint64_t now_ns, struct error *err);

#endif
