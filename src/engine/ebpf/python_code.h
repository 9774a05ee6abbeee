/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_PYTHON_CODE_H
#define WICK_ENGINE_EBPF_PYTHON_CODE_H

/*
 * python_code: code objects that the programs have copied, for the names of Python calls, and calls
 * that they could not read.
 */

#include <stdint.h>

struct bpf_programs;
struct sample_record;
struct tracked_process;
struct user_stack;

/* Takes a record of kind BPF_WALK_CODE. An invalid one is ignored: its calls have no names. */
void python_code_take(struct bpf_programs *programs, const struct sample_record *sample);

/*
 * Reads the Python calls of a thread that has left its CPU with this stack, from outside, if it is
 * still there: most of the time off a CPU is that of few threads, which sleep long. Returns the
 * number of words.
 */
uint32_t python_sleeper_calls(struct bpf_programs *programs, const struct tracked_process *process,
			      const struct sample_record *sample, const struct user_stack *stack,
			      uint64_t *words, uint32_t room);

#endif
