/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_SAMPLES_SAMPLES_H
#define WICK_LOAD_SAMPLES_SAMPLES_H

/*
 * samples: a recording read to its end, with the samples folded by
 * (stack, thread, labels) and counted, when asked also by slice of time. Everything still has the
 * recording's ids.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/id_index.h"
#include "base/vec.h"
#include "heap/leak/leak_scans.h"
#include "load/filter/label_filter.h"
#include "load/samples/sample_cover.h"
#include "load/samples/sample_events.h"
#include "load/samples/sample_gauges.h"
#include "load/samples/sample_levels.h"
#include "model/sink.h"
#include "recording/reader.h"

struct error;
struct heap_analysis;
struct jit_symbols;
struct kernel_symbols;
struct load_options;

#define SAMPLES_FACTS 8

/* The keys of samples.facts. */
extern const char *const samples_fact_keys[SAMPLES_FACTS];

struct sample_sum {
	uint32_t stack;
	uint32_t thread;
	uint32_t labels;  /* set of them */
	uint32_t slice;   /* of time, when they are asked for; else 0 */
	uint64_t time_ns; /* of one of them, when it matters to compiled code; else 0 */
	uint64_t count;
	uint64_t going_on; /* with slices: of those that count in a later one but are in this too */
	uint64_t weight;   /* of the main event; all of them together are at most INT64_MAX */
	uint64_t longest;  /* weight of one that stands for no other; 0: there is none */
};

/* One sample of those that a sum adds up. */
struct sample_in_order {
	uint64_t since_ns; /* as of profile_sample */
	uint64_t count;    /* samples that it stands for */
	uint64_t weight;
	uint32_t sum;
	uint32_t event;
};

struct samples {
	struct recording_reader *reader;
	struct kernel_symbols *kernel; /* what the file keeps of the kernel's symbols */
	struct jit_symbols *jit;       /* and of compiled code */
	struct recording_damage damage;
	VEC(struct sample_sum) sums;
	struct id_index index;
	VEC(struct sample_in_order) order; /* as the file has them; with load_options.order */

	char *title;
	char *facts[SAMPLES_FACTS]; /* what the file tells of how it was made; NULL: nothing */
	char *boot_id;
	char *jit_refused; /* see RECORDING_JIT_REFUSED; NULL: none */
	struct sample_events events;
	struct sample_gauges gauges;
	struct sample_levels levels; /* with load_options.tracks */
	struct heap_analysis *heap;  /* finished; NULL: there are no such events */
	struct leak_scans leaks;
	uint64_t lost;
	uint64_t lost_by[LOSS_REASONS];
	uint64_t unwanted; /* samples that the options leave out */
	uint64_t count;
	uint64_t weight;        /* of all sums */
	uint64_t start_ns;      /* CLOCK_MONOTONIC: when the recording began */
	uint64_t heap_step_ns;  /* that the recording asks for; 0: any */
	bool by_frame_pointers; /* stacks are */
	bool longest_told;      /* see RECORDING_LOCK_WAITS */
	bool heap_leaf_told;    /* stacks of blocks end with an address in the call */
	uint64_t end_ns;
	uint64_t clock_monotonic_ns; /* the first pair of both clocks */
	uint64_t clock_realtime_ns;
	uint64_t recorded_ns; /* without gaps; 0: there are none */
	bool has_user;        /* all processes ran as one: */
	uint32_t user_uid;    /* this one */
	uint64_t slice_ns;    /* how long the slices are */

	/* private, while reading */
	const struct load_options *options;
	const struct jit_symbols *known_jit; /* from an earlier reading; or NULL */
	struct id_index makers;              /* processes by their identity, for compiled code */
	VEC(int8_t) thread_wanted;           /* by thread id: 0 not asked yet, 1 yes, -1 no */
	struct label_filter labels;
	VEC(int8_t) stack_timed; /* by stack id, the same */
	VEC(int8_t) labels_away; /* by set of labels, the same: the thread was off its CPU */
};

/*
 * Takes over fd. The caller releases with samples_fini() in any case. A file with
 * compiled code that took the place of other code is read twice, for only its end tells
 * when: then sums are kept apart by what was there.
 */
int samples_read(struct samples *samples, int fd, const char *name,
		 const struct load_options *options, struct error *err);

/* The same of what is kept in memory; takes over the reader. */
int samples_read_kept(struct samples *samples, struct recording_reader *kept, const char *name,
		      const struct load_options *options, struct error *err);

/*
 * Whether the i-th sample of a batch of the same file is of the main event, or one that
 * the program told where these are asked for, and the options want it. 0 or -ENOMEM.
 */
int samples_want(struct samples *samples, const struct sample_batch *batch, size_t i, bool *ret);

/* The same of any event: whether the options want it. */
int samples_want_any(struct samples *samples, const struct sample_batch *batch, size_t i,
		     bool *ret);

/* Whether a process is wanted. */
bool samples_want_pid(const struct samples *samples, uint32_t pid);

/* The time that the i-th sample of a batch tells of. */
struct sample_cover samples_cover(struct samples *samples, const struct sample_batch *batch,
				  size_t i);

/* Whether samples and blocks of a thread are wanted. 0 or -ENOMEM. */
int samples_want_thread(struct samples *samples, uint32_t thread, bool *ret);

/*
 * Whether a profile is to be made of the heap: it was asked for, or there is nothing else. Its
 * values have their own names, by which they may be asked for as events.
 */
bool samples_are_heap(const struct samples *samples);

/*
 * Whether stacks of blocks end with a return address, as the library wrote them before it was
 * said in the recording how they end. Others end with an address in the call.
 */
bool samples_heap_leaf_returns(const struct samples *samples);

/* Whether the functions in a stack depend on the time of the sample. 0, 1 or -ENOMEM. */
int samples_is_timed(struct samples *samples, uint32_t stack);
void samples_fini(struct samples *samples);

#endif
