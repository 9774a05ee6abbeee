/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/lock_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_index.h"
#include "base/path.h"
#include "model/call_tree.h"
#include "model/lock_label.h"
#include "model/profile.h"
#include "view/report/report_text.h"

/* The frame between the stack of a sleeper and that of its waker, see engine/ebpf/wakers.h. */
#define WOKEN_BY "[woken by]"

struct maker {
	const struct profile *profile;
	struct lock_rows *rows;
	uint32_t value;
	uint32_t samples;       /* the value type; ID_NONE: none */
	struct id_index index;  /* rows by the string id of the lock */
	VEC(uint32_t) row_lock; /* by row: that id */
	VEC(uint32_t) frames;   /* functions of a stack, the leaf first; scratch */
};

void lock_rows_fini(struct lock_rows *rows)
{
	for (size_t i = 0; i < rows->items.count; i++) {
		vec_fini(&rows->items.items[i].waiters.list);
		vec_fini(&rows->items.items[i].wakers.list);
	}
	vec_fini(&rows->items);
}

static const char *name_of(const struct profile *profile, uint32_t function)
{
	return profile_text(profile, profile->functions.items[function].name);
}

static bool begins_with(const char *text, const char *const *beginnings)
{
	for (; *beginnings; beginnings++)
		if (strncmp(text, *beginnings, strlen(*beginnings)) == 0)
			return true;
	return false;
}

/* Whether a function implements locks, rather than using them. */
static bool is_of_locks(const struct profile *profile, uint32_t function)
{
	static const char *const modules[] = {"libc.so",  "libc-",    "libpthread",
					      "ld-linux", "ld-musl",  "libstdc++",
					      "libc++",   "libgcc_s", NULL};
	static const char *const names[] = {"std::",      "__gthread",    "pthread_", "__pthread_",
					    "___pthread", "__GI___pthre", "__lll_",   "__futex",
					    "__new_sem",  "futex_wait",   NULL};
	const struct profile_function *item = &profile->functions.items[function];

	return item->origin == ORIGIN_TRUNCATED ||
	       begins_with(path_base_name(profile_text(profile, item->module)), modules) ||
	       begins_with(profile_text(profile, item->name), names);
}

static bool is_kernel(const struct profile *profile, uint32_t function)
{
	return profile->functions.items[function].origin == ORIGIN_KERNEL;
}

/* The functions of a stack, the leaf first. 0 or -ENOMEM. */
static int list_frames(struct maker *maker, uint32_t stack)
{
	const struct profile *profile = maker->profile;
	const struct stack_node *nodes = profile->stacks.nodes.items;

	maker->frames.count = 0;
	for (uint32_t node = stack; node != 0; node = nodes[node].parent) {
		const struct profile_location *location =
			&profile->locations.items[nodes[node].frame];

		for (uint32_t i = location->line_count; i-- > 0;)
			if (vec_push(&maker->frames,
				     profile->lines.items[location->first_line + i].function) < 0)
				return -ENOMEM;
	}
	return 0;
}

/* Finds the function outside the lock implementation in frames [first, end), leaf first. */
static void find_party(const struct maker *maker, size_t first, size_t end, struct lock_party *ret)
{
	const struct profile *profile = maker->profile;
	const uint32_t *frames = maker->frames.items;
	size_t at;

	while (first < end && is_kernel(profile, frames[first]))
		first++;
	for (at = first; at < end && is_of_locks(profile, frames[at]); at++)
		;
	ret->function = ret->call = "";
	if (at == end && at > first)
		at--; /* only library frames: use the outermost */
	if (at < end)
		ret->function = name_of(profile, frames[at]);
	if (at < end && at > first)
		ret->call = name_of(profile, frames[at - 1]);
}

static bool is_same(const struct lock_party *a, const struct lock_party *b)
{
	return strcmp(a->function, b->function) == 0 && strcmp(a->call, b->call) == 0 &&
	       a->thread_bytes == b->thread_bytes &&
	       strncmp(a->thread, b->thread, a->thread_bytes) == 0;
}

static int add_party(struct lock_parties *parties, const struct lock_party *party)
{
	for (size_t i = 0; i < parties->list.count; i++) {
		struct lock_party *known = &parties->list.items[i];

		if (is_same(known, party)) {
			known->total += party->total;
			known->waits += party->waits;
			return 0;
		}
	}
	return vec_push(&parties->list, *party);
}

/* "worker/1234" without the id. */
static uint32_t name_bytes(const char *thread)
{
	const char *slash = strrchr(thread, '/');

	return (uint32_t)(slash ? (size_t)(slash - thread) : strlen(thread));
}

