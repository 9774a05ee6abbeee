/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/table_builder.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file/cache_dir.h"
#include "elf/elf.h"
#include "model/entity.h"
#include "symbol/debug_file.h"
#include "symbol/disk_table.h"
#include "symbol/module_symbols.h"

/* Smaller files take less time than starting a process. */
#define LARGE_FILE_BYTES (1u << 20)
#define LOOK_NS (2 * NS_PER_MS)
#define END_NS (10 * NS_PER_SEC)
#define FIRST_FD 3 /* after those of input and output */
/* A tenth of the CPU time that others get. */
#define HURRIED_NICE 10

static bool is_needed(const struct module *module, const struct symbol_search *search)
{
	struct file_identity file;
	struct stat status;

	if (module->kind != MODULE_FILE || !search->tables || search->tables->fd < 0 ||
	    search->no_files || stat(module->path, &status) < 0 ||
	    status.st_size < LARGE_FILE_BYTES)
		return false;
	file = file_identity_of(&status);
	return !disk_table_exists(search->tables, &file);
}

static void set_policy(pid_t pid, int policy, int nice)
{
	const struct sched_param none = {0};

	/* If one is not allowed, it is slower or faster. */
	(void)sched_setscheduler(pid, policy, &none);
	(void)setpriority(PRIO_PROCESS, (id_t)pid, nice);
}

/* One that never ends would keep all others from being built. */
static void limit_time(pid_t pid)
{
	const struct rlimit limit = {TABLE_BUILDER_CPU_S, TABLE_BUILDER_CPU_S};

	(void)prlimit(pid, RLIMIT_CPU, &limit, NULL); /* else it may take longer */
}

/* Descriptors of the caller, such as sampling events, must not live on in the child. */
static void close_others(int kept_fd)
{
	if (kept_fd > FIRST_FD)
		(void)close_range(FIRST_FD, (unsigned int)kept_fd - 1, 0);
	(void)close_range((unsigned int)kept_fd + 1, ~0u, 0); /* else they stay a little longer */
}

static void run_child(const struct module *module, uint32_t module_id,
		      const struct symbol_search *search, pid_t parent)
{
	struct module_symbols symbols;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* cannot fail */
	if (getppid() != parent)
		_exit(1);
	close_others(search->tables->fd);
	module_symbols_init(&symbols, module, module_id, search);
	_exit(0); /* what was built is on disk */
}

static bool start(struct table_builder *builder, const struct module *module, uint32_t module_id,
		  const struct symbol_search *search)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid == 0)
		run_child(module, module_id, search, parent);
	if (pid < 0)
		return false;
	set_policy(pid, builder->hurried ? SCHED_OTHER : SCHED_IDLE, HURRIED_NICE);
	limit_time(pid);
	builder->pid = pid;
	builder->module = module_id;
	return true;
}

static uint64_t used_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NS_PER_SEC + (uint64_t)time->tv_usec * NS_PER_US;
}

/* Whether the process has ended. While somebody waits for that, it gets its CPU. */
static bool has_ended(struct table_builder *builder, uint64_t deadline_ns)
{
	const struct timespec moment = {.tv_nsec = LOOK_NS};
	struct rusage usage;
	int status = 0;
	pid_t r;

	if (deadline_ns > 0)
		set_policy(builder->pid, SCHED_OTHER, 0);
	while ((r = wait4(builder->pid, &status, WNOHANG, &usage)) == 0 &&
	       clock_monotonic_ns() < deadline_ns)
		(void)nanosleep(&moment, NULL); /* a signal makes it shorter */
	if (r == 0)
		return false;
	builder->pid = 0;
	if (r > 0)
		builder->cpu_ns += used_ns(&usage.ru_utime) + used_ns(&usage.ru_stime);
	if (r > 0 && status != 0)
		(void)vec_push(&builder->failed, builder->module); /* else it is tried again */
	return true;
}

static bool has_failed(const struct table_builder *builder, uint32_t module_id)
{
	for (size_t i = 0; i < builder->failed.count; i++)
		if (builder->failed.items[i] == module_id)
			return true;
	return false;
}

/* Of a module whose process has ended. */
static enum table_state state_of(const struct table_builder *builder, uint32_t module_id)
{
	return has_failed(builder, module_id) ? TABLE_FAILED : TABLE_READY;
}

enum table_state table_builder_look(struct table_builder *builder, const struct module *module,
				    uint32_t module_id, const struct symbol_search *search,
				    uint64_t deadline_ns)
{
	if (builder->pid > 0) {
		if (!has_ended(builder, deadline_ns))
			return TABLE_PENDING;
		if (builder->module == module_id)
			return state_of(builder, module_id);
	}
	if (has_failed(builder, module_id))
		return TABLE_FAILED;
	if (!is_needed(module, search) || !start(builder, module, module_id, search))
		return TABLE_READY; /* the caller does it */
	return deadline_ns > 0 && has_ended(builder, deadline_ns) ? state_of(builder, module_id)
								  : TABLE_PENDING;
}

void table_builder_hurry(struct table_builder *builder, bool hurried)
{
	if (builder->pid > 0 && hurried && !builder->hurried)
		set_policy(builder->pid, SCHED_OTHER, HURRIED_NICE);
	builder->hurried = hurried;
}

void table_builder_fini(struct table_builder *builder)
{
	if (builder->pid > 0) {
		(void)kill(builder->pid, SIGKILL); /* it is ours until it was waited for */
		/* Who waits for a disk that is gone cannot be killed, and is not waited for. */
		(void)has_ended(builder, clock_monotonic_ns() + END_NS);
	}
	vec_fini(&builder->failed);
}
