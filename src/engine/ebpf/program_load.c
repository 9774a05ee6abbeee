/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/program_load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"
#include "engine/ebpf/arch/open_programs.h"
#include "engine/ebpf/heap_probes.h"
#include "engine/ebpf/skeleton.h"
#include "engine/ebpf/walker.h"
#include "wire/bpf_walk.h"

/* How many address spaces the programs can know at once, for one target and for a machine. */
#define SPACES_FEW 1024u
#define SPACES_MANY 16384u
/* How many threads off their CPUs they can track; each takes 6.5 KiB. */
#define AWAY_FEW 2048u
#define AWAY_MANY 8192u
#define AWAY_MOST 65536u

/* How often they wake us for unknown address spaces, on each CPU. */
#define BELL_NS NS_PER_MS
#define BELL_MACHINE_NS (5 * NS_PER_MS)

#define LOG_BYTES 4096u

/* Descriptors that loading needs besides maps and programs: types, probes of features. */
#define SPARE_DESCRIPTORS 8u

__attribute__((format(printf, 2, 0))) static int print_to_log(enum libbpf_print_level level,
							      const char *format, va_list arguments)
{
	char *text = NULL;
	size_t size;

	/* The verifier's log is long, and its end is what matters. */
	if (!log_wants(level == LIBBPF_DEBUG ? LOG_LEVEL_TRACE : LOG_LEVEL_DEBUG) ||
	    vasprintf(&text, format, arguments) < 0)
		return 0;
	size = strlen(text);
	if (level == LIBBPF_DEBUG)
		log_trace("%s", text);
	else
		log_debug("%s", size > LOG_BYTES ? text + size - LOG_BYTES : text);
	free(text);
	return 0;
}

/* Before Linux 5.11 maps count as locked memory. */
static void lift_memory_limit(void)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	(void)setrlimit(RLIMIT_MEMLOCK, &limit); /* if it was needed, loading fails */
}

/* Of Python programs: what the programs remember. */
#define PYTHON_THREADS 8192u
#define PYTHON_CODES 16384u

/* Other engines can record neither off-CPU time alone nor wakers. */
static const char *other_way(const struct walker_config *config)
{
	if (config->wakers)
		return "leave out --waker";
	return config->away ? "use --mode wall --engine signal" : "use --engine perf";
}

static int explain_load(int code, const struct walker_config *config, struct error *err)
{
	(void)error_errno(err, code, "the kernel rejected the eBPF programs");
	error_remedy(err, "%s%s; WICK_LOG=debug shows the kernel's message",
		     code == -EPERM || code == -EACCES ? "run as root, or " : "",
		     other_way(config));
	/* If the verifier rejects a program, that is not the user's mistake. */
	if (code == -EINVAL)
		code = -EOPNOTSUPP;
	if (err)
		err->code = code;
	return code;
}

static int set_sizes(struct wick_bpf *programs, const struct walker_config *config,
		     uint32_t cpu_count)
{
	uint32_t many = config->machine ? SPACES_MANY : SPACES_FEW;
	uint32_t away = config->machine ? AWAY_MANY : AWAY_FEW;

	if (away < config->threads * 2)
		away = config->threads * 2 < AWAY_MOST ? config->threads * 2 : AWAY_MOST;
	const struct {
		struct bpf_map *map;
		uint32_t entries;
	} sizes[] = {
		{programs->maps.spaces, many},
		{programs->maps.sample_scratch, cpu_count},
		{programs->maps.output, cpu_count},
		{programs->maps.bell, (uint32_t)sysconf(_SC_PAGESIZE)},
		{programs->maps.switch_scratch, config->away ? cpu_count : 1},
		{programs->maps.away, config->away ? away : 1},
		{programs->maps.watched, config->away ? many : 1},
		{programs->maps.pythons, config->interpreters ? many : 1},
		{programs->maps.python_threads, config->interpreters ? PYTHON_THREADS : 1},
		{programs->maps.python_codes, config->interpreters ? PYTHON_CODES : 1},
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sizes) && r == 0; i++)
		r = bpf_map__set_max_entries(sizes[i].map, sizes[i].entries);
	return r;
}

static int set_watch(struct wick_bpf *programs, const struct walker_config *config,
		     struct error *err)
{
	struct stat status;

