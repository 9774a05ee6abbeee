/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_LEAK_SCANS_H
#define WICK_HEAP_LEAK_LEAK_SCANS_H

/*
 * leak_scans: the leak scans of a recording, in the order of the file.
 *
 * Parts of a scan are merged. Memory is bounded: when the scans have more than
 * LEAK_SCANS_MAX_GROUPS groups in total, the oldest keep only their heads.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "model/leak.h"

#define LEAK_SCANS_MAX_GROUPS (1u << 20)
/* About one per second for a day. */
#define LEAK_SCANS_MAX (100000u)

struct leak_scan_kept {
	/* Numbers as in leak.h; its groups point to `groups` below. */
	struct leak_scan scan;
	VEC(struct leak_group) groups;
	uint32_t pid;
	const char *comm; /* of the process; borrowed */
};

/* Starts as zeros. */
struct leak_scans {
	VEC(struct leak_scan_kept) items;
	size_t group_count; /* in total */
	size_t bare;        /* number of first scans that lost their groups to the limit */
	uint64_t left_out;  /* scans beyond LEAK_SCANS_MAX */
};

void leak_scans_fini(struct leak_scans *scans);

/* Adds a scan, or a part of the last one. 0 or -ENOMEM. */
int leak_scans_add(struct leak_scans *scans, const struct leak_scan *scan);

/* The sum of a class in a scan. */
struct leak_sum {
	uint64_t blocks;
	uint64_t bytes;
};

/* Adds up the groups of a scan by class. */
void leak_scan_sums(const struct leak_scan *scan, struct leak_sum ret[LEAK_CLASSES]);

#endif
