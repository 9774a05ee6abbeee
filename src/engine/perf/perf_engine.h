/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PERF_ENGINE_H
#define WICK_ENGINE_PERF_PERF_ENGINE_H

/*
 * perf_engine: the state of one perf engine, for the files of this folder. perf_open.c opens
 * its events, perf_drain.c moves what the kernel wrote into the sink, perf_rate.c changes its
 * rate, perf.c has the operations that others call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "engine/perf/cpus.h"
#include "engine/perf/event.h"
#include "engine/perf/event_group.h"
#include "engine/perf/machine_time.h"
#include "engine/perf/overwrite_ring.h"
#include "engine/perf/perf_rate.h"
#include "engine/perf/perf_sample.h"
#include "engine/perf/probe_event.h"
#include "engine/perf/ring.h"
#include "perf_records/perf_record.h"
#include "process_stacks/chain.h"

struct error;
struct perf_programs;
struct sample_calls;
struct call_readers;

struct cpu_ring {
	int cpu;
	int fd; /* the event that the ring belongs to */
	struct ring ring;
	uint64_t throttled_at_ns; /* 0: not throttled now */
	uint64_t owed_ns;         /* time without samples that the next one represents */
	struct sample_row row;    /* the last sample; the record of its counters follows it */
	pid_t row_tid;            /* thread of that sample; 0: no counters are expected */

	/* With overwrite_old: what the kernel writes here is copied into `ring`. */
	struct overwrite_ring over; /* base is NULL: this ring is not overwritten */
	bool side;                  /* for mappings and tasks only, beside a ring of samples */
};

struct perf_engine {
	struct sample_output output;
	struct event_grant grant;
	const struct event_kind *kind;
	struct event_group group; /* its leader is the kind */
	bool grouped;             /* samples carry the counters of a group */
	struct probe_event probe; /* has the kind of a tracepoint or a probed function */
	VEC(struct cpu_ring) rings;
	VEC(int) events;
	VEC(int) members;        /* counting events of the group, beside those */
	VEC(int) program_events; /* that programs write through, one for each ring */
	struct cpu_list cpus;
	VEC(pid_t) targets; /* processes or threads that the user named */
	VEC(pid_t) seeds;   /* processes to read from /proc once events are enabled */
	size_t ring_bytes;
	bool ring_refused; /* the kernel did not allow a ring of that size */
	int epoll_fd;
	bool away; /* programs also record threads off their CPUs */
	bool machine;
	bool by_cpu;  /* events belong to CPUs, not to threads */
	bool command; /* its exec starts the sampling */
	bool partial; /* some threads of a process only */
	bool clock;
	struct perf_programs *programs; /* that make the samples; NULL: the kernel does */
	struct sample_calls *calls;     /* of interpreters, without programs; NULL: not read */
	struct call_readers *readers;   /* that read them; NULL: none yet */
	int timer_fd;                   /* with programs: when to bring them up to date */
	uint64_t bell_due_ns; /* when to read the record that rang the bell; 0: none did */
	uint64_t drained_ns;  /* when the rings were last read */
	bool news;            /* something was mapped since the last drain */
	struct perf_record_layout layout; /* of all records: their events agree on it */
	bool copies;                      /* samples carry registers and stack, which we walk */
	struct chain_walk walk;           /* of these */
	uint32_t depth;                   /* frames kept of a user stack that we walk */
	uint64_t copied_bytes;            /* of stacks, in all */
	struct perf_rate rate;
	uint64_t begun_ns;       /* when the engine was opened */
	uint64_t sample_cost_ns; /* of an event, without programs; 0: not measured yet */
	struct machine_time machine_start;
	double ring_fill;      /* largest recent fill of a ring, 0 to 1 */
	uint64_t throttled_ns; /* that samples stood for, but no event counted */

	bool overwrite_old; /* full rings of samples overwrite their oldest */
	VEC(int) sides;     /* events for mappings and tasks, beside those that sample */
	bool sides_open;    /* all of these are open; later threads inherit them */
	uint64_t made;      /* samples that programs had made at the last drain */
	uint64_t side_lost; /* lost records that are not samples */

	char notice[1024];
};

void perf_close(struct perf_engine *engine);
/* Closes all events and unmaps their rings. */
void perf_release(struct perf_engine *engine);

/* Opens what was granted for all threads of a process, or for one. -ESRCH: it has ended. */
int perf_open_process(struct perf_engine *engine, pid_t pid, struct error *err);
int perf_open_thread(struct perf_engine *engine, pid_t tid, struct error *err);

/* How long the target has run so far; and what the first `events` events have counted. */
uint64_t perf_count_run_ns(struct perf_engine *engine);
uint64_t perf_count_events_ns(struct perf_engine *engine, size_t events);

/* Reads the processes that run already from /proc; call it once events are enabled. */
int perf_seed(struct perf_engine *engine, struct error *err);

/* Moves records up to a moment into the sink; UINT64_MAX: all. */
int perf_drain(struct perf_engine *engine, uint64_t until_ns, struct error *err);

#endif
