/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_LOADER_H
#define WICK_LOAD_LOADER_H

/*
 * loader: shared by the files that turn a recording into a profile (load.h). Private to them.
 *
 *	load.c          stacks, sums and the facts of the profile
 *	load_heap.c     sums of the heap's stacks
 *	load_order.c    single samples, in time order
 *	load_places.c   turns addresses into locations with names
 *	load_samples.c  single samples, in a second pass over the file
 *	load_tracks.c   data over time other than samples
 *	load_values.c   the value types, from the events of the recording
 *	live_profile.c  stacks of a running engine, without a recording
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/file/cache_dir.h"
#include "base/vec.h"
#include "load/load_quality.h"
#include "load/names/function_files.h"
#include "load/samples/samples.h"
#include "model/profile.h"
#include "symbol/debug_file.h"

struct dictionary;
struct error;
struct load_options;
struct stack_filter;
struct symboliser;

/* The location that a frame of the recording became, for each way to look it up. */
struct located {
	uint32_t exact;  /* the address itself: a leaf */
	uint32_t caller; /* the instruction before it: a return address */
};

/* The nodes that a stack node of the recording became. */
struct rebuilt {
	uint32_t leaf;   /* node in the profile if the sample ends here */
	uint32_t caller; /* node in the profile if more frames follow */
};

struct loader {
	const struct load_options *options;
	const struct dictionary *dictionary;
	struct samples samples;
	struct symbol_search search; /* additional places to search for files */
	struct symboliser *symboliser;
	struct profile *profile;
	VEC(struct located) located;
	VEC(struct rebuilt) rebuilt;
	VEC(uint32_t) path; /* scratch space of loader_rebuild() */
	VEC(uint32_t) threads;
	VEC(uint32_t) labels;           /* by label set of the recording: the set of the profile */
	VEC(bool) kernel_frames;        /* by frame of the recording */
	VEC(struct load_judged) judged; /* by location */
	/*
	 * Each node of the recording becomes a separate node, so a stack can be added without
	 * searching for it first. This ends when two frames become one location.
	 */
	bool one_to_one;
	bool may_be_cut; /* a frame says that some stack was cut before its root */
	bool adopted;    /* nodes of the recording and of the profile have the same ids */
	VEC(struct profile_gap) gaps; /* by module id, plus one for addresses in no module */
	/* By value type of the profile: its event, or one of LOADER_… */
	uint32_t sources[PROFILE_MAX_VALUES];
	uint32_t *heap_stacks; /* by heap site: its stack in the profile; ID_NONE: filtered out */
	uint32_t *pool_stacks; /* the same for pools */
	struct heap_misuse_stacks *heap_misuses; /* by group */
	struct function_files homes;
	struct cache_dir cache;
	struct cache_dir tables; /* of symbols; closed: they are in memory */
};

#define LOADER_SAMPLES (UINT32_MAX - 1) /* the number of samples */
#define LOADER_HEAP (UINT32_MAX - 2)    /* a value of heap blocks, which samples do not have */

/*
 * The location of a frame: of its address if exact, else of the call before it. ID_NONE if out of
 * memory.
 */
uint32_t loader_locate(struct loader *loader, uint32_t frame, bool exact);

/*
 * Removes from a location the functions that repeat the function before them, on the stack or in
 * the location: *location becomes another one with fewer functions. Returns 1, 0 if no function is
 * left, or -ENOMEM.
 */
int loader_collapse(struct loader *loader, uint32_t above, uint32_t *location);

/*
 * The stack in the profile for a node of the recording. It starts from the nearest ancestor that is
 * already done, and does not recurse, so stacks may be deep. Returns 0 or -ENOMEM.
 */
int loader_rebuild(struct loader *loader, uint32_t node, uint32_t *ret);

/* The same at the time of a sample. `exact` is that of loader_locate(), for the last frame. */
int loader_rebuild_at(struct loader *loader, uint32_t node, bool exact, uint64_t time_ns,
		      uint32_t *ret);

/*
 * Whether loader_rebuild() of a node takes little time; if not, it is being prepared, and waited
 * for until the deadline (0: not at all).
 */
bool loader_is_ready(struct loader *loader, uint32_t node, uint64_t deadline_ns);

/* The thread in the profile. Returns 0 or -ENOMEM. */
int loader_thread(struct loader *loader, uint32_t id, uint32_t *ret);

/*
 * Creates the profile with its value types from the samples that were read. Returns 0 or -ENOMEM.
 */
int loader_make_profile(struct loader *loader);

/* Whether the profile has heap values in addition to those of samples. */
bool loader_has_heap_beside(const struct loader *loader);

/* The values of a sum of samples. */
void loader_values(const struct loader *loader, size_t sum, int64_t *values);

/* Lists the value types of a heap, and which is the main one. Returns how many there are. */
uint32_t loader_list_heap(struct loader *loader, struct value_type *types, uint32_t *ret_main);

/*
 * Adds the sums of the heap's stacks, and maps the results of leak scans to stacks and threads of
 * the profile. Leaves out what the filter excludes. Returns 0 or -ENOMEM.
 */
int loader_add_heap(struct loader *loader, struct stack_filter *filter);

/*
 * Adds the same sums as separate values beside those of samples. Leaves out misuses and leaks,
 * which only heap views show.
 */
int loader_add_heap_beside(struct loader *loader, struct stack_filter *filter);

/* Adds the lifetimes of blocks, for a heap whose stacks are known. Returns 0 or -ENOMEM. */
int loader_add_spans(struct loader *loader);

/* Adds levels over time, with load_options.tracks. Returns 0 or -ENOMEM. */
int loader_add_levels(struct loader *loader);

/* Adds the samples one by one, except those that are filtered out. Returns 0 or -ENOMEM. */
int loader_add_order(struct loader *loader, struct stack_filter *filter);

/* Creates the symboliser according to the options. */
int loader_open_symbols(struct loader *loader, struct error *err);

/* Makes room for new entries of the dictionary. Returns 0 or -ENOMEM. */
int loader_grow(struct loader *loader);

/* Reads the samples; loader_describe() then fills in the description of the profile. */
int loader_prepare(struct loader *loader, struct error *err);
void loader_describe(struct loader *loader);
void loader_fini(struct loader *loader);

#endif
