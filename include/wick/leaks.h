/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LEAKS_H
#define WICK_LEAKS_H

/*
 * leaks: what a recorded heap has lost, by the places that allocated it: what wick leaks
 * shows. Recordings are made by wick heap --leaks.
 *
 *	struct wick_leak leak = {.size = sizeof(leak)};
 *	struct wick_leaks *leaks;
 *
 *	if (wick_detect_leaks("app.wick", NULL, &leaks, &err) < 0)
 *		…
 *	for (i = 0; wick_leaks_get(leaks, i, &leak) == 0; i++)
 *		printf("%s: %llu bytes by %s\n", leak.class_name, …);
 *	wick_leaks_free(leaks);
 *
 * Structs begin with their size, as those of <wick/profile.h> do.
 *
 * Threads: any number may read the sums and the leaks. wick_leaks_stack() needs the object
 * alone. Different objects are independent. Nothing here is for signal handlers.
 */

#include <stddef.h>
#include <stdint.h>

#include <wick/error.h>
#include <wick/export.h>
#include <wick/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

struct wick_leaks;

/* What is told. NULL in place of it, and what is 0: as wick leaks does. */
struct wick_leak_options {
	size_t size;                          /* sizeof(struct wick_leak_options) */
	const struct wick_load_options *load; /* part of the time, of the stacks; symbols */
	double min_confidence;                /* 0 … 1: leave out what is less certain */
	uint64_t min_age_ns;                  /* leave out places whose oldest block is younger */
	const char *const *suppressions;      /* files with rules, NULL last; NULL: none */
	uint32_t all;                         /* 1: indirect and reachable blocks too */
};

/*
 * Looks for leaks in a recording. The caller releases *ret with wick_leaks_free(). On failure
 * *ret is untouched. A recording without allocations is -EINVAL, one without a leak scan is
 * not: see struct wick_leaks_info. "-" is standard input.
 */
WICK_API int wick_detect_leaks(const char *path, const struct wick_leak_options *options,
			       struct wick_leaks **ret, struct wick_error *err);
WICK_API void wick_leaks_free(struct wick_leaks *leaks); /* NULL is fine */

enum wick_leak_class {
	WICK_LEAK_DEFINITE = 0,  /* nothing points to it */
	WICK_LEAK_INDIRECT = 1,  /* only lost blocks lead to it */
	WICK_LEAK_PROBABLE = 2,  /* only what is no longer in use points to it */
	WICK_LEAK_POSSIBLE = 3,  /* pointers lead into it, none to where it begins */
	WICK_LEAK_REACHABLE = 4, /* the program can still get there */
	WICK_LEAK_GROWTH = 5,    /* its place grows without bound, and it is of no class above it */
	WICK_LEAK_UNSCANNED = 6, /* not freed, and nobody looked who points to it */
};

struct wick_leak_amount {
	uint64_t bytes;
	uint64_t blocks;
};

/* Sums of all places, also of those that are not asked for. */
struct wick_leaks_info {
	size_t size;       /* sizeof(struct wick_leaks_info) */
	const char *title; /* belongs to the leaks */
	uint64_t duration_ns;
	struct wick_leak_amount definite;
	struct wick_leak_amount indirect;
	struct wick_leak_amount probable;
	struct wick_leak_amount possible;
	struct wick_leak_amount reachable;
	struct wick_leak_amount growth;
	struct wick_leak_amount unscanned;
	struct wick_leak_amount suppressed; /* by rules; in none of the above */
	struct wick_leak_amount left_out;   /* by min_confidence and min_age_ns; the same */
	uint64_t lost_bytes;                /* definite and probable, with what they lead to */
	uint64_t growing;                   /* places that grow without bound, of any class */
	uint64_t double_frees;              /* blocks that were freed twice */
	uint64_t foreign_frees;             /* frees of what no allocator gave */
	uint32_t scanned;                   /* 0: there is no scan, classes are not known */
};

WICK_API int wick_leaks_describe(const struct wick_leaks *leaks, struct wick_leaks_info *ret,
				 struct wick_error *err);

/* Blocks of one class that one place allocated. Texts belong to the leaks, "": not known. */
struct wick_leak {
	size_t size;            /* sizeof(struct wick_leak) */
	uint32_t leak_class;    /* enum wick_leak_class; new ones may come */
	uint32_t line;          /* 0: not known */
	const char *class_name; /* "definite" … */
	double confidence;      /* 0 … 1, that it is a leak */
	const char *method;     /* how it was found: "scan at exit" */
	const char *evidence;   /* why: one or more, with "; " between them */
	const char *advice;     /* what to do about such leaks: sentences */
	uint64_t bytes;
	uint64_t blocks;
	uint64_t indirect_bytes; /* what they lead to */
	uint64_t indirect_blocks;
	uint64_t age_ns;      /* of the oldest, at the scan or at the end */
	uint64_t first_ns;    /* when they were allocated, since the recording began */
	uint64_t last_ns;     /* the last of them */
	const char *function; /* that allocated, malloc() and the like passed over */
	const char *file;
	const char *module;
	size_t stack_count;
};

/* The surest class first, then the largest. */
WICK_API size_t wick_leaks_count(const struct wick_leaks *leaks);
/* 0; -ENOENT past the last one. */
WICK_API int wick_leaks_get(const struct wick_leaks *leaks, size_t i, struct wick_leak *ret);

struct wick_leak_stack {
	size_t size; /* sizeof(struct wick_leak_stack) */
	uint64_t bytes;
	uint64_t blocks;
	const struct wick_profile_frame *frames; /* the root first; valid until the next stack */
	size_t frame_count;
};

/* The stacks of leak i, the largest first. 0; -ENOENT past the last one; -ENOMEM. */
WICK_API int wick_leaks_stack(struct wick_leaks *leaks, size_t i, size_t stack,
			      struct wick_leak_stack *ret);

#ifdef __cplusplus
}
#endif

#endif