static int add_parties(struct maker *maker, struct lock_row *row, const struct profile_entry *entry,
		       int64_t total, uint64_t waits)
{
	const struct profile *profile = maker->profile;
	const char *thread = profile_text(profile, profile->threads.items[entry->thread].comm);
	struct lock_party party = {.thread = thread,
				   .thread_bytes = (uint32_t)strlen(thread),
				   .total = total,
				   .waits = waits};
	size_t mark = 0;
	int r = list_frames(maker, entry->stack);

	if (r < 0)
		return r;
	while (mark < maker->frames.count &&
	       strcmp(name_of(profile, maker->frames.items[mark]), WOKEN_BY) != 0)
		mark++;
	if (mark == maker->frames.count) {
		find_party(maker, 0, mark, &party);
		return add_party(&row->waiters, &party);
	}
	find_party(maker, mark + 1, maker->frames.count, &party);
	r = add_party(&row->waiters, &party);
	if (r < 0 || mark == 0)
		return r;
	party.thread = name_of(profile, maker->frames.items[mark - 1]);
	party.thread_bytes = name_bytes(party.thread);
	find_party(maker, 0, mark - 1, &party);
	maker->rows->has_wakers = true;
	return add_party(&row->wakers, &party);
}

/* The row of a lock, created if missing. NULL: out of memory. */
static struct lock_row *find_row(struct maker *maker, uint32_t lock, uint32_t name)
{
	uint64_t hash = hash_pair(lock, 0);
	struct id_probe probe = id_index_probe(&maker->index, hash);
	struct lock_row row = {.lock = profile_text(maker->profile, lock), .name = ""};
	uint32_t id;

	while ((id = id_probe_next(&maker->index, &probe)) != ID_NONE)
		if (maker->row_lock.items[id] == lock)
			return &maker->rows->items.items[id];
	if (name != ID_NONE)
		row.name = profile_text(maker->profile, name);
	id = (uint32_t)maker->rows->items.count;
	if (vec_push(&maker->row_lock, lock) < 0 || vec_push(&maker->rows->items, row) < 0 ||
	    id_index_add(&maker->index, hash, id) < 0)
		return NULL;
	return &maker->rows->items.items[id];
}

/* The string id of the value of a label; ID_NONE: none in the set. */
static uint32_t value_of(const struct profile *profile, uint32_t set, const char *key)
{
	struct label_set labels = profile->labels.sets.items[set];

	for (uint32_t i = labels.first; i < labels.first + labels.count; i++)
		if (strcmp(profile_text(profile, profile->labels.pairs.items[i].key), key) == 0)
			return profile->labels.pairs.items[i].value;
	return ID_NONE;
}

static int add_entry(struct maker *maker, size_t at)
{
	const struct profile *profile = maker->profile;
	const struct profile_entry *entry = &profile->entries.items[at];
	const int64_t *values = profile_entry_values(profile, at);
	uint32_t lock = value_of(profile, entry->labels, LOCK_LABEL);
	int64_t total = values[maker->value];
	uint64_t waits = maker->samples == ID_NONE ? 0 : (uint64_t)values[maker->samples];
	struct lock_row *row;

	if (lock == ID_NONE)
		return 0;
	row = find_row(maker, lock, value_of(profile, entry->labels, LOCK_NAME_LABEL));
	if (!row)
		return -ENOMEM;
	row->total += total;
	row->waits += waits;
	if (maker->value == profile->main_value && entry->labels < profile->time.longest.count &&
	    profile->time.longest.items[entry->labels] > row->longest)
		row->longest = profile->time.longest.items[entry->labels];
	maker->rows->total += total;
	maker->rows->waits += waits;
	return add_parties(maker, row, entry, total, waits);
}

static int compare_rows(const void *a, const void *b)
{
	const struct lock_row *x = a;
	const struct lock_row *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(x->lock, y->lock);
}

static int compare_waits(const void *a, const void *b)
{
	const struct lock_row *x = a;
	const struct lock_row *y = b;

	if (x->waits != y->waits)
		return x->waits < y->waits ? 1 : -1;
	return compare_rows(a, b);
}

void lock_rows_sort_by_waits(struct lock_rows *rows)
{
	if (rows->items.count > 1)
		qsort(rows->items.items, rows->items.count, sizeof(struct lock_row), compare_waits);
}

static int compare_parties(const void *a, const void *b)
{
	const struct lock_party *x = a;
	const struct lock_party *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(x->function, y->function);
}

static void sort_parties(struct lock_parties *parties)
{
	if (parties->list.count > 1)
		qsort(parties->list.items, parties->list.count, sizeof(struct lock_party),
		      compare_parties);
}

int lock_rows_make(const struct profile *profile, uint32_t value, struct lock_rows *ret)
{
	struct maker maker = {.profile = profile,
			      .rows = ret,
			      .value = value,
			      .samples = call_tree_samples_value(profile)};
	int r = 0;

	*ret = (struct lock_rows){0};
	for (size_t i = 0; i < profile->entries.count && r == 0; i++)
		if (profile->entries.items[i].labels != 0)
			r = add_entry(&maker, i);
	for (size_t i = 0; i < ret->items.count; i++) {
		sort_parties(&ret->items.items[i].waiters);
		sort_parties(&ret->items.items[i].wakers);
	}
	if (ret->items.count > 1)
		qsort(ret->items.items, ret->items.count, sizeof(struct lock_row), compare_rows);
	id_index_fini(&maker.index);
	vec_fini(&maker.row_lock);
	vec_fini(&maker.frames);
	return r;
}
