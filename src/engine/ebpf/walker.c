/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/walker.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/error.h"
#include "base/id_index.h"
#include "base/log.h"
#include "base/scope.h"
#include "base/vec.h"
#include "engine/ebpf/program_load.h"
#include "engine/ebpf/skeleton.h"
#include "engine/ebpf/table_store.h"
#include "engine/ebpf/walker_programs.h"
#include "language/language.h"
#include "proc/address_space.h"
#include "proc/maps.h"
#include "proc/own_program.h"
#include "proc/thread_status.h"
#include "process_stacks/interpreters.h"
#include "process_stacks/module_tables.h"
#include "process_stacks/process_tracker.h"
#include "unwind/frame.h"
#include "unwind/table.h"
#include "wire/bpf_offcpu.h"

#define KERNEL_MAJOR 5
#define KERNEL_MINOR 17 /* bpf_loop() */

#define CAP_SYS_ADMIN_BIT 21
#define CAP_PERFMON_BIT 38
#define CAP_BPF_BIT 39

/*
 * Space for tables that is reserved in advance: the kernel takes some 20 ms to publish more, in
 * which stacks of a new process have to be copied.
 */
#define SPARE_WORDS (2ull * BPF_WALK_CHUNK_WORDS)

/* An address space that the programs know, or will receive. */
struct space {
	struct bpf_walk_key key;
	struct tracked_process *process;
	uint32_t number;  /* of the process at that time */
	uint64_t context; /* of its maps when it was sent */
	bool told;
	bool wanted;
	bool has_interpreter; /* which the programs know */
	uint32_t slices;      /* that were walked before that */
	bool outlives;        /* has threads that outlive the first one */
	uint32_t first;       /* its mappings, as the programs received them */
	uint32_t count;
	uint32_t unknown; /* those of them whose tables were missing */
};

/* A module's table in the store, and what is known of its file. */
struct module_place {
	bool known;
	/* It contains no interpreter, as a program or as a library: of these only some are read. */
	bool plain_program;
	bool plain_library;
	struct stored_table table;
};

struct walker {
	struct wick_bpf *programs;
	struct table_store store;
	int stats_fd;
	uint64_t unkept; /* threads off the CPU since the start that did not fit */
	bool eager;      /* load the tables of everything mapped, not only of what stacks reach */
	bool knows_interrupts;
	struct interpreters *interpreters; /* NULL: their calls are not read */
	struct ring_buffer *bell;          /* NULL: there is none */
	uint64_t bells;
	uint32_t generation;
	VEC(struct bpf_link *) links;
	VEC(struct space) spaces;
	struct bpf_walk_key met[1024];         /* some recent ones, by hash */
	VEC(struct module_place) modules;      /* by module id */
	VEC(struct bpf_walk_mapping) mappings; /* of the space that is being sent */
};

static void scope_release_walker(struct walker **walker)
{
	walker_close(*walker);
}

static bool kernel_is_new_enough(struct utsname *host)
{
	int major = 0;
	int minor = 0;
	char *dot;

	if (uname(host) < 0)
		return true; /* loading will show it */
	major = (int)strtol(host->release, &dot, 10);
	minor = *dot == '.' ? (int)strtol(dot + 1, NULL, 10) : 0;
	return major > KERNEL_MAJOR || (major == KERNEL_MAJOR && minor >= KERNEL_MINOR);
}

static bool has_capabilities(void)
{
	uint64_t mask = 0;

	if (thread_status_read(0, "CapEff", 16, &mask) < 0)
		return true; /* loading will show it */
	return mask >> CAP_SYS_ADMIN_BIT & 1 ||
	       (mask >> CAP_PERFMON_BIT & 1 && mask >> CAP_BPF_BIT & 1);
}

/* A sandbox may forbid what capabilities allow. Returns 0 or a negative errno. */
static int try_map(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "wick_probe", sizeof(uint32_t),
				sizeof(uint64_t), 1, NULL);

	if (fd < 0)
		return fd;
	(void)close(fd); /* and it is gone */
	return 0;
}

