/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_LOAD_H
#define WICK_LOAD_LOAD_H

/*
 * load: from a recording to a profile: read, filter, symbolise.
 *
 * Samples are folded into their stacks while they are read, so memory follows
 * the unique stacks. Filters of time, process and thread act on samples; those
 * of names act on the stacks once they have names.
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

/* Told of a file that was cut off or is damaged, once it was read; optional. */
typedef void load_damaged_fn(void *self, const char *path, const struct recording_damage *damage);

struct load_options {
	load_damaged_fn *damaged;
	void *damaged_self;
	const char *event;    /* NULL: the one that was sampled */
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
	const char *const *alloc_fns; /* the same: functions that allocate for others */
	size_t alloc_fn_count;
	uint64_t from_ns; /* since the start of the recording */
	uint64_t to_ns;
	enum symbol_detail symbols;
	bool inlines; /* else: no more than lines */
	bool kernel;
	bool short_names;
	bool collapse_recursion; /* a function that calls itself directly is one frame */
	bool demangle;
	bool heap;             /* of the heap, where there is one, whatever else there is */
	uint64_t heap_step_ns; /* of its timeline; 0: what the recording asks for, or the next */
	uint64_t heap_usual_step_ns; /* 0: HEAP_STEP_NS */
	bool heap_addresses;         /* also what comes of addresses: see heap_config */
	bool slices;                 /* fill profile->moments */
	bool order;                  /* fill profile->time.samples; not with slices */
	/* Fill profile->time; of a heap beside samples with values, entries and slices of it. */
	bool tracks;
	bool told; /* load_samples: what the program told as well, unless an event is asked for */
	const char *const *symbol_paths;
	size_t symbol_path_count;
	bool symbol_cache;                           /* keep answers on disk, and use those kept */
	const struct importer_ops *const *importers; /* besides ours, NULL last; NULL: none */
	const struct symbol_search *fetch; /* brings debug files; optional, see debug_file.h */
	const struct name_source *const *sources; /* of names, NULL last; NULL: files alone */
};

void load_tell_damage(const struct load_options *options, const char *path,
		      const struct recording_damage *damage);

/* clang-format off */
#define LOAD_OPTIONS_DEFAULT                                                                       \
	{.to_ns = UINT64_MAX, .symbols = SYMBOLS_INLINES, .inlines = true, .kernel = true,         \
	 .demangle = true}
/* clang-format on */

/*
 * Reads path ("-": standard input). The caller releases *ret with
 * profile_free(). Damage of the file is no failure: see profile->quality.
 */
int load_profile(const char *path, const struct load_options *options, struct profile **ret,
		 struct error *err);

/* The same from a descriptor, which it takes over; name is what messages call it. */
int load_profile_fd(int fd, const char *name, const struct load_options *options,
		    struct profile **ret, struct error *err);

/*
 * What is known of the heap in a recording, whatever else is in it. The caller releases *ret
 * with heap_profile_fini(). A recording without allocations is -EINVAL, with words.
 */
int load_heap(const char *path, const struct load_options *options, struct heap_profile *ret,
	      struct error *err);

/*
 * Called for each sample, and once more without one (NULL) when all were there. A
 * negative return value ends the reading with that code.
 */
typedef int load_sample_fn(void *self, const struct profile *profile,
			   const struct export_sample *sample, struct error *err);

/*
 * Hands out the samples of path one by one, with names, in the order of the file.
 * Reads it twice: the names of the kernel's functions stand at its end. Memory
 * follows the unique stacks.
 */
int load_samples(const char *path, const struct load_options *options, load_sample_fn *fn,
		 void *self, struct error *err);

#endif
