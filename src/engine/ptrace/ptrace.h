/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_PTRACE_H
#define WICK_ENGINE_PTRACE_PTRACE_H

/*
 * ptrace: the engine that stops threads and walks their stacks from outside.
 *
 * It samples wall-clock time: every thread at every tick, whether it runs or sleeps. The weight of
 * a sample is the time since the previous sample of its thread; the thread's state is a label.
 * Needs no perf events.
 */

struct engine_ops;

extern const struct engine_ops ptrace_engine_ops;

#endif
