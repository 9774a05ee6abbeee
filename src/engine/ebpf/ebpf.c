/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/ebpf.h"

#include "engine/ebpf/walker.h"
#include "engine/engine.h"
#include "engine/perf/state.h"

static int ebpf_engine_open(const struct engine_config *config, const struct target *target,
			    struct sink *sink, void **ret_self, struct error *err)
{
	struct walker_config wish = {
		.depth = config->depth,
		.kernel = config->kernel,
		.machine = target->kind == TARGET_MACHINE,
	};
	struct perf_engine *engine;
	struct walker *walker;
	int r = walker_open(&wish, &walker, err);

	if (r < 0)
		return r;
	r = perf_open(config, target, sink, walker, &engine, err);
	if (r < 0) {
		walker_close(walker);
		return r;
	}
	*ret_self = engine;
	return 0;
}

const struct engine_ops ebpf_engine_ops = {
	.name = "ebpf",
	.summary = "programs in the kernel that walk stacks by unwind tables",
	.probe = walker_probe,
	.open = ebpf_engine_open,
	.start = perf_engine_start,
	.fd = perf_engine_fd,
	.drain = perf_engine_drain,
	.stop = perf_engine_stop,
	.stats = perf_engine_stats,
	.notice = perf_engine_notice,
	.close = perf_engine_close,
};
