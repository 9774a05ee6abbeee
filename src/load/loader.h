/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_LOADER_H
#define WICK_LOAD_LOADER_H

/*
 * loader: what the parts share that make a profile of a recording (load.h). Only for them.
 *
 *	load.c          stacks, sums and what the profile says about itself
 *	load_heap.c     what the heap's stacks come to
 *	load_order.c    the samples one by one, in the order of time
 *	load_places.c   from addresses to locations with names
 *	load_samples.c  single samples, in a second reading of the file
 *	load_tracks.c   what there was over time besides samples
 *	load_values.c   the value types, from the events of the recording
 *	live_profile.c  stacks of an engine that still samples: no recording at all
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/file/cache_dir.h"
#include "base/vec.h"
#include "load/load_quality.h"
#include "load/names/function_homes.h"
#include "load/samples/samples.h"
#include "model/profile.h"
#include "symbol/debug_file.h"

struct dictionary;
struct error;
struct load_options;
struct stack_filter;
struct symboliser;

/* What a frame of the recording became: a location, for each way to look it up. */
struct located {
	uint32_t exact;  /* the address itself: a leaf */
	uint32_t caller; /* the instruction before it: a return address */
};

/* What a stack node of the recording became. */
struct rebuilt {
	uint32_t leaf;   /* node in the profile, when the sample ends here */
	uint32_t caller; /* when more frames follow */
};

struct loader {
	const struct load_options *options;
	const struct dictionary *dictionary;
	struct samples samples;
	struct symbol_search search; /* where files are looked for besides */
	struct symboliser *symboliser;
	struct profile *profile;
	VEC(struct located) located;
	VEC(struct rebuilt) rebuilt;
	VEC(uint32_t) path; /* scratch of loader_rebuild() */
	VEC(uint32_t) threads;
	VEC(uint32_t) labels;           /* by set of the recording: that of the profile */
	VEC(bool) kernel_frames;        /* by frame of the recording */
	VEC(struct load_judged) judged; /* by location */
	/*
	 * Each node of the recording becomes one of its own: a stack need not be looked
	 * for before it is added. Not so once two frames have become one location.
	 */
	bool one_to_one;
	bool may_be_cut; /* a stack before its root: a frame says so */
	bool adopted;    /* nodes of the recording and of the profile have the same ids */
	VEC(struct profile_gap) gaps; /* by module id, and one more for addresses in none */
	/* By value type of the profile: the event it is of, or one of LOADER_… */
	uint32_t sources[PROFILE_MAX_VALUES];
	uint32_t *heap_stacks; /* by site of the heap: of the profile; ID_NONE: not wanted */
	uint32_t *pool_stacks; /* the same of its pools */
	struct heap_misuse_stacks *heap_misuses; /* by group */
	struct function_homes homes;
	struct cache_dir cache;
};

#define LOADER_SAMPLES (UINT32_MAX - 1) /* how many there were */
#define LOADER_HEAP (UINT32_MAX - 2)    /* of blocks: samples have none of it */

/* The location of a frame: of its address, or of the call before it. ID_NONE without memory. */
uint32_t loader_locate(struct loader *loader, uint32_t frame, bool exact);

/*
 * Leaves out of a location what continues the function before it, on the stack or in the
 * location: it becomes another one with fewer functions. 1, 0 when none is left, or -ENOMEM.
 */
int loader_collapse(struct loader *loader, uint32_t above, uint32_t *location);

/*
 * The stack of the profile for a node of the recording. Goes on from the first ancestor
 * that is done, so that a deep stack needs no deep recursion. 0 or -ENOMEM.
 */
int loader_rebuild(struct loader *loader, uint32_t node, uint32_t *ret);

/* The same at the time of a sample. exact: as of loader_locate(), of its last frame. */
int loader_rebuild_at(struct loader *loader, uint32_t node, bool exact, uint64_t time_ns,
		      uint32_t *ret);

/* The thread of the profile. 0 or -ENOMEM. */
int loader_thread(struct loader *loader, uint32_t id, uint32_t *ret);

/* Makes the profile with its value types, of the samples that were read. 0 or -ENOMEM. */
int loader_make_profile(struct loader *loader);

/* Whether values of a heap come beside those of samples. */
bool loader_has_heap_beside(const struct loader *loader);

/* The values of a sum of samples. */
void loader_values(const struct loader *loader, size_t sum, int64_t *values);

/* The value types of a heap, and which is the main one. Returns how many there are. */
uint32_t loader_list_heap(struct loader *loader, struct value_type *types, uint32_t *ret_main);

/*
 * Adds what the heap's stacks come to, and gives what leak scans found the stacks and threads of
 * the profile, without those that are filtered out. 0 or -ENOMEM.
 */
int loader_add_heap(struct loader *loader, struct stack_filter *filter);

/*
 * Adds the same as values of their own beside those of samples, without what only a view of the
 * heap has: misuses and leaks.
 */
int loader_add_heap_beside(struct loader *loader, struct stack_filter *filter);

/* Adds what blocks were live from when to when, of a heap whose stacks are known. 0 or -ENOMEM. */
int loader_add_spans(struct loader *loader);

/* Adds what levels are known over time, with load_options.tracks. 0 or -ENOMEM. */
int loader_add_levels(struct loader *loader);

/* Adds the samples one by one, without those that are filtered out. 0 or -ENOMEM. */
int loader_add_order(struct loader *loader, struct stack_filter *filter);

/* Makes the symboliser, as the options want it. */
int loader_open_symbols(struct loader *loader, struct error *err);

/* Makes room for what has come into the dictionary since. 0 or -ENOMEM. */
int loader_grow(struct loader *loader);

/* Reads the samples; loader_describe() completes what the profile tells of itself. */
int loader_prepare(struct loader *loader, struct error *err);
void loader_describe(struct loader *loader);
void loader_fini(struct loader *loader);

#endif
