/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_TASK_ITERATOR_H
#define WICK_BPF_TASK_ITERATOR_H

/* task_iterator: the context of a program that iterates over the kernel's tasks. */

#include "bpf/kernel.h"

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
} KERNEL_TYPE;

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
} KERNEL_TYPE;

#endif
