/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/leak/leak_scans.h"

#include <stdbool.h>
#include <string.h>

void leak_scans_fini(struct leak_scans *scans)
{
	for (size_t i = 0; i < scans->items.count; i++)
		vec_fini(&scans->items.items[i].groups);
	vec_fini(&scans->items);
}

/* Parts have the head of the scan. */
static bool is_same(const struct leak_scan *a, const struct leak_scan *b)
{
	return a->process == b->process && a->time_ns == b->time_ns && a->trigger == b->trigger;
}

/* Makes room for this many more groups. */
static void drop_oldest(struct leak_scans *scans, size_t more)
{
	while (scans->bare + 1 < scans->items.count &&
	       scans->group_count + more > LEAK_SCANS_MAX_GROUPS) {
		struct leak_scan_kept *oldest = &scans->items.items[scans->bare++];

		scans->group_count -= oldest->groups.count;
		vec_fini(&oldest->groups);
		oldest->scan.groups = NULL;
		oldest->scan.group_count = 0;
	}
}

/* The scan that a part belongs to, a new one for the first part; NULL: no space. */
static struct leak_scan_kept *find(struct leak_scans *scans, const struct leak_scan *scan)
{
	struct leak_scan_kept *items = scans->items.items;
	struct leak_scan_kept new_one = {.scan = *scan};

	if (scans->items.count > 0 && is_same(&items[scans->items.count - 1].scan, scan))
		return &items[scans->items.count - 1];
	new_one.scan.groups = NULL;
	new_one.scan.group_count = 0;
	if (vec_push(&scans->items, new_one) < 0)
		return NULL;
	return &scans->items.items[scans->items.count - 1];
}

int leak_scans_add(struct leak_scans *scans, const struct leak_scan *scan)
{
	size_t room = LEAK_SCANS_MAX_GROUPS;
	struct leak_scan_kept *kept;
	size_t n;

	if (scans->items.count == LEAK_SCANS_MAX) {
		scans->left_out++;
		return 0;
	}
	kept = find(scans, scan);
	if (!kept)
		return -ENOMEM;
	drop_oldest(scans, scan->group_count);
	room -= kept->groups.count < room ? kept->groups.count : room;
	n = scan->group_count < room ? scan->group_count : room;
	if (n > 0 && vec_reserve(&kept->groups, kept->groups.count + n) < 0)
		return -ENOMEM;
	if (n > 0)
		memcpy(kept->groups.items + kept->groups.count, scan->groups,
		       n * sizeof(*scan->groups));
	kept->groups.count += n;
	scans->group_count += n;
	kept->scan.groups = kept->groups.items;
	kept->scan.group_count = kept->groups.count;
	return 0;
}

static uint64_t add_bounded(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

void leak_scan_sums(const struct leak_scan *scan, struct leak_sum ret[LEAK_CLASSES])
{
	memset(ret, 0, LEAK_CLASSES * sizeof(*ret));
	for (size_t i = 0; i < scan->group_count; i++) {
		const struct leak_group *group = &scan->groups[i];
		struct leak_sum *sum = &ret[group->leak_class];
		uint64_t bytes;

		if (__builtin_mul_overflow(group->size_bytes, group->blocks, &bytes))
			bytes = UINT64_MAX; /* in a forged file */
		sum->blocks = add_bounded(sum->blocks, group->blocks);
		sum->bytes = add_bounded(sum->bytes, bytes);
	}
}
