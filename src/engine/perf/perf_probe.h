/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PROBE_H
#define WICK_ENGINE_PERF_PROBE_H

/*
 * perf_probe: what this kernel allows the caller to do with perf events. It opens and closes a
 * few events and reads settings; it changes nothing and samples nothing.
 */

#include <stdbool.h>
#include <stdint.h>

#define PERF_PROBE_UNKNOWN INT64_MIN /* the setting does not exist or cannot be read */

struct error;

struct perf_probe {
	/* 0 if such an event can be opened, else a negative errno. */
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
	int64_t ptrace_scope; /* unknown: there is no Yama, and no restriction */

	bool kernel_symbols; /* /proc/kallsyms shows addresses */
	bool btf;            /* /sys/kernel/btf/vmlinux is readable */
	char release[65];    /* of the kernel */
	char cpu[65];        /* "x86_64", "aarch64" */
};

void perf_probe(struct perf_probe *ret);

/* The same without calling perf_event_open(): code is the result of opening any event. */
void perf_probe_settings(struct perf_probe *ret, int code);

/* 0 if an event of this process can be opened, which all engines with perf events need. */
int perf_probe_own(struct error *err);

#endif
