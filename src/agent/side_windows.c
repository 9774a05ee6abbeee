/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/side_windows.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/capture.h"
#include "agent/process_facts.h"
#include "agent/service_pids.h"
#include "agent/service_rules.h"
#include "agent/window.h"
#include "agent/window_series.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "import/import.h"
#include "import/source.h"
#include "model/dictionary.h"
#include "model/dictionary_sink.h"
#include "model/profile.h"
#include "net/content_coding.h"

#define SEARCH_MS 5000u /* between two looks for a service that does not run */
#define RETRY_MS 30000u /* after a failure */
#define STEP_MS 100u
#define ID_MAX 200
#define MAX_BYTES (64u << 20) /* of a profile */

/* A thread: the waits of all services, or the heap of one. */
struct side {
	struct side_windows *all;
	enum capture_kind kind;
	const char *const *services;
	size_t count;
	size_t turn;      /* which process of a service is next */
	uint64_t windows; /* so far */
	bool failed;      /* that was said */
	pthread_t thread;
};

struct side_windows {
	struct side_config config;
	struct side sides[SIDE_HEAPS_MAX + 1];
	size_t count; /* threads that run */
	uint64_t run; /* identifies this run of the agent */
	atomic_bool stop;
	atomic_bool paused;
	pthread_mutex_t lock;
	struct services_config services; /* with the lock */
};

/* The processes of one window, whose labels are found before it begins: they may end in it. */
struct subjects {
	struct dictionary dictionary;
	struct services *services;
	pid_t pids[CAPTURE_PIDS_MAX];
	size_t count;
};

static void subjects_fini(struct subjects *subjects)
{
	dictionary_fini(&subjects->dictionary);
	services_free(subjects->services);
}

/* The program of a process with its build id, which may be its release. */
static int add_program(struct subjects *subjects, pid_t pid, char path[PATH_MAX])
{
	struct module module = {.kind = MODULE_FILE, .path = path};
	struct elf_file *elf = NULL;
	char link[64];
	ssize_t n;
	uint32_t id;
	int r;

	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid); /* it fits */
	n = readlink(link, path, PATH_MAX - 1);
	path[n > 0 ? n : 0] = '\0';
	if (n <= 0 || elf_open(link, &elf, NULL) < 0)
		return 0;
	if (elf_build_id(elf))
		module.build_id = *elf_build_id(elf);
	r = dictionary_sink_module(&subjects->dictionary, &module, &id);
	elf_close(elf);
	return r;
}

static int add_subject(struct subjects *subjects, pid_t pid)
{
	struct process_facts facts = {0};
	char path[PATH_MAX];
	struct process process = {.pid = (uint32_t)pid, .comm = facts.comm, .executable = path};
	uint32_t id;
	int r;

	if (service_pids_comm(pid, &facts) < 0)
		return 0;
	r = add_program(subjects, pid, path);
	if (r == 0)
		r = dictionary_sink_process(&subjects->dictionary, &process, &id);
	if (r < 0)
		return r;
	(void)services_meet(subjects->services, &subjects->dictionary, id); /* all are kept */
	subjects->pids[subjects->count++] = pid;
	return 0;
}

/* Adds the processes of a service: all, or the one whose turn it is. */
static int add_service(struct side *side, const struct service_rules *rules, const char *service,
		       struct subjects *subjects)
{
	pid_t pids[CAPTURE_PIDS_MAX];
	size_t found = service_pids_find(rules, service, pids, CAPTURE_PIDS_MAX);
	size_t count = found < CAPTURE_PIDS_MAX ? found : CAPTURE_PIDS_MAX;
	int r = 0;

	if (count > 0 && side->kind == CAPTURE_HEAP)
		return add_subject(subjects, pids[side->turn++ % count]);
	for (size_t i = 0; i < count && subjects->count < CAPTURE_PIDS_MAX && r == 0; i++)
		r = add_subject(subjects, pids[i]);
	return r;
}

static int find_subjects(struct side *side, struct subjects *subjects, struct error *err)
{
	struct service_rules *rules = NULL;
	int r;

	*subjects = (struct subjects){0};
	(void)pthread_mutex_lock(&side->all->lock);
	r = service_rules_new(side->all->services.rules, side->all->services.rule_count, &rules,
			      err);
	if (r == 0)
		r = services_new(&side->all->services, &subjects->services, err);
	if (r == 0 && dictionary_init(&subjects->dictionary) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < side->count && r == 0; i++)
		if (add_service(side, rules, side->services[i], subjects) < 0)
			r = error_set(err, -ENOMEM, "out of memory");
	(void)pthread_mutex_unlock(&side->all->lock);
	service_rules_free(rules);
	return r;
}

