/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * helper_bench PID SECONDS: how long the kernel's own walk by frame pointers takes
 * on the stacks of a process, 999 times a second. Prints JSON.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "helper_bench_skeleton.h"

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000 / 999,
		.exclude_idle = 1,
	};
	struct helper_bench *programs = helper_bench__open_and_load();
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	int event;

	if (argc < 3 || !programs || stats < 0) {
		fprintf(stderr, "usage: helper_bench PID SECONDS, as root\n");
		return 1;
	}
	event = (int)syscall(SYS_perf_event_open, &attr, (pid_t)strtol(argv[1], NULL, 10), -1, -1,
			     0);
	if (event < 0 ||
	    ioctl(event, PERF_EVENT_IOC_SET_BPF, bpf_program__fd(programs->progs.walk)) < 0) {
		perror("helper_bench");
		return 1;
	}
	sleep((unsigned int)strtoul(argv[2], NULL, 10));
	if (bpf_obj_get_info_by_fd(bpf_program__fd(programs->progs.walk), &info, &size) < 0 ||
	    info.run_cnt == 0) {
		fprintf(stderr, "helper_bench: no samples\n");
		return 1;
	}
	printf("{\"runs\": %" PRIu64 ", \"mean_ns\": %" PRIu64 ", \"frames\": %.1f}\n",
	       (uint64_t)info.run_cnt, (uint64_t)(info.run_time_ns / info.run_cnt),
	       (double)programs->bss->frames / (double)info.run_cnt);
	close(event);
	close(stats);
	helper_bench__destroy(programs);
	return 0;
}
