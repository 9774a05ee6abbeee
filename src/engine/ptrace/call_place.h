/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_CALL_PLACE_H
#define WICK_ENGINE_PTRACE_CALL_PLACE_H

/*
 * call_place: the address of a system call instruction in a process, for injected calls (inject.h).
 * The preload library has one; every process has some in its vDSO.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

/* Finds one in the vDSO. */
int call_place_find(pid_t pid, uint64_t *ret, struct error *err);

/* Whether there still is one at an address: the process may have executed another program. */
bool call_place_is_there(pid_t tid, uint64_t address);

#endif