/* A child of a process that was found has its labels: it was forked meanwhile. */
static size_t labels_of(void *self, pid_t pid, struct label *ret)
{
	const struct subjects *subjects = self;

	for (uint32_t i = 0; i < subjects->dictionary.processes.count; i++)
		if (subjects->dictionary.processes.items[i].pid == (uint32_t)pid)
			return services_labels(subjects->services, i, ret);
	return subjects->count > 0 ? services_labels(subjects->services, 0, ret) : 0;
}

static bool is_wait(const char *type)
{
	return strcmp(type, "off-cpu") == 0;
}

static bool is_heap(const char *type)
{
	return strncmp(type, "alloc_", 6) == 0 || strncmp(type, "inuse_", 6) == 0;
}

static int load_pprof(const struct bytes *pprof, struct profile **ret, struct error *err)
{
	SCOPED(fd) int fd = memfd_create("wick-side", MFD_CLOEXEC);
	struct import_source source;
	struct bytes plain = {0};
	int r;

	if (fd < 0)
		return error_errno(err, -errno, "cannot keep a recording in memory");
	r = content_decode("gzip", pprof->data, pprof->size, MAX_BYTES, &plain, err);
	import_source_of_memory(&source, plain.data, plain.size);
	if (r == 0)
		r = import_run_as("pprof", &source, fd, err);
	import_source_fini(&source);
	bytes_fini(&plain);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = error_errno(err, -errno, "cannot read a recording in memory");
	return r < 0 ? r : window_load_fd(scope_take_fd(&fd), ret, err);
}

/* Hands over what was written to fd. */
static int deliver(const struct side *side, const char *id, int fd, struct error *err)
{
	const struct side_config *config = &side->all->config;
	struct stat status;
	void *data;
	int r;

	if (fstat(fd, &status) < 0)
		return error_errno(err, -errno, "cannot read a window in memory");
	data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return error_errno(err, -errno, "cannot read a window in memory");
	r = config->deliver(config->self, id, data, (size_t)status.st_size, err);
	(void)munmap(data, (size_t)status.st_size); /* cannot fail */
	return r;
}

static int write_window(struct side *side, struct subjects *subjects, const struct profile *profile,
			uint64_t start_ns, struct error *err)
{
	const struct side_config *config = &side->all->config;
	char id[ID_MAX];
	struct window window = {
		.id = id,
		.host = config->host,
		.start_ns = start_ns,
		.end_ns = clock_monotonic_ns(),
		.bucket_ns = config->window_ns,
		.engine = side->kind == CAPTURE_HEAP ? "uprobe" : "ebpf",
		.to_real_ns = clock_realtime_ns() - clock_monotonic_ns(),
	};
	struct window_profile from = {.profile = profile,
				      .wants = side->kind == CAPTURE_HEAP ? is_heap : is_wait,
				      .labels = labels_of,
				      .self = subjects};
	SCOPED(fd) int fd = memfd_create("wick-side", MFD_CLOEXEC);
	int copy = fd >= 0 ? dup(fd) : -1;
	int r;

	if (copy < 0)
		return error_errno(err, -errno, "cannot keep a window in memory");
	(void)snprintf(id, sizeof(id), "%.100s-%" PRIx64 "-%s%zu-%" PRIu64, config->host,
		       side->all->run, side->kind == CAPTURE_HEAP ? "heap" : "wait",
		       (size_t)(side - side->all->sides), ++side->windows); /* it fits */
	r = window_write_profile(&window, &from, copy, NULL, err);
	return r < 0 ? r : deliver(side, id, fd, err);
}

static int record(struct side *side, struct subjects *subjects, struct error *err)
{
	const struct side_config *config = &side->all->config;
	struct capture capture = {.kind = side->kind,
				  .pids = subjects->pids,
				  .pid_count = subjects->count,
				  .seconds = (uint32_t)(config->window_ns / NS_PER_SEC),
				  .overhead = config->overhead,
				  .breaker = config->breaker,
				  .sample_bytes = config->heap_sample_bytes};
	SCOPED(profile) struct profile *profile = NULL;
	uint64_t start_ns = clock_monotonic_ns();
	struct bytes pprof = {0};
	int r = capture_run(&capture, &side->all->stop, &pprof, err);

	if (r == 0)
		r = load_pprof(&pprof, &profile, err);
	bytes_fini(&pprof);
	return r < 0 ? r : write_window(side, subjects, profile, start_ns, err);
}