int walker_probe(struct error *err)
{
	struct utsname host;
	int r;

	if (!kernel_is_new_enough(&host)) {
		(void)error_set(err, -EOPNOTSUPP, "eBPF needs Linux %d.%d or later, this is %s",
				KERNEL_MAJOR, KERNEL_MINOR, host.release);
		error_remedy(err, "use --engine perf");
		return -EOPNOTSUPP;
	}
	if (access("/sys/kernel", F_OK) < 0) {
		(void)error_set(err, -ENOENT, "eBPF needs /sys, which is not mounted here");
		error_remedy(err, "mount it: mount -t sysfs sysfs /sys; or use --engine perf or "
				  "signal");
		return -ENOENT;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0) {
		(void)error_set(err, -ENOENT,
				"this kernel has no BTF type information "
				"(/sys/kernel/btf/vmlinux)");
		error_remedy(err, "use --engine perf, or a kernel with CONFIG_DEBUG_INFO_BTF");
		return -ENOENT;
	}
	if (!has_capabilities()) {
		(void)error_set(err, -EPERM, "eBPF programs are not allowed here");
		error_remedy(err, OWN_PROGRAM_REMEDY);
		return -EPERM;
	}
	r = try_map();
	if (r == -EMFILE)
		return error_errno(err, r, "cannot create an eBPF map");
	if (r < 0) {
		(void)error_errno(err, r, "bpf() is refused here");
		error_remedy(err, "use --engine perf, or a sandbox that allows bpf(); in a "
				  "container: --cap-add BPF --security-opt seccomp=unconfined");
	}
	return r;
}

static int on_bell(void *self, void *data, size_t size)
{
	(void)self;
	(void)data;
	(void)size;
	return 0;
}

/* On failure there is none: it is requested again when it is needed. */
static void reserve_spare(struct walker *walker)
{
	if (table_store_reserve(&walker->store, SPARE_WORDS) == 0)
		(void)table_store_publish(&walker->store);
}

int walker_open(const struct walker_config *config, struct walker **ret, struct error *err)
{
	SCOPED(walker) struct walker *walker = NULL;
	int r = walker_probe(err);

	if (r < 0)
		return r;
	walker = calloc(1, sizeof(*walker));
	if (!walker)
		return error_set(err, -ENOMEM, "out of memory");
	walker->stats_fd = -1;
	walker->eager = !config->machine;
	walker->interpreters = config->interpreters;
	r = program_load(config, &walker->programs, &walker->knows_interrupts, err);
	if (r < 0)
		return r;
	r = table_store_init(&walker->store, bpf_map__fd(walker->programs->maps.store),
			     bpf_map__fd(walker->programs->maps.rules));
	if (r < 0)
		return error_errno(err, r,
				   "the eBPF engine cannot create the store of unwind tables");
	reserve_spare(walker);
	/* Without it, unknown address spaces are found at the next drain. */
	walker->bell =
		ring_buffer__new(bpf_map__fd(walker->programs->maps.bell), on_bell, NULL, NULL);
	walker->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME); /* else the cost is not known */
	*ret = scope_take(&walker);
	return 0;
}

void walker_stop_timing(struct walker *walker)
{
	if (walker->stats_fd >= 0)
		(void)close(walker->stats_fd); /* only held */
	walker->stats_fd = -1;
}

void walker_close(struct walker *walker)
{
	if (!walker)
		return;
	walker_stop(walker);
	vec_fini(&walker->links);
	table_store_fini(&walker->store);
	ring_buffer__free(walker->bell);
	wick_bpf__destroy(walker->programs);
	walker_stop_timing(walker);
	vec_fini(&walker->spaces);
	vec_fini(&walker->modules);
	vec_fini(&walker->mappings);
	free(walker);
}

bool walker_knows_interrupts(const struct walker *walker)
{
	return walker->knows_interrupts;
}

int walker_attach(struct walker *walker, int event_fd, struct error *err)
{
	int program = bpf_program__fd(walker->programs->progs.sample);

	if (ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, program) < 0)
		return error_errno(err, -errno, "cannot attach an eBPF program to an event");
	return 0;
}

int walker_set_output(struct walker *walker, int cpu, int event_fd, struct error *err)
{
	uint32_t key = (uint32_t)cpu;
	int r = bpf_map_update_elem(bpf_map__fd(walker->programs->maps.output), &key, &event_fd,
				    BPF_ANY);

	return r < 0 ? error_errno(err, r, "the eBPF engine cannot set the buffer for samples") : 0;
}

void walker_set_share(struct walker *walker, double share)
{
	walker->programs->bss->left_out = (uint32_t)((1 - share) * BPF_WALK_ALL + 0.5);
}

void walker_set_away_gap(struct walker *walker, uint64_t gap_ns)
{
	walker->programs->bss->away_gap_ns = gap_ns;
}

