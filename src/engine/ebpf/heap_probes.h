/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_HEAP_PROBES_H
#define WICK_ENGINE_EBPF_HEAP_PROBES_H

/*
 * heap_probes: attaches the walker's programs to the functions of an allocator.
 *
 * Since Linux 6.13 one link covers all functions of a process; older kernels need a probe at the
 * entry and one at the return of each. The kernel removes them when our descriptors are closed.
 */

#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "wire/bpf_heap.h"

/* Part of the kernel's ABI that the headers of the build machine may lack. */
#define HEAP_SESSION_ATTACH_TYPE 57

struct bpf_link;
struct bpf_walk_key;
struct error;
struct walker;
struct wick_bpf;

/* A place in a file. */
struct heap_probe {
	uint64_t offset;
	uint64_t cookie; /* BPF_HEAP_COOKIE() */
};

/* All places in one file. */
struct heap_places {
	const char *path;
	const struct heap_probe *probes;
	uint32_t count;
};

/* Constants of the programs, set before they are loaded. */
struct heap_probes_config {
	uint64_t sample_bytes; /* 0: all blocks are recorded */
	uint32_t range_count;
	struct bpf_heap_range ranges[BPF_HEAP_FUNCTIONS];
};

/* The probes of a process. */
struct heap_links {
	int session_fd; /* -1: none */
	VEC(struct bpf_link *) single;
};

struct heap_probes_stats {
	uint64_t counters[BPF_HEAP_COUNTERS];
	uint64_t run_ns; /* of the programs; 0: unknown */
};

/* Called by the walker before it loads the programs; config NULL: without heap programs. */
int heap_probes_prepare(struct wick_bpf *programs, const struct heap_probes_config *config,
			uint32_t cpu_count);

/*
 * One link with a program of that kind at all places in a process; it is called at returns as well
 * if it returned 0 at the entry. Returns a descriptor, or a negative errno: before Linux 6.13 there
 * are none.
 */
int heap_session_open(int program_fd, const struct heap_places *places, pid_t pid);

/* Attaches probes to a file's functions in one process. On failure nothing stays attached. */
int heap_links_attach(struct walker *walker, const struct heap_places *places, pid_t pid,
		      struct heap_links *ret, struct error *err);
void heap_links_detach(struct heap_links *links);

/* The key of a process's address space. Returns 0 or a negative errno; it may have ended. */
int heap_probes_space(struct walker *walker, pid_t pid, struct bpf_walk_key *ret);

/* The address in the process to which probed calls return. */
void heap_probes_set_trampoline(struct walker *walker, uint64_t address);
void heap_probes_set_phase(struct walker *walker, enum bpf_heap_phase phase);
void heap_probes_stats(struct walker *walker, struct heap_probes_stats *ret);

#endif
