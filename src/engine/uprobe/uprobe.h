/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_UPROBE_UPROBE_H
#define WICK_ENGINE_UPROBE_UPROBE_H

/*
 * uprobe: records the heap of a running process, by probes on its allocator's functions.
 *
 * BPF programs walk the stacks (engine/ebpf); records come through the perf event rings, together
 * with the records of processes and mappings (engine/perf).
 */

struct engine_ops;

extern const struct engine_ops uprobe_engine_ops;

#endif
