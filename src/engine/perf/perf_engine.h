/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PERF_ENGINE_H
#define WICK_ENGINE_PERF_PERF_ENGINE_H

/*
 * perf_engine: one perf engine at work. perf_open.c arms it, perf_drain.c moves what
 * the kernel wrote into the sink, perf.c is what others see of it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "engine/ebpf/heap_events.h"
#include "engine/ebpf/kept_stacks.h"
#include "engine/ebpf/long_stack.h"
#include "engine/ebpf/offcpu_watch.h"
#include "engine/engine.h"
#include "engine/perf/counters.h"
#include "engine/perf/cpus.h"
#include "engine/perf/event.h"
#include "engine/perf/event_group.h"
#include "engine/perf/machine_time.h"
#include "engine/perf/overwrite_ring.h"
#include "engine/perf/perf_rate.h"
#include "engine/perf/perf_sample.h"
#include "engine/perf/probe_event.h"
#include "engine/perf/ring.h"
#include "engine/perf/stack_facts.h"
#include "perf_records/perf_record.h"
#include "process_stacks/chain.h"

struct error;
struct process_tracker;
struct sink;
struct offcpu_locks;
struct offcpu_places;
struct stack_cache;
struct wakers;
struct walker;

#define BATCH 512u

/* Why a thread was off its CPU, for labels. */
enum offcpu_watch_label {
	PERF_AWAY_SLEEPING,
	PERF_AWAY_UNINTERRUPTIBLE,
	PERF_AWAY_PREEMPTED,
	PERF_AWAY_WAITING, /* woken, and no CPU was free */
	PERF_AWAY_LABELS,
};

struct cpu_ring {
	int cpu;
	int fd; /* the event that the ring belongs to */
	struct ring ring;
	uint64_t throttled_at_ns; /* 0: not held back now */
	uint64_t owed_ns;         /* time without samples that the next one stands for */
	struct sample_row row;    /* the last sample, whose counters come behind it, and whose */
	pid_t row_tid;            /* it is; 0: they came, or nobody waits for them */

	/* Where rings of samples give up their oldest: what these hold goes on into `ring`. */
	struct overwrite_ring over; /* without a base: this is none of them */
	bool side;                  /* of what is mapped and who runs alone, beside such a ring */
};

/* A batch that is being filled. */
struct perf_columns {
	uint32_t schema;
	size_t count;
	uint32_t stack[BATCH];
	uint32_t thread[BATCH];
	uint32_t cpu[BATCH];
	uint32_t labels[BATCH];
	uint64_t time_ns[BATCH];
	uint64_t weight[BATCH];
	uint64_t times[BATCH];
};

struct perf_engine {
	struct sink *sink;
	struct event_grant grant;
	const struct event_kind *kind;
	struct event_group group; /* whose leader the kind is */
	bool grouped;             /* samples tell what a group has counted */
	struct counters counters; /* of the group's members */
	struct probe_event probe; /* whose kind it is, if it is one */
	struct process_tracker *tracker;
	struct stack_cache *cache;
	VEC(struct cpu_ring) rings;
	VEC(int) events;
	VEC(int) members; /* events that count beside those */
	VEC(int) outputs; /* events of the walker, one for each ring */
	struct cpu_list cpus;
	VEC(pid_t) watched; /* whose threads off their CPUs are looked at from the start on */
	VEC(pid_t) targets; /* processes or threads that were asked for */
	VEC(pid_t) seeds;   /* processes to learn from /proc once events are enabled */
	size_t ring_bytes;
	bool ring_refused; /* the kernel did not allow a ring of that size */
	int epoll_fd;
	uint64_t least_away_ns;                 /* shorter times off a CPU are left out */
	uint64_t scheduler;                     /* where __schedule() begins; 0: not known */
	uint64_t wake_up;                       /* where try_to_wake_up() begins; 0: not known */
	uint32_t on_cpu_labels;                 /* of samples that are not away */
	uint32_t away_labels[PERF_AWAY_LABELS]; /* label sets, made when first needed; 0: not yet */
	uint64_t without_stack;                 /* lost slices that were told of as losses */
	struct kept_stacks leavers;             /* whose stacks came before the records */
	char *cgroup;                           /* whose threads are looked at; NULL: none */
	struct wakers *wakers;                  /* NULL: nobody asked for them */
	struct offcpu_places *places;           /* NULL: threads off their CPUs are not watched */
	struct offcpu_locks *locks;             /* what these wait for; NULL as well */
	struct offcpu_watch_pace away_pace;     /* how often stacks of these are taken */
	bool away;                              /* threads off their CPUs, too or alone */
	bool machine;
	bool by_cpu;  /* events are those of CPUs, not of threads */
	bool command; /* is waited for: its exec starts the sampling */
	bool partial; /* not all threads of a process: some of its mappings are not told */
	bool clock;
	struct walker *walker; /* BPF programs make the samples; NULL: the kernel itself does */
	int timer_fd;          /* of the walker: what is new is to be told soon */
	bool news;             /* since the last drain */
	struct perf_record_layout layout; /* of all records: their events agree on it */
	bool copies;           /* samples carry registers and stack: we walk, not the kernel */
	uint32_t depth;        /* frames kept of a user stack that we walk */
	uint64_t copied_bytes; /* of stacks, in all */
	struct perf_rate rate;
	uint64_t begun_ns;       /* when this was opened */
	uint64_t sample_cost_ns; /* of an event, without programs; 0: not known yet */
	struct machine_time machine_start;
	double ring_fill;      /* the most of a ring that was full of late */
	uint64_t throttled_ns; /* that samples stood for, but no event counted */
	struct engine_stats stats;

