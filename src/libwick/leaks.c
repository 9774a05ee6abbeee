/* SPDX-License-Identifier: BSD-2-Clause */
#include <wick/leaks.h>

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/leak/leak_confidence.h"
#include "heap/leak/suppressions.h"
#include "heap/report.h"
#include "libwick/frames.h"
#include "libwick/profile_handle.h"
#include "libwick/public_error.h"
#include "libwick/sized_struct.h"
#include "model/profile.h"
#include "symbol/demangle.h"
#include "view/heap/leak_report.h"

_Static_assert((int)WICK_LEAK_DEFINITE == (int)LEAK_DEFINITE &&
		       (int)WICK_LEAK_INDIRECT == (int)LEAK_INDIRECT &&
		       (int)WICK_LEAK_PROBABLE == (int)LEAK_PROBABLE &&
		       (int)WICK_LEAK_POSSIBLE == (int)LEAK_POSSIBLE &&
		       (int)WICK_LEAK_REACHABLE == (int)LEAK_REACHABLE &&
		       (int)WICK_LEAK_GROWTH == (int)LEAK_GROWTH &&
		       (int)WICK_LEAK_UNSCANNED == (int)LEAK_UNSCANNED,
	       "public and internal classes must match");

struct shown {
	const struct leak_row *row;
	const char *evidence; /* of the arena */
};

struct wick_leaks {
	struct heap_profile heap;
	struct leak_rows rows;
	struct leak_verdict verdict;
	struct arena texts;
	VEC(struct shown) shown;
	struct frame_list frames; /* of the last requested stack */
};

struct telling {
	struct bytes text;
	const char *between;
};

static void tell(void *self, const char *words)
{
	struct telling *telling = self;

	bytes_printf(&telling->text, "%s%s", telling->between, words);
	telling->between = "; ";
}

static const struct leak_scan *scan_of(const struct wick_leaks *leaks, const struct leak_row *row)
{
	return row->scan == LEAK_NO_SCAN ? NULL : &leaks->heap.leaks.items.items[row->scan].scan;
}

static int add_shown(struct wick_leaks *leaks, const struct leak_row *row)
{
	struct telling telling = {.between = ""};
	struct shown shown = {.row = row};

	leak_evidence_words(row, scan_of(leaks, row), tell, &telling);
	if (!telling.text.failed)
		shown.evidence = arena_strndup(&leaks->texts, (const char *)telling.text.data,
					       telling.text.size);
	bytes_fini(&telling.text);
	return shown.evidence ? vec_push(&leaks->shown, shown) : -ENOMEM;
}

static int read_rules(const struct wick_leak_options *asked, struct suppressions *rules,
		      struct error *err)
{
	const char *const *path = asked->suppressions;
	int r = 0;

	for (; path && *path && r == 0; path++)
		r = suppressions_read(rules, *path, demangle, err);
	return r;
}

/* Finds the leaks in the heap, and applies the rules. */
static int find(struct wick_leaks *leaks, const struct wick_leak_options *asked,
		const struct suppressions *rules)
{
	struct leak_filter filter = {rules, asked->min_confidence, asked->min_age_ns};
	size_t i;
	int r = leak_rows_init(&leaks->heap, &filter, &leaks->rows);

	for (i = 0; r == 0 && i < leaks->rows.items.count; i++)
		if (asked->all || leak_row_is_shown(&leaks->rows.items.items[i]))
			r = add_shown(leaks, &leaks->rows.items.items[i]);
	if (r == 0)
		leak_report_judge(&leaks->rows, &leaks->verdict);
	return r;
}

static int detect(struct wick_leaks *leaks, const char *path,
		  const struct wick_leak_options *options, struct error *err)
{
	struct wick_leak_options asked;
	struct suppressions rules = {0};
	struct load_request request;
	int r = sized_take(&asked, sizeof(asked), options, "wick_leak_options", err);

	if (r == 0 && !(asked.min_confidence >= 0 && asked.min_confidence <= 1))
		r = error_advise(
			err,
			error_set(err, -ERANGE, "confidence %g is out of range",
				  asked.min_confidence),
			"use 0 to 1: 0.9 leaves out less certain leaks, 0 leaves out none");
	if (r == 0)
		r = load_request_init(&request, asked.load, err);
	if (r == 0)
		r = read_rules(&asked, &rules, err);
	if (r == 0)
		r = load_heap(path, &request.options, &leaks->heap, err);
	if (r == 0 && find(leaks, &asked, &rules) < 0)
		r = error_set(err, -ENOMEM, "no memory for the leaks of %s", path);
	suppressions_fini(&rules);
	return r;
}

int wick_detect_leaks(const char *path, const struct wick_leak_options *options,
		      struct wick_leaks **ret, struct wick_error *err)
{
	struct wick_leaks *leaks;
	struct error inner = {0};
	int r = need(path, "the path", &inner);

	if (r == 0)
		r = need(ret, "ret", &inner);
	if (r < 0)
		return public_error(&inner, err);
	leaks = calloc(1, sizeof(*leaks));
	if (!leaks)
		return public_error(&(struct error){-ENOMEM, "no memory for leaks", ""}, err);
	r = detect(leaks, path, options, &inner);
	if (r < 0) {
		wick_leaks_free(leaks);
		return public_error(&inner, err);
	}
	*ret = leaks;
	return 0;
}

