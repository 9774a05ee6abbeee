/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LEAKS_H
#define WICK_LEAKS_H

/*
 * leaks: the leaks in a recorded heap, by allocation site, as wick leaks shows them. Record with
 * wick heap --leaks.
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
 * Structs begin with their size, as in <wick/profile.h>.
 *
 * Threads: any number of threads may read the sums and the leaks. wick_leaks_stack() needs
 * exclusive access to the object. Different objects are independent. Do not call these functions
 * from signal handlers.
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

/* What to report. NULL, and members that are 0, mean the defaults of wick leaks. */
struct wick_leak_options {
	size_t size;                          /* sizeof(struct wick_leak_options) */
	const struct wick_load_options *load; /* time range, stack filters and symbols */
	double min_confidence;                /* 0 … 1: leave out less certain leaks */
	uint64_t min_age_ns;                  /* leave out sites whose oldest block is younger */
	const char *const *suppressions;      /* files with rules, NULL last; NULL: none */
	uint32_t all;                         /* 1: indirect and reachable blocks too */
};

/*
 * Looks for leaks in a recording. The caller releases *ret with wick_leaks_free(). On failure *ret
 * is untouched. Returns -EINVAL if the recording has no allocations. A recording without a leak
 * scan is fine: see struct wick_leaks_info. The path "-" means standard input.
 */
WICK_API int wick_detect_leaks(const char *path, const struct wick_leak_options *options,
			       struct wick_leaks **ret, struct wick_error *err);
WICK_API void wick_leaks_free(struct wick_leaks *leaks); /* NULL is fine */

enum wick_leak_class {
	WICK_LEAK_DEFINITE = 0,  /* nothing points to it */
	WICK_LEAK_INDIRECT = 1,  /* only lost blocks point to it */
	WICK_LEAK_PROBABLE = 2,  /* only memory that is no longer in use points to it */
	WICK_LEAK_POSSIBLE = 3,  /* pointers point into it, but none to its start */
	WICK_LEAK_REACHABLE = 4, /* the program can still reach it */
	WICK_LEAK_GROWTH = 5,    /* its site grows without bound, and no class above applies */
	WICK_LEAK_UNSCANNED = 6, /* not freed, and pointers to it were not scanned */
};

struct wick_leak_amount {
	uint64_t bytes;
	uint64_t blocks;
};

/* Sums over all sites, including those that the options leave out. */
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
	struct wick_leak_amount left_out;   /* by min_confidence and min_age_ns; likewise */
	uint64_t lost_bytes;    /* definite and probable, with the blocks reachable from them */
	uint64_t growing;       /* sites that grow without bound, in any class */
	uint64_t double_frees;  /* blocks that were freed twice */
	uint64_t foreign_frees; /* frees of addresses that no allocator returned */
	uint32_t scanned;       /* 0: no scan, so classes are unknown */
};

WICK_API int wick_leaks_describe(const struct wick_leaks *leaks, struct wick_leaks_info *ret,
				 struct wick_error *err);

/* Blocks of one class that one site allocated. Texts belong to the leaks; "" means unknown. */
struct wick_leak {
	size_t size;            /* sizeof(struct wick_leak) */
	uint32_t leak_class;    /* enum wick_leak_class; new values may be added */
	uint32_t line;          /* 0: unknown */
	const char *class_name; /* "definite" … */
	double confidence;      /* 0 … 1, that it is a leak */
	const char *method;     /* how it was found: "scan at exit" */
	const char *evidence; /* why it counts as a leak: one or more reasons, separated by "; " */
	const char *advice;   /* what to do about such leaks: full sentences */
	uint64_t bytes;
	uint64_t blocks;
	uint64_t indirect_bytes; /* reachable only from them */
	uint64_t indirect_blocks;
	uint64_t age_ns;      /* age of the oldest block, at the scan or at the end */
	uint64_t first_ns;    /* when the first was allocated, since the recording began */
	uint64_t last_ns;     /* when the last was allocated */
	const char *function; /* that allocated, skipping malloc() and similar functions */
	const char *file;
	const char *module;
	size_t stack_count;
};

/* Sorted by class, most certain first, then by size. */
WICK_API size_t wick_leaks_count(const struct wick_leaks *leaks);
/* Returns 0, or -ENOENT past the last one. */
WICK_API int wick_leaks_get(const struct wick_leaks *leaks, size_t i, struct wick_leak *ret);

struct wick_leak_stack {
	size_t size; /* sizeof(struct wick_leak_stack) */
	uint64_t bytes;
	uint64_t blocks;
	const struct wick_profile_frame *frames; /* root first; valid until the next call */
	size_t frame_count;
};

/*
 * Stack number `stack` of leak i, largest first. Returns 0, -ENOENT past the last one, or -ENOMEM.
 */
WICK_API int wick_leaks_stack(struct wick_leaks *leaks, size_t i, size_t stack,
			      struct wick_leak_stack *ret);

#ifdef __cplusplus
}
#endif

#endif
