/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_CPUS_H
#define WICK_ENGINE_PERF_CPUS_H

/* cpus: the CPUs that can be sampled. */

#include <stddef.h>

struct cpu_list { /* grown with base/vec.h */
	int *items;
	size_t count;
	size_t capacity;
};

/* Parses a kernel CPU list such as "0-3,8,10-11\n". Returns 0, -EINVAL or -ENOMEM. */
int cpu_list_parse(struct cpu_list *list, const char *text);

/* The CPUs that are online; the caller releases the list with vec_fini(). */
int cpu_list_online(struct cpu_list *list);

#endif
