/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PROBE_H
#define WICK_ENGINE_PERF_PROBE_H

/*
 * perf_probe: what this kernel lets the caller do with perf events. It opens
 * and closes a few events and reads settings; nothing is changed and nothing
 * is sampled.
 */

#include <stdbool.h>
#include <stdint.h>

#define PERF_PROBE_UNKNOWN INT64_MIN /* a setting that does not exist or cannot be read */

struct error;

struct perf_probe {
	/* 0 when such an event opens, else a negative errno. */
	int user;     /* cpu-clock of this process, user space only */
	int kernel;   /* the same with the kernel */
	int machine;  /* cpu-clock of all processes on one CPU */
	int hardware; /* CPU cycles of this process, user space only */

	int64_t paranoid; /* sysctl kernel.perf_event_paranoid and so on */
	int64_t max_sample_rate_hz;
	int64_t mlock_kb;
	int64_t max_stack;
	int64_t kptr_restrict;
	int64_t unprivileged_bpf_disabled;
	int64_t ptrace_scope; /* unknown without Yama: no restriction */

	bool kernel_symbols; /* /proc/kallsyms shows addresses */
	bool btf;            /* /sys/kernel/btf/vmlinux is readable */
	char release[65];    /* of the kernel */
	char cpu[65];        /* "x86_64", "aarch64" */
};

void perf_probe(struct perf_probe *ret);

/* The same where perf_event_open() must not be called: it is told what comes of that. */
void perf_probe_settings(struct perf_probe *ret, int code);

/* 0 when an event of this process opens, which all that sample by perf events need. */
int perf_probe_own(struct error *err);

#endif