void walker_pause_away(struct walker *walker, bool paused, uint64_t now_ns)
{
	if (walker->programs->bss->away_paused && !paused)
		walker->programs->bss->away_resumed_ns = now_ns;
	walker->programs->bss->away_paused = paused;
}

void walker_set_ring(struct walker *walker, size_t ring_bytes)
{
	walker->programs->bss->ring_bytes = (uint32_t)ring_bytes;
}

int walker_bell_fd(const struct walker *walker)
{
	return walker->bell ? ring_buffer__epoll_fd(walker->bell) : -1;
}

bool walker_take_bell(struct walker *walker)
{
	int rang = walker->bell ? ring_buffer__consume(walker->bell) : 0;

	walker->bells += rang > 0 ? (uint64_t)rang : 0;
	return rang > 0;
}

void walker_drained(struct walker *walker)
{
	walker->programs->bss->drains++;
}

int walker_start(struct walker *walker, struct error *err)
{
	struct bpf_program *programs[] = {
		walker->programs->progs.forked,  walker->programs->progs.execed,
		walker->programs->progs.ended,   walker->programs->progs.woken,
		walker->programs->progs.born,    walker->programs->progs.waking,
		walker->programs->progs.switched};

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		struct bpf_link *link;

		if (!bpf_program__autoload(programs[i]))
			continue;
		link = bpf_program__attach(programs[i]);
		if (!link)
			return error_errno(err, -errno, "cannot watch the scheduler");
		if (vec_push(&walker->links, link) < 0) {
			(void)bpf_link__destroy(link);
			return error_set(err, -ENOMEM, "out of memory");
		}
	}
	return 0;
}

void walker_stop(struct walker *walker)
{
	for (size_t i = 0; i < walker->links.count; i++)
		(void)bpf_link__destroy(walker->links.items[i]); /* frees it even on failure */
	walker->links.count = 0;
}

int walker_watch(struct walker *walker, pid_t id, bool expected, struct error *err)
{
	uint32_t key = (uint32_t)id;
	uint32_t value = expected ? BPF_WALK_EXPECTED : BPF_WALK_WATCHED;
	int r = bpf_map_update_elem(bpf_map__fd(walker->programs->maps.watched), &key, &value,
				    BPF_ANY);

	return r < 0 ? error_errno(err, r, "cannot watch process %d", (int)id) : 0;
}

/* Reads whole slices without their stacks. Returns 0 or a negative errno. */
static int read_sleepers(int fd, struct bpf_walk_slice *slice,
			 void (*show)(void *self, struct bpf_walk_slice *slice), void *self)
{
	const size_t size = offsetof(struct bpf_walk_slice, stack);
	size_t have = 0;
	ssize_t n;

	while ((n = read(fd, (uint8_t *)slice + have, size - have)) != 0) {
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		have += (size_t)n;
		if (have < size)
			continue;
		show(self, slice);
		have = 0;
	}
	return 0;
}

int walker_each_sleeper(struct walker *walker,
			void (*show)(void *self, struct bpf_walk_slice *slice), void *self,
			struct error *err)
{
	struct bpf_link *link = bpf_program__attach_iter(walker->programs->progs.sleepers, NULL);
	SCOPED(mem) struct bpf_walk_slice *slice = malloc(sizeof(*slice));
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -errno;
	int r = fd < 0 ? fd : -ENOMEM;

	if (fd >= 0 && slice)
		r = read_sleepers(fd, slice, show, self);
	if (fd >= 0)
		(void)close(fd);       /* only read from */
	(void)bpf_link__destroy(link); /* frees it even on failure */
	return r < 0 ? error_errno(err, r, "the eBPF engine cannot list sleeping threads") : 0;
}

bool walker_begin_away(struct walker *walker, uint32_t task, const struct bpf_walk_times *times,
		       bool has_stack)
{
	struct bpf_walk_away away = {
		.head = {.kind = has_stack ? BPF_WALK_AWAY_SLICE : BPF_WALK_AWAY,
			 .end = UNWIND_UNREADABLE},
		.times = *times,
		.taken = true,
	};
	int r;

	/* For a thread that has left its CPU since then, there is newer information. */
	r = bpf_map_update_elem(bpf_map__fd(walker->programs->maps.away), &task, &away,
				BPF_NOEXIST);
	walker->unkept += r == -E2BIG;
	return r == 0;
}