void wick_leaks_free(struct wick_leaks *leaks)
{
	if (!leaks)
		return;
	frame_list_fini(&leaks->frames);
	vec_fini(&leaks->shown);
	arena_fini(&leaks->texts);
	leak_rows_fini(&leaks->rows);
	heap_profile_fini(&leaks->heap);
	free(leaks);
}

static struct wick_leak_amount amount_of(struct leak_amount amount)
{
	return (struct wick_leak_amount){amount.bytes, amount.blocks};
}

static struct wick_leaks_info info_of(const struct wick_leaks *leaks)
{
	const struct leak_amount *sums = leaks->rows.sums;
	const struct profile *profile = leaks->heap.profile;
	struct wick_leaks_info info = {
		.title = profile->title ? profile->title : "",
		.duration_ns = profile->duration_ns,
		.definite = amount_of(sums[LEAK_DEFINITE]),
		.indirect = amount_of(sums[LEAK_INDIRECT]),
		.probable = amount_of(sums[LEAK_PROBABLE]),
		.possible = amount_of(sums[LEAK_POSSIBLE]),
		.reachable = amount_of(sums[LEAK_REACHABLE]),
		.growth = amount_of(sums[LEAK_GROWTH]),
		.unscanned = amount_of(sums[LEAK_UNSCANNED]),
		.suppressed = amount_of(leaks->rows.suppressed),
		.left_out = amount_of(leaks->rows.filtered),
		.lost_bytes = leaks->verdict.lost_bytes,
		.growing = leaks->verdict.growing,
		.scanned = leaks->verdict.has_scan,
	};
	const struct heap_misuses *misuses = &heap_analysis_report(leaks->heap.analysis)->misuses;
	size_t i;

	for (i = 0; i < misuses->groups.count; i++) {
		const struct heap_misuse *group = &misuses->groups.items[i];

		if (group->kind == HEAP_DOUBLE_FREE)
			info.double_frees += group->count;
		else
			info.foreign_frees += group->count;
	}
	return info;
}

int wick_leaks_describe(const struct wick_leaks *leaks, struct wick_leaks_info *ret,
			struct wick_error *err)
{
	struct wick_leaks_info info;
	struct error why = {0};

	if (need(leaks, "leaks", &why) < 0)
		return public_error(&why, err);
	info = info_of(leaks);
	if (sized_hand_out(ret, &info, sizeof(info), "wick_leaks_info", &why) < 0)
		return public_error(&why, err);
	return 0;
}

size_t wick_leaks_count(const struct wick_leaks *leaks)
{
	return leaks ? leaks->shown.count : 0;
}

int wick_leaks_get(const struct wick_leaks *leaks, size_t i, struct wick_leak *ret)
{
	const struct profile *profile;
	const struct profile_function *function;
	const struct leak_row *row;
	const struct leak_key *key;
	struct wick_leak leak = {0};

	if (!leaks)
		return -EINVAL;
	if (i >= leaks->shown.count)
		return -ENOENT;
	profile = leaks->heap.profile;
	row = leaks->shown.items[i].row;
	key = &leaks->rows.keys.items[row->key];
	function = &profile->functions.items[key->function];
	leak.leak_class = row->kind;
	leak.line = key->line;
	leak.class_name = leak_kind_name(row->kind);
	leak.confidence = row->confidence;
	leak.method = leak_method(row, scan_of(leaks, row));
	leak.evidence = leaks->shown.items[i].evidence;
	leak.advice = leak_advice(row);
	leak.bytes = row->bytes;
	leak.blocks = row->blocks;
	leak.indirect_bytes = row->led_bytes;
	leak.indirect_blocks = row->led_blocks;
	leak.age_ns = row->age_ns;
	leak.first_ns = row->first_ns;
	leak.last_ns = row->last_ns;
	leak.function = profile_text(profile, function->name);
	leak.file = profile_text(profile, key->file);
	leak.module = profile_text(profile, function->module);
	leak.stack_count = row->stack_count;
	return sized_hand_out(ret, &leak, sizeof(leak), "wick_leak", NULL);
}

int wick_leaks_stack(struct wick_leaks *leaks, size_t i, size_t stack, struct wick_leak_stack *ret)
{
	const struct leak_row_stack *at;
	struct wick_leak_stack found = {0};
	int r;

	if (!leaks)
		return -EINVAL;
	if (i >= leaks->shown.count || stack >= leaks->shown.items[i].row->stack_count)
		return -ENOENT;
	at = &leaks->rows.stacks.items[leaks->shown.items[i].row->first_stack + stack];
	r = frame_list_fill(&leaks->frames, leaks->heap.profile, at->stack);
	if (r < 0)
		return r;
	found.bytes = at->bytes;
	found.blocks = at->blocks;
	found.frames = leaks->frames.items.items;
	found.frame_count = leaks->frames.items.count;
	return sized_hand_out(ret, &found, sizeof(found), "wick_leak_stack", NULL);
}
