/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_PROFILE_H
#define WICK_MODEL_PROFILE_H

/*
 * profile: what views and exporters see: weighted stacks with names.
 *
 *	entry      (stack, thread, state, labels) and its values
 *	stack      node of a tree of locations, root first
 *	location   one code address: the function it is in and those inlined there
 *	function   name, file, module
 *
 * Equal objects have equal ids everywhere. The arrays may be read directly; only the functions
 * below change them. One thread at a time.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "model/label_sets.h"
#include "model/profile_sources.h"
#include "model/profile_time.h"
#include "model/stack_tree.h"
#include "model/strings.h"

#define PROFILE_MAX_VALUES 20

struct value_type {
	const char *name; /* "samples", "cpu", "alloc" … */
	const char *unit; /* "count", "nanoseconds", "bytes" */
};

enum function_origin {
	ORIGIN_PROGRAM = 0, /* the executable itself */
	ORIGIN_LIBRARY = 1,
	ORIGIN_KERNEL = 2,
	ORIGIN_JIT = 3,
	ORIGIN_UNKNOWN = 4,     /* no symbol: module+0xoffset, or an address in no module */
	ORIGIN_TRUNCATED = 5,   /* the pseudo frame [truncated]: at the root or in a gap */
	ORIGIN_INTERPRETED = 6, /* a call that an interpreter reports: Python, Ruby */
};

struct profile_function {
	uint32_t name;   /* string ids */
	uint32_t file;   /* where it begins; "" when unknown */
	uint32_t module; /* path, "[kernel]", "[vdso]", "" */
	uint32_t origin; /* enum function_origin */
};

struct profile_line {
	uint32_t function;
	uint32_t line; /* 0: unknown */
	uint32_t file; /* string id; 0: the file of the function, which is the usual case */
};

/* lines[first_line .. +line_count) from the outermost function to the innermost inlined one. */
struct profile_location {
	uint32_t first_line;
	uint32_t line_count;
	uint32_t module; /* string id */
	uint64_t vaddr;
};

struct profile_thread {
	uint32_t pid;
	uint32_t tid;
	uint32_t comm, process_comm; /* string ids; the second is that of its process */
};

struct profile_entry {
	uint32_t stack;
	uint32_t thread;
	uint32_t state;  /* string id of what the thread was doing; 0: unknown */
	uint32_t labels; /* label set with what else is known about it; 0: none */
};

/* What is known about a module besides its path. */
struct profile_module {
	uint32_t path;            /* string id */
	uint32_t real_path;       /* 0: the same; see module_key.h */
	struct build_id build_id; /* size 0: unknown, or several under one path */
};

/* What threads were doing: "sleeping", "on CPU" …; values are in state_values. */
struct profile_state {
	uint32_t name; /* string id; "": unknown */
};

/* What a reader needs to judge the numbers. Counts are of samples. */
struct profile_quality {
	uint64_t in_file;        /* samples or allocations in the file, before any filter */
	uint64_t samples;        /* in this profile, after filters */
	uint64_t lost;           /* known not to be in the file */
	uint64_t unreadable;     /* in damaged or missing parts of the file */
	uint64_t truncated;      /* stacks that were cut before their root */
	uint64_t resolved;       /* leaf frame has function and line */
	uint64_t name_only;      /* leaf frame has a function, but no line */
	uint64_t unsymbolised;   /* leaf frame has no name: with the next two */
	uint64_t corrupted;      /* because its file is invalid */
	uint64_t invalid;        /* because the address is in no module */
	uint64_t damaged_chunks; /* unusable parts of the file */
	bool incomplete;         /* the file has no end mark: truncated, or still being written */
};

/* A module with samples whose leaf has no name or no line. Texts are string ids. */
struct profile_gap {
	uint32_t module;   /* "" for addresses in no module */
	uint32_t build_id; /* in hex; "" without one */
	uint32_t problem;  /* what is missing */
	bool curable;      /* something would help: a debug file, a runtime flag … */
	bool is_lost;      /* the file that ran is gone, or another is in its place */
	uint64_t unnamed;  /* samples without a name */
	uint64_t unlined;  /* with a name only */
};

/* Levels that a process reported, such as a queue length. Texts are string ids. */
struct profile_gauge {
	uint32_t name;
	uint32_t unit;
	uint32_t process_comm;
	uint32_t pid;
	uint64_t times; /* how often it was reported */
	int64_t last;
	int64_t lowest;
	int64_t highest;
	double mean; /* of the reported values */
};

/* A fact about the recording, or taken from it. String ids. */
struct profile_fact {
	uint32_t key;
	uint32_t value;
};

