/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_LEAK_ROWS_H
#define WICK_HEAP_LEAK_LEAK_ROWS_H

/*
 * leak_rows: what a heap has lost, by the places that allocated it.
 *
 * Blocks of one class are one row when their stacks agree in the line that allocates, allocators
 * passed over (allocators.h), and in the functions of its three next callers: what lies further
 * out says who needed it, and seldom who lost it. A stack that was cut off before these, as where
 * a library has just been loaded, belongs to the row whose first callers are its own, if there is
 * but one. Of each process its last scan counts. Of processes without a scan, what was not freed at
 * the end is told as not scanned.
 *
 * Rows that grow without bound and are not lost by another class are of the kind LEAK_GROWTH.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "heap/timeline/growth.h"
#include "model/leak.h"

struct heap_profile;
struct suppressions;

/* The classes of a scan, and what is known without one. */
enum leak_kind { LEAK_GROWTH = LEAK_CLASSES, LEAK_UNSCANNED, LEAK_KINDS };

#define LEAK_CALLERS 3u
#define LEAK_NO_SCAN UINT32_MAX

struct leak_row {
	uint32_t kind;     /* enum leak_class or enum leak_kind */
	bool is_lifetime;  /* allocated in the first fifth of the run, and reachable */
	bool is_freed;     /* of LEAK_GROWTH: all of it, or most, when the program ended */
	uint32_t evidence; /* bits of enum leak_evidence */
	uint32_t scan;     /* of the heap profile; LEAK_NO_SCAN */
	double confidence; /* 0 … 1, that it is a leak */
	double kept_share; /* 0 … 1, of what was not freed that no lost call can have freed */
	uint64_t lost_calls;
	uint64_t blocks;
	uint64_t bytes;
	uint64_t led_blocks; /* indirect ones that they lead to */
	uint64_t led_bytes;
	uint64_t first_ns; /* when they were allocated, since the recording began */
	uint64_t last_ns;
	uint64_t age_ns; /* of the oldest, at the scan or at the end */
	uint32_t key;    /* of leak_rows.keys */
	uint32_t thread; /* of the profile, of the largest part; ID_NONE */
	uint32_t first_stack;
	uint32_t stack_count;
	struct growth growth;
};

/* One stack of a row. */
struct leak_row_stack {
	uint32_t row;   /* private, while they are sorted */
	uint32_t stack; /* of the profile */
	uint64_t blocks;
	uint64_t bytes;
};

/* What stacks of a row agree in. */
struct leak_key {
	uint32_t function;
	uint32_t file;                  /* string id */
	uint32_t line;                  /* of the file; 0: not known */
	uint32_t callers[LEAK_CALLERS]; /* functions; ID_NONE: there is none */
	uint32_t certain;               /* callers that all stacks have: others were cut off */
};

struct leak_amount {
	uint64_t blocks;
	uint64_t bytes;
};

struct leak_rows {
	VEC(struct leak_row) items;        /* what is lost for certain first, then the largest */
	VEC(struct leak_row_stack) stacks; /* by row, the largest first */
	VEC(struct leak_key) keys;
	VEC(struct leak_amount) rules; /* by rule: what it suppressed */
	struct leak_amount sums[LEAK_KINDS];
	struct leak_amount lifetime; /* of sums[LEAK_REACHABLE] */
	struct leak_amount led;      /* indirect, by rows that are not suppressed */
	struct leak_amount suppressed;
	struct leak_amount filtered; /* by min_confidence and min_age_ns */
	uint64_t run_ns;             /* up to the last scan, or to the end */
	uint64_t lost_calls;         /* of the allocator, that are not in the recording */
	bool has_scan;
	bool has_unscanned; /* some process was not scanned */
};

struct leak_filter {
	const struct suppressions *suppressions; /* optional */
	double min_confidence;
	uint64_t min_age_ns;
};

/* The caller releases *ret with leak_rows_fini(), in any case. 0 or -ENOMEM. */
int leak_rows_init(const struct heap_profile *heap, const struct leak_filter *filter,
		   struct leak_rows *ret);
void leak_rows_fini(struct leak_rows *rows);

/* What an enum leak_class or enum leak_kind is called: "definite" … "growth", "unscanned". */
const char *leak_kind_name(uint32_t kind);

/* The same of a row; of reachable blocks also "lifetime". */
const char *leak_row_class(const struct leak_row *row);

#endif
