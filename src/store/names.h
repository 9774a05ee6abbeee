/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_NAMES_H
#define WICK_STORE_NAMES_H

/*
 * names: what the stacks of the store are made of, in memory.
 *
 *	stack      a node of a tree of locations, like in a profile
 *	location   a place in code: its function and line, and those inlined there
 *	function   name, file, module
 *
 * Ids are dense, and rows on disk refer to them: an id never changes. The id of a stack that is in
 * no row any more is used for a new stack. A location with a name is identified by that name and
 * not by its address, so that all addresses of a line are one location. A location without one is
 * identified by build id and address, and may be given a name later.
 *
 * What is new in memory is on disk after names_save() and the caller's commit. Until then the next
 * names_save() writes it again: a commit that failed needs no undoing.
 *
 * names_lookup.h adds the stacks of a profile. One thread changes names at a time, while nobody
 * reads.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/id_index.h"
#include "base/vec.h"
#include "model/profile.h"

struct database;
struct duckdb_connection;
struct error;
struct store_naming;

struct names_location {
	uint32_t first_line;
	uint32_t line_count;
	uint32_t module;   /* string ids */
	uint32_t build_id; /* in hex; "" (0): known by its name, not by an address */
	uint64_t vaddr;    /* with a build id */
	bool is_unnamed;   /* the line is a substitute: module+0xaddress */
};

struct names {
	struct profile *profile; /* only its strings, functions, lines and stacks are used */
	VEC(struct names_location) locations;
	struct id_index location_index;
	/* By stack: the last day whose rows have it; 0: none have. */
	VEC(uint16_t) used_days;
	size_t used_count;       /* stacks that rows have */
	VEC(uint64_t) free_bits; /* by stack: the id is free */
	struct bytes text;       /* for one text at a time */

	/* What is not on disk yet: */
	size_t saved_functions; /* number on disk: the later ones are new */
	size_t saved_locations;
	VEC(uint32_t) new_stacks;
	VEC(uint32_t) new_used; /* not yet in the table of calls */
	VEC(uint32_t) new_days; /* with another day */
};

int store_names_init(struct names *names); /* 0 or -ENOMEM */
void store_names_fini(struct names *names);

/* The id of a location, added when missing; ID_NONE if out of memory. */
uint32_t names_location(struct names *names, struct names_location key,
			const struct profile_line *lines);

/* The same without adding it: ID_NONE if there is none. */
uint32_t names_find_location(const struct names *names, const struct names_location *key,
			     const struct profile_line *lines);
/* Prefetches what that will read first. */
void names_prefetch_location(const struct names *names, const struct names_location *key,
			     const struct profile_line *lines);

/* The id of a stack, added when missing; ID_NONE if out of memory. */
uint32_t names_stack(struct names *names, uint32_t parent, uint32_t location);
/* Notes that rows of this day have a stack. 0 or -ENOMEM. */
int names_use_stack(struct names *names, uint32_t stack, uint16_t day);
/* For reading: the next id is free, because its stack was removed. 0 or -ENOMEM. */
int names_skip_stack(struct names *names);

/*
 * Marks stacks that no row of this day or later has, and whose callees are marked, up to limit. The
 * caller frees *ret. Returns how many, or -ENOMEM.
 */
int64_t names_find_unused(const struct names *names, uint16_t oldest_day, size_t limit, bool **ret);
/* Removes them; their ids are used again. */
void names_remove_stacks(struct names *names, const bool *is_gone);

/* The day of a time since 1970, as it is in used_days: from 1 on. */
static inline uint16_t names_day(uint64_t time_s)
{
	return (uint16_t)(time_s / 86400 + 1);
}

/* Makes a location that was added to the array findable. 0 or -ENOMEM. */
int names_index_location(struct names *names, uint32_t id);

/* Replaces the names of addresses; unknown ids are ignored. The changed ones are in ret. */
typedef VEC(uint32_t) names_ids;
int names_rename(struct names *names, const struct store_naming *namings, size_t count,
		 names_ids *ret);

/* Of functions whose names came late, by the path of their module. */
enum function_origin names_origin(const char *module);

/* The used stacks in which one of the locations is. */
int names_stacks_with(const struct names *names, const names_ids *locations, names_ids *ret);

/* Copies names to profiles, each once. Starts as zeros. */
struct names_copier {
	const struct names *names;
	struct profile *profile;
	VEC(uint32_t) functions; /* ids in the profile */
	VEC(uint32_t) locations;
	VEC(uint32_t) stacks;
	VEC(uint32_t) path;
	VEC(struct profile_line) lines;
};

/* The id of a stack in the profile, ID_NONE if out of memory. */
uint32_t names_copy_stack(struct names_copier *copier, uint32_t stack);
void names_copier_fini(struct names_copier *copier);

/* Whether a location is known by its address, which stays the same when it is given a name. */
static inline bool names_is_address(const struct names_location *location)
{
	return location->build_id != 0;
}

/* A text without what the database refuses: invalid UTF-8. Valid until scratch is used again. */
const char *names_clean(struct bytes *scratch, const char *text);

#endif