bool walker_knows_away(struct walker *walker, uint32_t task)
{
	struct bpf_walk_away away;

	return bpf_map_lookup_elem(bpf_map__fd(walker->programs->maps.away), &task, &away) == 0;
}

void walker_each_away(struct walker *walker,
		      void (*show)(void *self, const struct bpf_walk_away *away), void *self)
{
	int fd = bpf_map__fd(walker->programs->maps.away);
	struct bpf_walk_away away;
	uint32_t key;
	uint32_t *previous = NULL;

	while (bpf_map_get_next_key(fd, previous, &key) == 0) {
		if (bpf_map_lookup_elem(fd, &key, &away) == 0)
			show(self, &away);
		previous = &key;
	}
}

static struct space *find_space(struct walker *walker, const struct bpf_walk_key *key)
{
	for (size_t i = 0; i < walker->spaces.count; i++)
		if (memcmp(&walker->spaces.items[i].key, key, sizeof(*key)) == 0)
			return &walker->spaces.items[i];
	return NULL;
}

void walker_want(struct walker *walker, const struct bpf_walk_key *key,
		 struct tracked_process *process)
{
	struct space *space = find_space(walker, key);

	if (!space) {
		/* If out of memory, its stacks keep arriving as slices. */
		if (vec_push(&walker->spaces, (struct space){.key = *key}) < 0)
			return;
		space = &walker->spaces.items[walker->spaces.count - 1];
	}
	space->process = process;
	space->number = tracked_process_number(process);
	space->wanted = true;
	/* A stack that arrives after the end of the first thread belongs to another thread. */
	space->outlives = tracked_process_ended(process);
}

void walker_count_early(struct walker *walker, const struct bpf_walk_key *key)
{
	struct space *space = find_space(walker, key);

	if (!space || !walker->interpreters)
		return;
	if (space->has_interpreter)
		interpreters_counts(walker->interpreters)->early++;
	else
		space->slices++; /* until one is found */
}

bool walker_meet(struct walker *walker, const struct bpf_walk_key *key,
		 struct tracked_process *process)
{
	struct bpf_walk_key *met =
		&walker->met[hash_pair(key->mm, key->tgid) % ARRAY_SIZE(walker->met)];

	if (memcmp(met, key, sizeof(*key)) == 0)
		return false;
	*met = *key;
	if (find_space(walker, key))
		return false;
	walker_want(walker, key, process);
	return true;
}

bool walker_has_other(const struct walker *walker, const struct bpf_walk_key *key,
		      const struct tracked_process *process)
{
	for (size_t i = 0; i < walker->spaces.count; i++) {
		const struct space *space = &walker->spaces.items[i];

		if (space->process == process && space->number == tracked_process_number(process) &&
		    memcmp(&space->key, key, sizeof(*key)) != 0)
			return true;
	}
	return false;
}

static struct module_place *place_of(struct walker *walker, uint32_t module)
{
	while (walker->modules.count <= module)
		if (vec_push(&walker->modules, (struct module_place){0}) < 0)
			return NULL;
	return &walker->modules.items[module];
}

/* Puts the tables of all mapped modules that have one into the store. */
static void store_tables(struct walker *walker, struct process_tracker *tracker,
			 const struct address_region *regions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct module_place *place = place_of(walker, regions[i].module);
		struct module_table made;

		if (!place || place->known ||
		    !process_tracker_table(tracker, regions[i].module, walker->eager, &made))
			continue;
		place->known = !made.table ||
			       table_store_table(&walker->store, made.table, &place->table) == 0;
	}
}

static int gather_mappings(struct walker *walker, struct process_tracker *tracker,
			   struct space *space)
{
	size_t count;
	const struct address_region *regions = tracked_process_regions(space->process, &count);

