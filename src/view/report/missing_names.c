/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report/missing_names.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/scope.h"
#include "base/text.h"
#include "model/profile.h"
#include "symbol/symbol_hint.h"
#include "view/report/analyser.h"

/* A module needs at least one in this many samples without a symbol for a warning. */
#define WORTH_A_WARNING 100

struct gap {
	const struct profile_gap *gap;
	struct symbol_want want;
};

static int compare_gaps(const void *a, const void *b)
{
	const struct profile_gap *x = ((const struct gap *)a)->gap;
	const struct profile_gap *y = ((const struct gap *)b)->gap;

	if (x->unnamed != y->unnamed)
		return x->unnamed < y->unnamed ? 1 : -1;
	if (x->unlined != y->unlined)
		return x->unlined < y->unlined ? 1 : -1;
	return x->module < y->module ? -1 : x->module > y->module;
}

static const char *problem_of(const struct profile *profile, const struct profile_gap *gap)
{
	return profile_text(profile, gap->problem);
}

static void put_help(const struct gap *gap, struct bytes *out)
{
	if (gap->gap->curable)
		symbol_hint_put(out, &gap->want);
}

static void put_json(const struct profile *profile, const struct gap *gaps, size_t count,
		     struct bytes *out)
{
	const struct profile_quality *quality = &profile->quality;
	struct bytes help = {0};
	struct json json;

	json_init(&json, out, true);
	json_open_object(&json, NULL);
	json_u64(&json, "samples", quality->samples);
	json_u64(&json, "resolved", quality->resolved);
	json_u64(&json, "name_only", quality->name_only);
	json_u64(&json, "unsymbolised", quality->unsymbolised);
	json_open_array(&json, "modules");
	for (size_t i = 0; i < count; i++) {
		bytes_clear(&help);
		put_help(&gaps[i], &help);
		bytes_put_u8(&help, 0);
		json_open_object(&json, NULL);
		json_string(&json, "module", gaps[i].want.module);
		json_string(&json, "build_id",
			    gaps[i].want.build_id[0] ? gaps[i].want.build_id : NULL);
		json_u64(&json, "unnamed", gaps[i].gap->unnamed);
		json_u64(&json, "name_only", gaps[i].gap->unlined);
		json_string(&json, "problem", problem_of(profile, gaps[i].gap));
		json_string(&json, "help",
			    !help.failed && help.size > 1 ? (const char *)help.data : NULL);
		json_close(&json);
	}
	json_close(&json);
	json_close(&json);
	bytes_fini(&help);
}

static void put_gap(const struct profile *profile, const struct gap *gap, struct bytes *out)
{
	int64_t samples = (int64_t)profile->quality.samples;
	size_t start;
	size_t indented;

	bytes_printf(out, "%8s %8s  ", quantity_share((int64_t)gap->gap->unnamed, samples).text,
		     quantity_share((int64_t)gap->gap->unlined, samples).text);
	text_put_terminal(out, gap->want.module[0] ? gap->want.module : "[no module]");
	bytes_printf(out, "\n                     %s\n", problem_of(profile, gap->gap));
	start = out->size;
	bytes_printf(out, "                     ");
	indented = out->size;
	put_help(gap, out);
	if (out->size == indented)
		out->size = start; /* nothing would help */
	else
		bytes_put_u8(out, '\n');
}

static void put_text(const struct profile *profile, const struct gap *gaps, size_t count,
		     struct bytes *out)
{
	const struct profile_quality *quality = &profile->quality;
	int64_t samples = (int64_t)quality->samples;

	bytes_printf(out,
		     "%s samples: %s with function and line, %s with a name only, %s unknown\n",
		     quantity_count(quality->samples).text,
		     quantity_share((int64_t)quality->resolved, samples).text,
		     quantity_share((int64_t)quality->name_only, samples).text,
		     quantity_share((int64_t)quality->unsymbolised, samples).text);
	if (count > 0)
		bytes_printf(out, "\n%8s %8s  module\n", "no name", "no line");
	for (size_t i = 0; i < count; i++)
		put_gap(profile, &gaps[i], out);
}

int missing_names_write(const struct profile *profile, bool json, struct bytes *out)
{
	size_t count = profile->gaps.count;
	SCOPED(mem) struct gap *gaps = calloc(count + 1, sizeof(*gaps));
	SCOPED(mem) struct symbol_want *wants = calloc(count + 1, sizeof(*wants));

	if (!gaps || !wants)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct profile_gap *gap = &profile->gaps.items[i];

		wants[i].module = profile_text(profile, gap->module);
		wants[i].build_id = profile_text(profile, gap->build_id);
		wants[i].is_lost = gap->is_lost;
	}
	symbol_hint_packages(wants, count);
	for (size_t i = 0; i < count; i++)
		gaps[i] = (struct gap){&profile->gaps.items[i], wants[i]};
	qsort(gaps, count, sizeof(*gaps), compare_gaps);
	if (json)
		put_json(profile, gaps, count, out);
	else
		put_text(profile, gaps, count, out);
	return out->failed ? -ENOMEM : 0;
}

int missing_names_find(const struct profile *profile, struct findings *findings, struct error *err)
{
	struct bytes text = {0};
	int r = 0;

	for (size_t i = 0; i < profile->gaps.count && r == 0; i++) {
		const struct profile_gap *gap = &profile->gaps.items[i];
		const char *module = profile_text(profile, gap->module);

		if (gap->unnamed * WORTH_A_WARNING < profile->quality.samples || gap->unnamed == 0)
			continue;
		bytes_clear(&text);
		bytes_printf(
			&text, "%s: %s (%s of the samples have no name)",
			*module ? module : "[no module]", problem_of(profile, gap),
			quantity_share((int64_t)gap->unnamed, (int64_t)profile->quality.samples)
				.text);
		bytes_put_u8(&text, 0);
		r = text.failed ? -ENOMEM
				: findings_add(findings, FINDING_WARNING, (const char *)text.data);
	}
	bytes_fini(&text);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

void missing_names_put_warnings(const struct profile *profile, struct bytes *out)
{
	struct findings findings = {0};

	/* If memory runs out, the rest is not reported. */
	(void)analyser_run(analyser_find("missing"), profile, &findings, NULL);
	for (size_t i = 0; i < findings.items.count; i++) {
		bytes_printf(out, "wick: ");
		text_put_terminal(out, findings.items.items[i].text);
		bytes_put_u8(out, '\n');
	}
	findings_fini(&findings);
}
