/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BPF_KERNEL_H
#define WICK_BPF_KERNEL_H

/*
 * kernel: the few kernel types that the BPF programs need.
 *
 * Written by hand, so that the build needs neither kernel headers nor the target machine's kernel;
 * members are found in the running kernel by name (CO-RE).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define KERNEL_TYPE __attribute__((preserve_access_index))

/*
 * A function that the verifier checks once, for any arguments, and not from each call site: loading
 * takes half the time. Its pointers may be NULL. Weak: several units have it, and the linker keeps
 * one.
 */
#define GLOBAL __attribute__((noinline, weak))

/*
 * Maps and settings that several units share are defined by one of them, shared.bpf.c, which sets
 * DEFINES_SHARED; all others refer to them, and bpftool's linker joins them.
 */
#if defined(DEFINES_SHARED)
#define SHARED
#define SET_TO(value) = value
#else
#define SHARED extern
#define SET_TO(value)
#endif

struct file;

struct mm_struct {
	unsigned long start_stack;
	struct file *exe_file;
	unsigned long exec_vm; /* pages of code */
} KERNEL_TYPE;

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
} KERNEL_TYPE;

struct ns_common {
	unsigned int inum;
} KERNEL_TYPE;

struct pid_namespace {
	struct ns_common ns;
} KERNEL_TYPE;

struct upid {
	int nr;
	struct pid_namespace *ns;
} KERNEL_TYPE;

struct pid {
	unsigned int level;
	struct upid numbers[1]; /* level + 1 */
} KERNEL_TYPE;

struct thread_info {
	unsigned long preempt_count; /* only on some CPUs; see arch/ */
} KERNEL_TYPE;

struct thread_struct { /* the thread pointer; see arch/ */
	unsigned long fsbase;
	struct {
		unsigned long tp_value;
	} uw;
} KERNEL_TYPE;

struct task_struct {
	struct thread_info thread_info;
	struct mm_struct *mm;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	struct signal_struct *signal;
	struct pid *thread_pid;
	int pid;
	int tgid;
	unsigned int __state;
	char comm[16];
	unsigned long long start_time; /* CLOCK_MONOTONIC */
	struct thread_struct thread;
} KERNEL_TYPE;

#endif
