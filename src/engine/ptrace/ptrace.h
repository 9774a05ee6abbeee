/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_PTRACE_H
#define WICK_ENGINE_PTRACE_PTRACE_H

/*
 * ptrace: the engine that stops threads and walks their stacks from outside.
 *
 * It samples wall-clock time: every thread at every tick, whether it runs or
 * sleeps. A sample weighs the time since the one before of its thread and carries
 * the thread's state as a label. Needs no perf events.
 */

struct engine_ops;

extern const struct engine_ops ptrace_engine_ops;

#endif
