/* SPDX-License-Identifier: BSD-2-Clause */
#include <stddef.h>

#include "engine/ebpf/ebpf.h"
#include "engine/engine.h"
#include "engine/perf/perf.h"
#include "engine/ptrace/ptrace.h"
#include "engine/signal/signal.h"
#include "engine/uprobe/uprobe.h"

const struct engine_ops *const engine_table[] = {
	&ebpf_engine_ops,   &perf_engine_ops,   &signal_engine_ops,
	&ptrace_engine_ops, &uprobe_engine_ops, NULL,
};
