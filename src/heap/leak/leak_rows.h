/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_LEAK_ROWS_H
#define WICK_HEAP_LEAK_LEAK_ROWS_H

/*
 * leak_rows: the leaks of a heap, by allocation site.
 *
 * Blocks of one class form one row if their stacks have the same allocating line, skipping
 * allocators (allocators.h), and the same three next callers: functions further out show who needed
 * the memory, but seldom who lost it. A stack that was truncated before these, for example because
 * a library had just been loaded, belongs to the row whose first callers match its own, if there is
 * exactly one. The last scan of each process counts. Blocks of processes without a scan that were
 * not freed at the end are reported as unscanned.
 *
 * Rows that grow without bound and are not lost according to another class have the kind
 * LEAK_GROWTH.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "heap/timeline/growth.h"
#include "model/leak.h"

struct heap_profile;
struct suppressions;

/* The classes of a scan, and the kinds that need no scan. */
enum leak_kind { LEAK_GROWTH = LEAK_CLASSES, LEAK_UNSCANNED, LEAK_KINDS };

#define LEAK_CALLERS 3u
#define LEAK_NO_SCAN UINT32_MAX

struct leak_row {
	uint32_t kind;     /* enum leak_class or enum leak_kind */
	bool is_lifetime;  /* allocated in the first fifth of the run, and reachable */
	bool is_freed;     /* for LEAK_GROWTH: all or most of it was freed when the program ended */
	uint32_t evidence; /* bits of enum leak_evidence */
	uint32_t scan;     /* index in the heap profile, or LEAK_NO_SCAN */
	double confidence; /* 0 … 1, that it is a leak */
	double kept_share; /* 0 … 1, share of the unfreed blocks that no lost call can have freed */
	uint64_t lost_calls;
	uint64_t blocks;
	uint64_t bytes;
	uint64_t led_blocks; /* indirect blocks that they point to */
	uint64_t led_bytes;
	uint64_t first_ns; /* time of the first allocation, since the start of the recording */
	uint64_t last_ns;
	uint64_t age_ns; /* of the oldest block, at the scan or at the end */
	uint32_t key;    /* index in leak_rows.keys */
	uint32_t thread; /* thread of the profile with the largest part, or ID_NONE */
	uint32_t first_stack;
	uint32_t stack_count;
	struct growth growth;
};

/* One stack of a row. */
struct leak_row_stack {
	uint32_t row;   /* private, for sorting */
	uint32_t stack; /* of the profile */
	uint64_t blocks;
	uint64_t bytes;
};

/* What the stacks of a row have in common. */
struct leak_key {
	uint32_t function;
	uint32_t file;                  /* string id */
	uint32_t line;                  /* 0: unknown */
	uint32_t callers[LEAK_CALLERS]; /* functions; ID_NONE: none */
	uint32_t certain; /* number of callers that all stacks have; some stacks were truncated */
};

struct leak_amount {
	uint64_t blocks;
	uint64_t bytes;
};

struct leak_rows {
	VEC(struct leak_row) items;        /* certain leaks first, then the largest */
	VEC(struct leak_row_stack) stacks; /* by row, largest first */
	VEC(struct leak_key) keys;
	VEC(struct leak_amount) rules; /* by rule: what it suppressed */
	struct leak_amount sums[LEAK_KINDS];
	struct leak_amount lifetime; /* part of sums[LEAK_REACHABLE] */
	struct leak_amount led;      /* indirect blocks of rows that are not suppressed */
	struct leak_amount suppressed;
	struct leak_amount filtered; /* by min_confidence and min_age_ns */
	uint64_t run_ns;             /* until the last scan, or the end */
	uint64_t lost_calls;         /* allocator calls that are not in the recording */
	bool has_scan;
	bool has_unscanned; /* some process was not scanned */
};

struct leak_filter {
	const struct suppressions *suppressions; /* optional */
	double min_confidence;
	uint64_t min_age_ns;
};

/* The caller releases *ret with leak_rows_fini(), even on failure. 0 or -ENOMEM. */
int leak_rows_init(const struct heap_profile *heap, const struct leak_filter *filter,
		   struct leak_rows *ret);
void leak_rows_fini(struct leak_rows *rows);

/* The name of an enum leak_class or enum leak_kind: "definite" … "growth", "unscanned". */
const char *leak_kind_name(uint32_t kind);

/* The same for a row; reachable blocks may also be "lifetime". */
const char *leak_row_class(const struct leak_row *row);

#endif
