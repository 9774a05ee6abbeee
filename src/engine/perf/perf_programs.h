/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PERF_PERF_PROGRAMS_H
#define WICK_ENGINE_PERF_PERF_PROGRAMS_H

/*
 * perf_programs: programs in the kernel that make an engine's samples, in place of the
 * kernel itself. The perf engine opens the events and reads the rings; the programs run when
 * an event fires and write records of their own, which only their owner can decode.
 *
 * The perf engine does not know what the programs are or what their records look like. An
 * owner embeds struct perf_programs as its first member and puts samples into the output
 * that it receives with perf_programs_arm(), see perf_sample.h.
 *
 *	attach, set_output	for each event and each ring, while the target is opened
 *	arm			all events are open
 *	start			the events are enabled
 *	take, read_chain	for each record that is read; flush after the last one of a drain
 *	drained			after each drain
 *	stop			no more records; the last ones are read after it
 *	finish			the last records have been read
 *
 * Threads: all functions are called on the thread that drives the engine.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine_config;
struct engine_stats;
struct error;
struct perf_programs;
struct perf_rate;
struct sample_output;
struct sample_record;
struct target;
struct tracked_process;

/* What the engine lends to its programs, until they are closed. */
struct perf_programs_host {
	struct sample_output *output;
	const struct perf_rate *rate;
	size_t ring_bytes;         /* of each ring, as granted */
	bool clock;                /* the events count time: there are samples on the CPUs */
	bool kernel_frames_hidden; /* frames of the kernel must not be shown */
};

/* What the programs have counted so far. */
struct perf_programs_counts {
	uint64_t samples;       /* made, including those that were lost */
	uint64_t lost;          /* found no room in their ring */
	uint64_t runs;          /* of the program that makes samples */
	uint64_t run_ns;        /* time of all these runs; 0: unknown */
	uint64_t target_run_ns; /* that the target's threads ran; 0: not measured */
};

/* The records that follow a sample in its ring. */
struct perf_following;

/* Reads the next of them. False if there is none, or if it is not a sample. */
bool perf_following_next(struct perf_following *following, struct sample_record *ret);

struct perf_programs_ops {
	int (*attach)(struct perf_programs *programs, int event_fd, struct error *err);
	int (*set_output)(struct perf_programs *programs, int cpu, int event_fd, struct error *err);
	int (*arm)(struct perf_programs *programs, const struct perf_programs_host *host,
		   const struct engine_config *config, const struct target *target,
		   struct error *err);
	int (*start)(struct perf_programs *programs, uint64_t now_ns, struct error *err);
	int (*take)(struct perf_programs *programs, struct sample_record *sample,
		    struct perf_following *following, struct error *err);
	bool (*read_chain)(struct perf_programs *programs, struct tracked_process *process,
			   struct sample_record *sample);
	bool (*drained)(struct perf_programs *programs);
	void (*set_share)(struct perf_programs *programs, double share);
	void (*count)(struct perf_programs *programs, struct perf_programs_counts *ret,
		      struct engine_stats *stats);
	void (*close)(struct perf_programs *programs);
	/* Optional; NULL: there is nothing to do, or 0. */
	int (*bell_fd)(struct perf_programs *programs);
	bool (*take_bell)(struct perf_programs *programs);
	int (*flush)(struct perf_programs *programs, uint64_t until_ns, struct error *err);
	uint64_t (*count_lost_stacks)(struct perf_programs *programs, uint64_t lost);
	int (*rate_changed)(struct perf_programs *programs, uint64_t now_ns, struct error *err);
	void (*forget_stacks)(struct perf_programs *programs);
	void (*stop)(struct perf_programs *programs);
	int (*finish)(struct perf_programs *programs, uint64_t now_ns, struct error *err);
};

struct perf_programs {
	const struct perf_programs_ops *ops;
	bool away;             /* they also record threads that are off their CPUs */
	size_t ring_bytes;     /* wanted for each CPU */
	uint32_t wakeup_bytes; /* wake the reader after this many at the latest; 0: any */
};

/* Samples of this event, and of those that inherit it, are made by the programs. */
int perf_programs_attach(struct perf_programs *programs, int event_fd, struct error *err);
/* What the programs write on a CPU goes to the ring of this event. */
int perf_programs_set_output(struct perf_programs *programs, int cpu, int event_fd,
			     struct error *err);

/* All events are open. Copies *host; borrows what it points to until the close. */
int perf_programs_arm(struct perf_programs *programs, const struct perf_programs_host *host,
		      const struct engine_config *config, const struct target *target,
		      struct error *err);
/* The events are enabled since now_ns. */
int perf_programs_start(struct perf_programs *programs, uint64_t now_ns, struct error *err);

/*
 * Looks at a record of the programs. Returns 1 when it is done with, 0 when it is a sample
 * that the engine must put (perf_programs_read_chain() makes its chain), or a negative errno.
 */
int perf_programs_take(struct perf_programs *programs, struct sample_record *sample,
		       struct perf_following *following, struct error *err);
/* Makes the chain of a sample, valid until the next call. False when the record is invalid. */
bool perf_programs_read_chain(struct perf_programs *programs, struct tracked_process *process,
			      struct sample_record *sample);
/* All records up to a moment (UINT64_MAX: now) were taken. */
int perf_programs_flush(struct perf_programs *programs, uint64_t until_ns, struct error *err);
/*
 * The rings are empty, or nearly: brings the programs up to date with what is mapped. Returns
 * whether there was anything new, in which case there is probably more soon.
 */
bool perf_programs_drained(struct perf_programs *programs);

/*
 * A descriptor that is readable when the programs have met something that they must be told about;
 * -1: none. Whether they have, since the last call.
 */
int perf_programs_bell_fd(struct perf_programs *programs);
bool perf_programs_take_bell(struct perf_programs *programs);

/* How many of these lost records were only the stack of a sample that is not lost. */
uint64_t perf_programs_count_lost_stacks(struct perf_programs *programs, uint64_t lost);

/* The share of the samples that the programs make from now on; 0: none. */
void perf_programs_set_share(struct perf_programs *programs, double share);
/* The engine's rate is another since now_ns. */
int perf_programs_rate_changed(struct perf_programs *programs, uint64_t now_ns, struct error *err);
/* Ids of stacks are no longer valid. */
void perf_programs_forget_stacks(struct perf_programs *programs);

/* Counts so far; adds what else the programs know to *stats, unless that is NULL. */
void perf_programs_count(struct perf_programs *programs, struct perf_programs_counts *ret,
			 struct engine_stats *stats);

/* The programs write nothing from now on. */
void perf_programs_stop(struct perf_programs *programs);
/*
 * Everything they wrote has been read: adds samples of the threads that are off their CPUs at
 * now_ns.
 */
int perf_programs_finish(struct perf_programs *programs, uint64_t now_ns, struct error *err);
void perf_programs_close(struct perf_programs *programs); /* NULL is fine */

#endif