/* Says once that it fails. */
static void note(struct side *side, int r, const struct error *err)
{
	const struct side_config *config = &side->all->config;
	char text[sizeof(err->text) + sizeof(err->remedy) + 100];

	if (r < 0 && r != -ECANCELED && r != -ESRCH && !side->failed) {
		(void)snprintf(text, sizeof(text), "%s cannot be recorded: %s\n      %s",
			       side->kind == CAPTURE_HEAP ? "a heap" : "waits", err->text,
			       err->remedy);
		config->notice(config->self, text);
	}
	side->failed = r < 0;
}

/* Records one window, if there is something to record. Returns how long to wait then. */
static uint64_t turn(struct side *side)
{
	struct subjects subjects;
	struct error err = {0};
	bool is_there;
	int r = find_subjects(side, &subjects, &err);

	is_there = r == 0 && subjects.count > 0;
	if (is_there)
		r = record(side, &subjects, &err);
	subjects_fini(&subjects);
	note(side, r, &err);
	if (!is_there)
		return SEARCH_MS;
	return r < 0 && r != -ESRCH ? RETRY_MS : 0;
}

static void *run(void *self)
{
	struct side *side = self;

	while (!atomic_load(&side->all->stop)) {
		uint64_t wait_ms = atomic_load(&side->all->paused) ? SEARCH_MS : turn(side);

		for (uint64_t at = 0; at < wait_ms && !atomic_load(&side->all->stop); at += STEP_MS)
			(void)nanosleep(&(struct timespec){.tv_nsec = STEP_MS * NS_PER_MS}, NULL);
	}
	return NULL;
}

/* Signals are for the thread that samples. */
static int start_side(struct side_windows *all, struct side side, struct error *err)
{
	struct side *place = &all->sides[all->count];
	sigset_t every;
	sigset_t before;
	int r;

	*place = side;
	place->all = all;
	(void)sigfillset(&every);
	(void)pthread_sigmask(SIG_SETMASK, &every, &before); /* cannot fail */
	r = -pthread_create(&place->thread, NULL, run, place);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL); /* cannot fail */
	if (r < 0)
		return error_errno(err, r, "cannot start a thread for %s", side.services[0]);
	all->count++;
	return 0;
}

static int start_all(struct side_windows *all, struct error *err)
{
	const struct side_config *config = &all->config;
	int r = 0;

	if (config->heap_count > SIDE_HEAPS_MAX) {
		(void)error_set(err, -E2BIG, "--heap is given more than %u times", SIDE_HEAPS_MAX);
		error_remedy(err, "name the services that matter most");
		return -E2BIG;
	}
	if (config->offcpu_count > 0)
		r = start_side(all,
			       (struct side){.kind = CAPTURE_OFFCPU,
					     .services = config->offcpu,
					     .count = config->offcpu_count},
			       err);
	for (size_t i = 0; i < config->heap_count && r == 0; i++)
		r = start_side(all,
			       (struct side){.kind = CAPTURE_HEAP,
					     .services = &config->heap[i],
					     .count = 1},
			       err);
	return r;
}

int side_windows_start(const struct side_config *config, struct side_windows **ret,
		       struct error *err)
{
	struct side_windows *side = calloc(1, sizeof(*side));
	int r;

	if (!side)
		return error_set(err, -ENOMEM, "out of memory");
	side->config = *config;
	side->services = config->services;
	side->run = clock_realtime_ns() ^ (uint64_t)getpid();
	(void)pthread_mutex_init(&side->lock, NULL); /* never fails on Linux */
	r = start_all(side, err);
	if (r < 0)
		side_windows_stop(side);
	else
		*ret = side;
	return r;
}

void side_windows_stop(struct side_windows *side)
{
	if (!side)
		return;
	atomic_store(&side->stop, true);
	for (size_t i = 0; i < side->count; i++)
		(void)pthread_join(side->sides[i].thread, NULL); /* it exists */
	(void)pthread_mutex_destroy(&side->lock);
	free(side);
}

void side_windows_pause(struct side_windows *side, bool paused)
{
	atomic_store(&side->paused, paused);
}

void side_windows_reload(struct side_windows *side, const struct services_config *services)
{
	(void)pthread_mutex_lock(&side->lock);
	side->services = *services;
	(void)pthread_mutex_unlock(&side->lock);
}
