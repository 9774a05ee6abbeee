/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_UPROBE_UPROBE_H
#define WICK_ENGINE_UPROBE_UPROBE_H

/*
 * uprobe: the heap of a process that runs already, by probes at its allocator's functions.
 *
 * Programs in the kernel walk the stacks (engine/ebpf), records come through the rings of
 * perf events with all that tells who runs and what is mapped (engine/perf).
 */

struct engine_ops;

extern const struct engine_ops uprobe_engine_ops;

#endif