	programs->rodata->watch_by = config->watch_by;
	programs->rodata->watch_children = config->watch_children;
	programs->rodata->least_away_ns = config->least_away_ns;
	if (config->watch_by != BPF_WALK_BY_CGROUP)
		return 0;
	if (stat(config->watch_cgroup, &status) < 0)
		return error_file(err, -errno, "cannot open the control group %s",
				  config->watch_cgroup);
	programs->rodata->watch_cgroup = status.st_ino; /* it is the ID of the group */
	return 0;
}

/* The programs that run for all tasks. */
static void choose_programs(struct wick_bpf *programs, const struct walker_config *config)
{
	struct bpf_program *watching[] = {programs->progs.switched, programs->progs.woken,
					  programs->progs.born,     programs->progs.forked,
					  programs->progs.execed,   programs->progs.ended,
					  programs->progs.sleepers};

	/* Neither of these can fail before loading. */
	for (size_t i = 0; i < ARRAY_SIZE(watching); i++)
		(void)bpf_program__set_autoload(watching[i], config->away);
	(void)bpf_program__set_autoload(programs->progs.waking, config->away && config->wakers);
}

/*
 * Whether there are descriptors for all maps and programs. Otherwise the loader takes the failure
 * for a missing feature, and its message is misleading.
 */
static int check_descriptors(const struct wick_bpf *programs, struct error *err)
{
	struct rlimit limit = {0, 0};
	struct bpf_program *program;
	struct bpf_map *map;
	uint64_t wanted = SPARE_DESCRIPTORS;
	int next = open("/", O_PATH | O_CLOEXEC); /* the lowest free one */

	if (next >= 0)
		(void)close(next);
	bpf_object__for_each_map(map, programs->obj) wanted++;
	bpf_object__for_each_program(program, programs->obj) wanted++;
	(void)getrlimit(RLIMIT_NOFILE, &limit); /* cannot fail */
	return next >= 0 && (uint64_t)next + wanted <= limit.rlim_cur
		       ? 0
		       : error_errno(err, -EMFILE, "eBPF programs need %llu more open files",
				     (unsigned long long)wanted);
}

static int set_up(struct wick_bpf *programs, const struct walker_config *config, struct error *err)
{
	int cpu_count = libbpf_num_possible_cpus();
	int r = check_descriptors(programs, err);

	if (r < 0)
		return r;
	programs->rodata->depth = config->depth < BPF_WALK_DEPTH ? config->depth : BPF_WALK_DEPTH;
	programs->rodata->with_kernel = config->kernel;
	programs->rodata->with_counters = config->counters;
	programs->rodata->with_python = config->interpreters != NULL;
	programs->rodata->namespace_inode = config->namespace_inode;
	programs->rodata->bell_gap_ns = config->machine ? BELL_MACHINE_NS : BELL_NS;
	choose_programs(programs, config);
	r = config->away ? set_watch(programs, config, err) : 0;
	if (r < 0)
		return r;
	r = cpu_count < 0 ? cpu_count : set_sizes(programs, config, (uint32_t)cpu_count);
	if (r == 0)
		r = heap_probes_prepare(programs, config->heap, (uint32_t)cpu_count);
	return r < 0 ? explain_load(r, config, err) : 0;
}

static int load(const struct walker_config *config, bool with_variables, struct wick_bpf **ret,
		struct error *err)
{
	struct wick_bpf *programs = open_programs(with_variables);
	int r;

	if (!programs)
		return explain_load(-errno, config, err);
	r = set_up(programs, config, err);
	if (r == 0) {
		r = wick_bpf__load(programs);
		r = r < 0 ? explain_load(r, config, err) : 0;
	}
	if (r < 0)
		wick_bpf__destroy(programs);
	else
		*ret = programs;
	return r;
}

int program_load(const struct walker_config *config, struct wick_bpf **ret,
		 bool *ret_knows_interrupts, struct error *err)
{
	bool with_variables = open_programs_needs_variables && config->wakers;
	int r;

	(void)libbpf_set_print(print_to_log);
	lift_memory_limit();
	r = load(config, with_variables, ret, err);
	*ret_knows_interrupts = with_variables || !open_programs_needs_variables;
	if (r == 0 || !with_variables || r == -EPERM || r == -EMFILE || r == -ENOMEM)
		return r;
	*ret_knows_interrupts = false;
	r = load(config, false, ret, err);
	if (r == 0 && err)
		*err = (struct error){0}; /* from the first attempt */
	return r;
}