	walker->mappings.count = 0;
	space->unknown = 0;
	store_tables(walker, tracker, regions, count);
	for (size_t i = 0; i < count && i < BPF_WALK_MAPPINGS; i++) {
		const struct module_place *place = place_of(walker, regions[i].module);
		struct bpf_walk_mapping mapping = {.start = regions[i].start,
						   .end = regions[i].end,
						   .unknown = !place || !place->known};

		space->unknown += mapping.unknown;
		if (!mapping.unknown) {
			const struct stored_table *table = &place->table;

			mapping.base = regions[i].bias + table->base;
			mapping.first_page = table->first_page;
			mapping.page_count = table->page_count;
		}
		if (vec_push(&walker->mappings, mapping) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Makes the programs forget a space. */
static void forget(struct walker *walker, struct space *space)
{
	int fd = bpf_map__fd(walker->programs->maps.spaces);

	if (space->told) {
		(void)bpf_map_delete_elem(fd, &space->key); /* it may not exist */
		table_store_release_mappings(&walker->store, space->first, space->count);
	}
	if (space->has_interpreter)
		(void)bpf_map_delete_elem(bpf_map__fd(walker->programs->maps.pythons), &space->key);
	if (walker->interpreters)
		interpreters_forget(walker->interpreters, space->number);
	*space = walker->spaces.items[--walker->spaces.count];
}

/* Whether processes with the same files were found to have no interpreter. */
static bool is_plain(struct walker *walker, const struct space *space)
{
	size_t count;
	const struct address_region *regions = tracked_process_regions(space->process, &count);

	for (size_t i = 0; i < count; i++) {
		const struct module_place *place = place_of(walker, regions[i].module);

		if (!place || !(i == 0 ? place->plain_program : place->plain_library))
			return false;
	}
	return count > 0;
}

/*
 * Remembers that these files have no interpreter. What was looked at must be the program that is
 * tracked: it may run another one already.
 */
static void note_plain(struct walker *walker, struct process_tracker *tracker,
		       const struct space *space, const struct map_region *program)
{
	size_t count;
	const struct address_region *regions = tracked_process_regions(space->process, &count);
	const struct map_region *first =
		count > 0 ? process_tracker_module(tracker, regions[0].module) : NULL;

	if (!first || first->inode == 0 || first->inode != program->inode ||
	    first->device != program->device)
		return;
	for (size_t i = 0; i < count; i++) {
		struct module_place *place = place_of(walker, regions[i].module);

		if (place && i == 0)
			place->plain_program = true;
		else if (place)
			place->plain_library = true;
	}
}

/* Gives the programs the interpreter of a space, if it has one. */
static void tell_interpreter(struct walker *walker, struct process_tracker *tracker,
			     struct space *space)
{
	const struct python_layout *layout;
	struct map_region program;

	if (!walker->interpreters || space->has_interpreter || is_plain(walker, space))
		return;
	if (interpreters_search(walker->interpreters, space->number,
				tracked_process_pid(space->process), &program) == -ENOENT)
		note_plain(walker, tracker, space, &program);
	layout = interpreters_layout(walker->interpreters, space->number);
	if (!layout)
		return;
	/* Without room for it, its stacks have no calls. */
	space->has_interpreter = bpf_map_update_elem(bpf_map__fd(walker->programs->maps.pythons),
						     &space->key, layout, BPF_ANY) == 0;
	interpreters_counts(walker->interpreters)->early += space->slices;
}

static void tell(struct walker *walker, struct process_tracker *tracker, struct space *space)
{
	struct bpf_walk_space told = {.generation = ++walker->generation};
	int fd = bpf_map__fd(walker->programs->maps.spaces);
	int r = gather_mappings(walker, tracker, space);

	tell_interpreter(walker, tracker, space);
	if (r == 0) {
		told.count = (uint32_t)walker->mappings.count;
		r = table_store_mappings(&walker->store, walker->mappings.items, told.count,
					 &told.first);
	}
	if (r == 0)
		r = table_store_publish(&walker->store);
	if (r == 0) {
		r = bpf_map_update_elem(fd, &space->key, &told, BPF_ANY);
		if (r < 0) /* there are too many */
			table_store_release_mappings(&walker->store, told.first, told.count);
	}
	if (r < 0) {
		log_debug("cannot describe an address space to the BPF programs: %s", strerror(-r));
		return;
	}
	if (space->told)
		table_store_release_mappings(&walker->store, space->first, space->count);
	space->told = true;
	space->first = told.first;
	space->count = told.count;
	space->context = tracked_process_context(space->process, ADDRESS_SPACE_NOW);
}

/*
 * Whether there is anything new to send. Stacks without usable tables always arrive as slices; that
 * alone is nothing new.
 */
static bool has_news(struct walker *walker, struct process_tracker *tracker,
		     const struct space *space)
{
	const struct address_region *regions;
	size_t count;
	uint32_t unknown = 0;

	if (!space->told)
		return space->wanted; /* else there was no room, and it is not missed */
	if (tracked_process_context(space->process, ADDRESS_SPACE_NOW) != space->context)
		return true;
	if (!space->wanted || space->unknown == 0)
		return false;
	regions = tracked_process_regions(space->process, &count);
	for (size_t i = 0; i < count && i < BPF_WALK_MAPPINGS; i++) {
		const struct module_place *place = place_of(walker, regions[i].module);
		struct module_table made;

		unknown += !place ||
			   (!place->known &&
			    !process_tracker_table(tracker, regions[i].module, false, &made));
	}
	return unknown < space->unknown;
}

bool walker_update(struct walker *walker, struct process_tracker *tracker)
{
	bool news = false;

	for (size_t i = walker->spaces.count; i-- > 0;) {
		struct space *space = &walker->spaces.items[i];

		if (tracked_process_number(space->process) != space->number ||
		    (tracked_process_ended(space->process) && !space->outlives)) {
			forget(walker, space);
			continue;
		}
		if (has_news(walker, tracker, space)) {
			tell(walker, tracker, space);
			process_tracker_rest(tracker); /* the programs have copies */
			news = true;
		}
		space->wanted = false;
	}
	if (news)
		reserve_spare(walker);
	return news;
}

struct wick_bpf *walker_programs(struct walker *walker)
{
	return walker->programs;
}

void walker_sum_counters(int map_fd, uint64_t *counters, uint32_t count)
{
	int cpu_count = libbpf_num_possible_cpus();
	uint64_t *values = calloc(cpu_count > 0 ? (size_t)cpu_count : 1, sizeof(*values));

	for (uint32_t i = 0; values && i < count; i++) {
		if (bpf_map_lookup_elem(map_fd, &i, values) < 0)
			continue;
		for (int cpu = 0; cpu < cpu_count; cpu++)
			counters[i] += values[cpu];
	}
	free(values);
}

/* How often a program has run, and for how long: both 0 if the kernel does not say. */
static void add_runs(const struct bpf_program *program, uint64_t *runs, uint64_t *run_ns)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (!bpf_program__autoload(program) ||
	    bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) < 0)
		return;
	*runs += info.run_cnt;
	*run_ns += info.run_time_ns;
}

/*
 * The kernel counts more time for all runs than the program measured; the difference is the same
 * for each run. All wakeups take about the same time, so those of watched threads are charged their
 * share.
 */
static uint64_t own_ns_of(const struct walker_stats *stats, uint64_t timed_ns, uint64_t wakeups,
			  uint64_t wakeups_ns)
{
	const uint64_t *counters = stats->counters;
	uint64_t own = counters[BPF_WALK_COUNT_OWN];
	uint64_t others = stats->switches > own ? stats->switches - own : 0;
	double own_ns = (double)counters[BPF_WALK_COUNT_OWN_NS];
	double others_ns = counters[BPF_WALK_COUNT_OTHER] > 0
				   ? (double)counters[BPF_WALK_COUNT_OTHER_NS] * (double)others /
					     (double)counters[BPF_WALK_COUNT_OTHER]
				   : 0;
	double rest_ns = (double)timed_ns - own_ns - others_ns;

	if (rest_ns > 0)
		own_ns += rest_ns * (double)own / (double)(own + others);
	if (wakeups > 0)
		own_ns += (double)wakeups_ns * (double)counters[BPF_WALK_COUNT_WAKEUPS] /
			  (double)wakeups;
	return own_ns < (double)stats->switch_ns ? (uint64_t)own_ns : stats->switch_ns;
}

void walker_stats(struct walker *walker, struct walker_stats *ret)
{
	const struct bpf_program *others[] = {walker->programs->progs.born,
					      walker->programs->progs.waking};
	uint64_t runs = 0;
	uint64_t wakeups = 0;
	uint64_t wakeups_ns = 0;
	uint64_t timed_ns;

	*ret = (struct walker_stats){.bytes = table_store_bytes(&walker->store),
				     .bells = walker->bells};
	walker_sum_counters(bpf_map__fd(walker->programs->maps.counters), ret->counters,
			    BPF_WALK_COUNTERS);
	ret->counters[BPF_WALK_COUNT_AWAY_FULL] += walker->unkept;
	add_runs(walker->programs->progs.sample, &ret->runs, &ret->run_ns);
	add_runs(walker->programs->progs.switched, &ret->switches, &ret->switch_ns);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		add_runs(others[i], &runs, &ret->switch_ns);
	timed_ns = ret->switch_ns;
	add_runs(walker->programs->progs.woken, &wakeups, &wakeups_ns);
	ret->switch_ns += wakeups_ns;
	ret->own_ns = own_ns_of(ret, timed_ns, wakeups, wakeups_ns);
}
