/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_SAMPLES_SAMPLES_H
#define WICK_LOAD_SAMPLES_SAMPLES_H

/*
 * samples: a recording read to its end, with samples counted by (stack, thread, labels) and
 * optionally by time slice. All ids are still those of the recording.
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
struct sample_columns;

#define SAMPLES_FACTS 8

/* The keys of samples.facts. */
extern const char *const samples_fact_keys[SAMPLES_FACTS];

struct sample_sum {
	uint32_t stack;
	uint32_t thread;
	uint32_t labels;  /* label set */
	uint32_t slice;   /* time slice, if requested; else 0 */
	uint64_t time_ns; /* of one of the samples, if it matters for JIT-compiled code; else 0 */
	uint64_t count;
	uint64_t going_on; /* with slices: samples that are counted in a later slice but also cover
			      this one */
	uint64_t weight;   /* of the main event; the total of all is at most INT64_MAX */
	uint64_t longest;  /* largest weight of a record for a single sample; 0: none */
};

/* One of the samples in a sum. */
struct sample_in_order {
	uint64_t since_ns; /* as in profile_sample */
	uint64_t count;    /* samples that it represents */
	uint64_t weight;
	uint32_t sum;
	uint32_t event;
};

struct samples {
	struct recording_reader *reader;
	struct kernel_symbols *kernel; /* kernel symbols in the file */
	struct jit_symbols *jit;       /* symbols of JIT-compiled code in the file */
	struct recording_damage damage;
	VEC(struct sample_sum) sums;
	struct id_index index;
	VEC(struct sample_in_order) order; /* in file order; with load_options.order */

	char *title;
	char *facts[SAMPLES_FACTS]; /* how the file was made; NULL: unknown */
	char *boot_id;
	char *jit_refused; /* see RECORDING_JIT_REFUSED; NULL: none */
	struct sample_events events;
	struct sample_gauges gauges;
	struct sample_levels levels; /* with load_options.tracks */
	struct heap_analysis *heap;  /* finished; NULL: no heap events */
	struct leak_scans leaks;
	uint64_t lost;
	uint64_t lost_by[LOSS_REASONS];
	uint64_t unwanted; /* samples that the options leave out */
	uint64_t count;
	uint64_t weight;        /* of all sums */
	uint64_t start_ns;      /* CLOCK_MONOTONIC: when the recording began */
	uint64_t heap_step_ns;  /* from the recording; 0: none */
	bool by_frame_pointers; /* stacks come from frame pointers */
	bool longest_told;      /* see RECORDING_LOCK_WAITS */
	bool interrupted;       /* has samples other than those that the program reported */
	bool heap_leaf_told; /* the recording says that stacks of blocks end with an address in the
				call */
	uint64_t end_ns;
	uint64_t clock_monotonic_ns; /* the first pair of both clocks */
	uint64_t clock_realtime_ns;
	uint64_t recorded_ns; /* recorded time without gaps; 0: there are no gaps */
	bool has_user;        /* all processes ran as one user: */
	uint32_t user_uid;    /* this one */
	uint64_t slice_ns;    /* length of a slice */

	/* private, while reading */
	const struct load_options *options;
	const struct jit_symbols *known_jit; /* from an earlier pass, or NULL */
	struct sample_columns *copies;       /* NULL: none are wanted, or there are too many */
	struct id_index makers;              /* processes by identity, for JIT-compiled code */
	VEC(int8_t) thread_wanted;           /* by thread id: 0 not decided yet, 1 yes, -1 no */
	struct label_filter labels;
	VEC(int8_t) stack_timed; /* by stack id, the same */
	VEC(int8_t) labels_away; /* by set of labels, the same: the thread was off its CPU */
};

/*
 * Takes over fd. The caller must call samples_fini(), even after a failure. A file in which
 * JIT-compiled code replaced other code is read twice, because only its end says when: sums are
 * then kept apart by the code that was there.
 *
 * copies, which may be NULL, gets all samples one by one, or none if there are more than
 * SAMPLE_COPIES_MAX (sample_copies.h).
 */
int samples_read(struct samples *samples, int fd, const char *name,
		 const struct load_options *options, struct sample_columns *copies,
		 struct error *err);

/* The same from memory; takes over the reader. */
int samples_read_kept(struct samples *samples, struct recording_reader *kept, const char *name,
		      const struct load_options *options, struct error *err);

/*
 * Whether the options select sample i of a batch of the same file: it belongs to the main event, or
 * was reported by the program if those are requested, and passes the filters. Returns 0 or -ENOMEM.
 */
int samples_want(struct samples *samples, const struct sample_batch *batch, size_t i, bool *ret);

/* The same for any event. */
int samples_want_any(struct samples *samples, const struct sample_batch *batch, size_t i,
		     bool *ret);

/* Whether the options select a process. */
bool samples_want_pid(const struct samples *samples, uint32_t pid);

/* The time that sample i of a batch covers. */
struct sample_cover samples_cover(struct samples *samples, const struct sample_batch *batch,
				  size_t i);

/* Whether the options select samples and blocks of a thread. Returns 0 or -ENOMEM. */
int samples_want_thread(struct samples *samples, uint32_t thread, bool *ret);

/*
 * Whether to make a profile of the heap: it was requested, or there is nothing else but events that
 * the program reported. Heap values have names of their own, by which they can be selected as
 * events.
 */
bool samples_are_heap(const struct samples *samples);

/*
 * Whether stacks of blocks end with a return address, as in older recordings that do not say how
 * they end. Others end with an address in the call.
 */
bool samples_heap_leaf_returns(const struct samples *samples);

/* Whether the functions in a stack depend on the time of the sample. Returns 0, 1 or -ENOMEM. */
int samples_is_timed(struct samples *samples, uint32_t stack);
void samples_fini(struct samples *samples);

#endif
