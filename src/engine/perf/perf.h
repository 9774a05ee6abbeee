/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PERF_H
#define WICK_ENGINE_PERF_PERF_H

/* perf: the engine that samples with the kernel's perf events. */

struct engine_ops;

extern const struct engine_ops perf_engine_ops;

#endif
