/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_REFUSAL_H
#define WICK_ENGINE_PTRACE_REFUSAL_H

/* refusal: why a thread cannot be traced, and what to do about it. */

#include <sys/types.h>

struct error;

/* Explains why ptrace refused with code. Returns code. */
int refusal_explain(int code, pid_t pid, pid_t tid, struct error *err);

/* Whether running processes can be traced here at all: 0, or why not. */
int refusal_probe(struct error *err);

#endif
