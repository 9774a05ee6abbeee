/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_TRACER_H
#define WICK_ENGINE_PTRACE_TRACER_H

/*
 * tracer: a thread that traces others, so that its exit detaches them.
 *
 * A thread that was asked to stop can be detached only after it has stopped, and a thread that gets
 * no CPU, or is blocked in the kernel, may take any time until then. When its tracer thread exits,
 * the kernel detaches it at once and delivers its pending signals.
 */

struct error;
struct tracer;

/* The caller releases with tracer_end(). */
int tracer_begin(struct tracer **ret, struct error *err);

/* Calls job(self) in the thread, and returns when it is done. */
void tracer_do(struct tracer *tracer, void (*job)(void *self), void *self);

/* Returns when everything the thread traced is detached. NULL is fine. */
void tracer_end(struct tracer *tracer);

#endif
