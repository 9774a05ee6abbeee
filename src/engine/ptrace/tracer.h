/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_TRACER_H
#define WICK_ENGINE_PTRACE_TRACER_H

/*
 * tracer: a thread that traces others, so that its end lets go of them.
 *
 * A thread that was asked to stop can be let go of only once it stands still, and one that gets no
 * CPU, or is kept by the kernel, may take any time until then. When the thread that traces it ends,
 * the kernel lets go of it at once, with the signals that it was about to get.
 */

struct error;
struct tracer;

/* The caller releases with tracer_end(). */
int tracer_begin(struct tracer **ret, struct error *err);

/* Calls job(self) in the thread, and returns when it has. */
void tracer_do(struct tracer *tracer, void (*job)(void *self), void *self);

/* Returns when all that the thread traced is let go of. NULL is allowed. */
void tracer_end(struct tracer *tracer);

#endif