struct profile {
	struct strings strings;
	VEC(struct profile_function) functions;
	VEC(struct profile_line) lines;
	VEC(struct profile_location) locations;
	VEC(struct profile_thread) threads;
	VEC(struct profile_module) modules;
	struct stack_tree stacks; /* frame = location id */
	struct label_sets labels; /* texts are ids of strings */

	struct value_type value_types[PROFILE_MAX_VALUES];
	uint32_t value_count;
	uint32_t main_value; /* the one that views show by default: widths, sorting */
	VEC(struct profile_entry) entries;
	VEC(int64_t) values; /* value_count for each entry */
	VEC(struct profile_state) states;
	VEC(int64_t) state_values;          /* value_count for each state */
	VEC(struct profile_moment) moments; /* the entries by time; only on request */
	struct profile_time time;           /* what else there was, likewise */

	const char *title;     /* what was profiled; a text of strings */
	const char *why_empty; /* why there are no samples, if known; else NULL */
	uint64_t start_realtime_ns;
	uint64_t duration_ns;
	uint64_t recorded_ns; /* without gaps; 0: no gaps */
	uint64_t period_ns;   /* nominal distance between samples; 0: none */
	uint64_t slice_ns;    /* length of a slice of moments */
	struct profile_quality quality;
	VEC(struct profile_gap) gaps;   /* in no order */
	VEC(struct profile_fact) facts; /* a key may occur several times */
	VEC(struct profile_gauge) gauges;
	struct profile_sources sources;

	/* private */
	struct id_index function_index;
	struct id_index location_index;
	struct id_index thread_index;
	struct id_index entry_index;
};

/* The names of value types are borrowed for the profile's life. */
int profile_new(const struct value_type *types, uint32_t count, struct profile **ret);
void profile_free(struct profile *profile); /* NULL is fine */

/* The recorded time, without gaps. */
uint64_t profile_recorded_ns(const struct profile *profile);

static inline void scope_release_profile(struct profile **profile)
{
	profile_free(*profile);
}

/* The string id of the file that a line is in. */
static inline uint32_t profile_line_file(const struct profile *profile, struct profile_line line)
{
	return line.file ? line.file : profile->functions.items[line.function].file;
}

/* Each returns an id, created when missing; ID_NONE if out of memory. */
uint32_t profile_function(struct profile *profile, const char *name, const char *file,
			  const char *module, enum function_origin origin);
uint32_t profile_function_of(struct profile *profile, const struct profile_function *key);
/* The id of a function that may be missing: then ID_NONE. Prefetch what it reads first. */
uint32_t profile_find_function(const struct profile *profile, const struct profile_function *key);
void profile_prefetch_function(const struct profile *profile, const struct profile_function *key);
uint32_t profile_location(struct profile *profile, const char *module, uint64_t vaddr,
			  const struct profile_line *lines, uint32_t line_count);
uint32_t profile_location_of(struct profile *profile, struct profile_location key,
			     const struct profile_line *lines);
uint32_t profile_thread(struct profile *profile, uint32_t pid, uint32_t tid, const char *comm,
			const char *process_comm);

/* Sets the build id of a path. 0 or -ENOMEM. */
int profile_module(struct profile *profile, const char *path, const struct build_id *build_id);
/* What is known about the module of a path (a string id), or NULL. */
const struct profile_module *profile_find_module(const struct profile *profile, uint32_t path);

/*
 * Adds values (value_count of them) to the entry (stack, thread) without a state; sums saturate at
 * the ends of int64_t. 0 or -ENOMEM.
 */
int profile_add(struct profile *profile, uint32_t stack, uint32_t thread, const int64_t *values);
/* The same for an entry with a state, whose sums profile_add_state() keeps. */
int profile_add_entry(struct profile *profile, struct profile_entry key, const int64_t *values);

/* Removes all entries and their sums; names, stacks and threads stay. */
void profile_clear_entries(struct profile *profile);

/* Adds values to those of a state, or a fact. 0 or -ENOMEM. */
int profile_add_state(struct profile *profile, const char *name, const int64_t *values);
int profile_add_fact(struct profile *profile, const char *key, const char *value);

/* Whether a location is the pseudo frame at the root of a truncated stack. */
static inline bool profile_is_truncated(const struct profile *profile, uint32_t location)
{
	uint32_t line = profile->locations.items[location].first_line;
	uint32_t function = profile->lines.items[line].function;

	return profile->functions.items[function].origin == ORIGIN_TRUNCATED;
}

/* The text of a string id. */
static inline const char *profile_text(const struct profile *profile, uint32_t id)
{
	return strings_get(&profile->strings, id);
}

static inline const int64_t *profile_entry_values(const struct profile *profile, size_t entry)
{
	return profile->values.items + entry * profile->value_count;
}

#endif
