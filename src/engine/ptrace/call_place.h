/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_CALL_PLACE_H
#define WICK_ENGINE_PTRACE_CALL_PLACE_H

/*
 * call_place: an instruction in a process that calls the kernel, for a thread that is led there
 * (inject.h). The preloaded library brings one; every process has some in what the kernel maps
 * into it, the vdso.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

/* Finds one in the vdso. */
int call_place_find(pid_t pid, uint64_t *ret, struct error *err);

/* Whether there is one at an address: another program may run by now. */
bool call_place_is_there(pid_t tid, uint64_t address);

#endif