	bool overwrite_old; /* rings of samples give up their oldest when they are full */
	VEC(int) sides;     /* events beside those that sample: what is mapped, and who runs */
	bool told;          /* these are there, and all that begins later inherits them */
	uint64_t made;      /* samples, as the walker has counted, up to the last drain */
	uint64_t side_lost; /* records that are no samples, among the lost */

	char notice[1024];

	struct perf_columns columns[1 + EVENT_MEMBERS_MAX]; /* of the event, and of its members */

	struct bpf_heap heap;         /* what an allocator does, where that is followed */
	struct long_stack long_stack; /* of a slice that is being read */
	struct chain_frames frames;
	struct chain_walk walk;   /* of stacks that came with their samples */
	struct stack_facts facts; /* of the stack that was read last */
};

/* Arms everything that the target needs. Takes over the walker on success; NULL is none. */
int perf_open(const struct engine_config *config, const struct target *target, struct sink *sink,
	      struct walker *walker, struct perf_engine **ret, struct error *err);
void perf_close(struct perf_engine *engine);
/* Lets go of all events and their rings. */
void perf_release(struct perf_engine *engine);

/* Opens what was granted for all threads of a process, or for one. -ESRCH: it is gone. */
int perf_open_process(struct perf_engine *engine, pid_t pid, struct error *err);
int perf_open_thread(struct perf_engine *engine, pid_t tid, struct error *err);

/* How long what is watched has run so far; and what the first events alone have counted. */
uint64_t perf_count_run_ns(struct perf_engine *engine);
uint64_t perf_count_events_ns(struct perf_engine *engine, size_t events);

/* Adds to what is told when the recording begins. */
void perf_note(struct perf_engine *engine, const char *text);

/* Learns the processes that run already; to be called once events are enabled. */
int perf_seed(struct perf_engine *engine, struct error *err);

/*
 * A record becomes visible some microseconds after its time stamp. Records
 * younger than this wait for the next drain, so that those of all CPUs can be
 * taken in order of time. A virtual CPU that was paused may be later still: then
 * the maps' history answers for the right moment all the same.
 */
#define PERF_SETTLE_NS (2 * NS_PER_MS)

/* Moves records up to a moment into the sink; UINT64_MAX for all there are. */
int perf_drain(struct perf_engine *engine, uint64_t until_ns, struct error *err);

/* The operations that the engines above perf events share, see engine.h. */
int perf_engine_start(void *self, struct error *err);
int perf_engine_fd(void *self);
int perf_engine_drain(void *self, struct error *err);
int perf_engine_stop(void *self, struct error *err);
void perf_engine_stats(void *self, bool final, struct engine_stats *ret);
const char *perf_engine_notice(void *self);
void perf_engine_close(void *self);

#endif
