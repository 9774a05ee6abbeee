/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_CONFINEMENT_H
#define WICK_PROC_CONFINEMENT_H

/*
 * confinement: what this process may do and what restricts it: capabilities, system call filters,
 * limits, a container. Nothing is changed.
 */

#include <stdbool.h>
#include <stdint.h>

/* Bits of a capability mask, numbered as in linux/capability.h. */
#define CONFINEMENT_SYS_PTRACE 19
#define CONFINEMENT_SYS_ADMIN 21
#define CONFINEMENT_IPC_LOCK 14
#define CONFINEMENT_SYSLOG 34
#define CONFINEMENT_PERFMON 38
#define CONFINEMENT_BPF 39

/* System calls that engines need and sandboxes often refuse. */
enum confined_call {
	CONFINED_PERF_EVENT_OPEN,
	CONFINED_BPF,
	CONFINED_PTRACE,
	CONFINED_PROCESS_VM_READV,
	CONFINED_TIMER_CREATE,
	CONFINED_PIDFD_OPEN, /* wick works without it: it only matters if it kills */
	CONFINED_CALLS
};

struct confinement {
	bool is_root;          /* which may still be restricted */
	uint64_t capabilities; /* in effect */
	uint64_t seccomp;      /* 0: no filter, 1: strict, 2: filters */
	bool no_new_privileges;
	/* Whether a filter refuses the call; never without one. */
	bool refused[CONFINED_CALLS];
	char container[16];    /* "docker", "podman" …; "": none was detected */
	char lockdown[24];     /* "none", "integrity", "confidentiality"; "": not supported */
	uint64_t locked_bytes; /* RLIMIT_MEMLOCK; UINT64_MAX: no limit */
	uint64_t open_files;   /* RLIMIT_NOFILE, the hard limit */
	bool shared_memory;    /* /dev/shm exists and is writable */
	uint64_t shared_bytes; /* free bytes there */
	bool lacks_proc;       /* /proc is not mounted: what is read from it is unknown */
	bool lacks_sys;        /* nor is /sys */
};

extern const char *const confined_call_names[CONFINED_CALLS];

/* root is "" except in tests: files are read below it. Calls are tried in a child process. */
void confinement_read(struct confinement *ret, const char *root);

static inline bool confinement_may(const struct confinement *confinement, unsigned int capability)
{
	return confinement->capabilities >> capability & 1;
}

#endif
