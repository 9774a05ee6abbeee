/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_LOAD_H
#define WICK_LOAD_LOAD_H

/*
 * load: turns a recording into a profile: reads, filters and symbolises it.
 *
 * Samples are folded into stacks while reading, so memory depends on the number of unique stacks.
 * Filters by time, process and thread apply to samples; filters by name apply to stacks after
 * symbolisation.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/symboliser.h"

struct error;
struct export_sample;
struct recording_damage;
struct heap_profile;
struct importer_ops;
struct name_source;
struct profile;

/* Called after reading a file that is cut off or damaged; optional. */
typedef void load_damaged_fn(void *self, const char *path, const struct recording_damage *damage);

struct load_options {
	load_damaged_fn *damaged;
	void *damaged_self;
	const char *event;    /* NULL: the main event */
	const uint64_t *pids; /* none: all */
	size_t pid_count;
	const uint64_t *tids;
	size_t tid_count;
	const char *const *comms;
	size_t comm_count;
	const char *const *labels; /* "KEY=VALUE", see label_filter.h */
	size_t label_count;
	const char *const *modules; /* paths or their last parts */
	size_t module_count;
	const char *const *only; /* regular expressions */
	size_t only_count;
	const char *const *ignore;
	size_t ignore_count;
	const char *const *alloc_fns; /* regular expressions: functions that allocate for others */
	size_t alloc_fn_count;
	uint64_t from_ns; /* since the start of the recording */
	uint64_t to_ns;
	enum symbol_detail symbols;
	bool inlines; /* false: at most lines */
	bool kernel;
	bool short_names;
	bool collapse_recursion; /* merge directly recursive calls into one frame */
	bool demangle;
	bool heap;             /* load the heap if there is one, even if there are samples */
	uint64_t heap_step_ns; /* step of its timeline; 0: that of the recording, or else the next
				  member */
	uint64_t heap_usual_step_ns; /* 0: HEAP_STEP_NS */
	bool heap_addresses;         /* also analyse addresses: see heap_config */
	bool slices;                 /* fill profile->moments */
	bool order;                  /* fill profile->time.samples; not with slices */
	/* Fill profile->time; for a heap beside samples also its values, entries and slices. */
	bool tracks;
	bool heap_sums; /* load_samples: the profile has the sums of the heap, if it is one */
	bool told;      /* load_samples: include events reported by the program, unless an event is
			   selected */
	const char *const *symbol_paths;
	size_t symbol_path_count;
	bool symbol_cache;   /* keep answers on disk, and use them */
	bool tables_on_disk; /* with symbol_cache: tables of symbols too, and not in memory */
	const struct importer_ops *const
		*importers;                /* in addition to ours, NULL last; NULL: none */
	const struct symbol_search *fetch; /* fetches debug files; optional, see debug_file.h */
	bool by_build_id; /* modules with one path are apart if their build ids differ */
	bool no_files;    /* open no file that the recording names: it comes from a stranger */
	const struct name_source *const *sources; /* of names, NULL last; NULL: files only */
};

void load_tell_damage(const struct load_options *options, const char *path,
		      const struct recording_damage *damage);

/* For the timeline of a page: live memory within a slice is computed from the ends of several. */
#define LOAD_PAGE_HEAP_STEP_NS 1250000u

/* clang-format off */
#define LOAD_OPTIONS_DEFAULT                                                                       \
	{.to_ns = UINT64_MAX, .symbols = SYMBOLS_INLINES, .inlines = true, .kernel = true,         \
	 .demangle = true}
/* clang-format on */

/*
 * Reads path ("-": standard input). The caller releases *ret with profile_free(). A damaged file is
 * not a failure: see profile->quality.
 */
int load_profile(const char *path, const struct load_options *options, struct profile **ret,
		 struct error *err);

/* The same from a descriptor, which it takes over; `name` is used in messages. */
int load_profile_fd(int fd, const char *name, const struct load_options *options,
		    struct profile **ret, struct error *err);

/*
 * Loads the heap of a recording, whatever else it has. The caller releases *ret with
 * heap_profile_fini(). Returns -EINVAL with a message if the recording has no allocations.
 */
int load_heap(const char *path, const struct load_options *options, struct heap_profile *ret,
	      struct error *err);

/*
 * Called for each sample, and once with NULL at the end. A negative result stops reading with that
 * code.
 */
typedef int load_sample_fn(void *self, const struct profile *profile,
			   const struct export_sample *sample, struct error *err);

/*
 * Passes the samples of path to fn one by one, with names, in file order. Reads a large file twice,
 * because the names of kernel functions are at its end. Memory depends on the number of unique
 * stacks.
 */
int load_samples(const char *path, const struct load_options *options, load_sample_fn *fn,
		 void *self, struct error *err);

/* The same from the descriptor of a recording, which it takes over; `name` is used in messages. */
int load_samples_fd(int fd, const char *name, const struct load_options *options,
		    load_sample_fn *fn, void *self, struct error *err);

#endif
