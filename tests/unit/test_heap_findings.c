/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/timeline/findings.h"

#include "heap_stream.h"

#define STEP_NS UINT64_C(100000000)
#define KIB UINT64_C(1024)

/* 10 steps at 100 KiB, one with a spike of 500 more, a climb to 300 KiB, 10 steps there. */
static void make(struct stream *stream)
{
	stream_open(stream, (struct heap_config){0});
	stream_alloc(stream, 0, 1, 0x1000, 100 * KIB, 1);
	stream_alloc(stream, 0, 5 * STEP_NS + 1, 0x2000, 500 * KIB, 2);
	stream_free(stream, 0, 5 * STEP_NS + 2, 0x2000);
	for (uint64_t i = 0; i < 4; i++) {
		stream_alloc(stream, 0, (10 + i) * STEP_NS, 0x3000 + 16 * i, 40 * KIB, 3);
		stream_alloc(stream, 0, (10 + i) * STEP_NS, 0x4000 + 16 * i, 10 * KIB, 4);
	}
	stream_alloc(stream, 0, 25 * STEP_NS, 0x5000, 1, 5);
}

static void what_stands_out_is_named_with_its_sites(void **state)
{
	struct stream stream;
	const struct heap_report *report;
	struct heap_findings findings;
	const struct heap_finding *found;

	make(&stream);
	report = stream_finish(&stream);
	assert_int_equal(heap_findings_make(report, NULL, &findings), 0);
	found = findings.items.items;
	assert_int_equal(findings.items.count, 5);
	assert_int_equal(found[0].kind, HEAP_STEP);
	assert_true(found[0].change_bytes == 100.0 * KIB);
	assert_int_equal(found[0].causes[0].group, site_of(report, 1));
	assert_int_equal(found[1].kind, HEAP_PLATEAU);
	assert_int_equal(found[1].cause_count, 0);
	assert_int_equal(found[1].to_ns, 10 * STEP_NS);
	assert_int_equal(found[2].kind, HEAP_SPIKE);
	assert_int_equal(found[2].from_ns, 5 * STEP_NS);
	assert_int_equal(found[2].to_ns, 6 * STEP_NS);
	assert_true(found[2].change_bytes == 500.0 * KIB);
	assert_int_equal(found[2].cause_count, 1);
	assert_int_equal(found[2].causes[0].group, site_of(report, 2));
	assert_int_equal(found[3].kind, HEAP_STEP);
	assert_int_equal(found[3].cause_count, 2);
	assert_int_equal(found[3].causes[0].group, site_of(report, 3));
	assert_true(found[3].causes[0].bytes == 160.0 * KIB);
	assert_int_equal(found[3].causes[1].group, site_of(report, 4));
	assert_int_equal(found[4].kind, HEAP_PLATEAU);
	heap_findings_fini(&findings);
	stream_close(&stream);
}

static void sites_of_a_group_explain_together(void **state)
{
	uint32_t of_site[5];
	struct heap_groups groups = {of_site, 2};
	struct stream stream;
	const struct heap_report *report;
	struct heap_findings findings;

	make(&stream);
	report = stream_finish(&stream);
	for (uint32_t i = 0; i < 5; i++)
		of_site[i] = ID_NONE;
	of_site[site_of(report, 3)] = of_site[site_of(report, 4)] = 1;
	assert_int_equal(heap_findings_make(report, &groups, &findings), 0);
	assert_int_equal(findings.items.items[0].cause_count, 0);
	assert_int_equal(findings.items.items[3].cause_count, 1);
	assert_int_equal(findings.items.items[3].causes[0].group, 1);
	assert_true(findings.items.items[3].causes[0].bytes == 200.0 * KIB);
	heap_findings_fini(&findings);
	stream_close(&stream);
}

struct expected {
	enum heap_finding_kind kind;
	double level_kib;
	double change_kib;
	uint32_t cause; /* stack of the first one; 0: none */
};

/* Compares all that was found, and ends the stream. */
static void expect(struct stream *stream, const struct expected *expected, size_t count)
{
	const struct heap_report *report = stream_finish(stream);
	struct heap_findings findings;

	assert_int_equal(heap_findings_make(report, NULL, &findings), 0);
	assert_int_equal(findings.items.count, count);
	for (size_t i = 0; i < count; i++) {
		const struct heap_finding *found = &findings.items.items[i];

		assert_int_equal(found->kind, expected[i].kind);
		assert_true(found->level_bytes == expected[i].level_kib * KIB);
		assert_true(found->change_bytes == expected[i].change_kib * KIB);
		assert_int_equal(found->cause_count > 0, expected[i].cause != 0);
		if (found->cause_count > 0)
			assert_int_equal(found->causes[0].group,
					 site_of(report, expected[i].cause));
	}
	heap_findings_fini(&findings);
	stream_close(stream);
}

/* Level at 100 KiB for 10 steps. */
static void begin_level(struct stream *stream)
{
	stream_open(stream, (struct heap_config){0});
	stream_alloc(stream, 0, 1, 0x1000, 100 * KIB, 1);
	stream_alloc(stream, 0, 9 * STEP_NS, 0x1100, 0, 1);
}

static const struct expected level[] = {{HEAP_STEP, 100, 100, 1}, {HEAP_PLATEAU, 100, 0, 0}};

static void a_spike_after_the_last_plateau_is_told(void **state)
{
	struct stream stream;

	begin_level(&stream);
	stream_alloc(&stream, 0, 10 * STEP_NS, 0x2000, 400 * KIB, 2);
	stream_alloc(&stream, 0, 11 * STEP_NS, 0x3000, 50 * KIB, 3);
	stream_free(&stream, 0, 12 * STEP_NS, 0x2000);
	stream_free(&stream, 0, 12 * STEP_NS, 0x3000);
	expect(&stream, (struct expected[]){level[0], level[1], {HEAP_SPIKE, 550, 450, 2}}, 3);
}

static void a_step_at_the_very_end_is_told(void **state)
{
	struct stream stream;

	begin_level(&stream);
	stream_free(&stream, 0, 10 * STEP_NS, 0x1000); /* as programs do that clean up */
	expect(&stream, (struct expected[]){level[0], level[1], {HEAP_STEP, 0, -100, 1}}, 3);
	begin_level(&stream);
	stream_alloc(&stream, 0, 10 * STEP_NS, 0x2000, 300 * KIB, 2);
	expect(&stream, (struct expected[]){level[0], level[1], {HEAP_STEP, 400, 300, 2}}, 3);
}

static void growth_that_goes_on_to_the_end_is_told(void **state)
{
	struct stream stream;

	begin_level(&stream);
	for (uint64_t i = 0; i < 12; i++)
		stream_alloc(&stream, 0, (10 + i) * STEP_NS, 0x2000 + 16 * i, 100 * KIB, 2);
	expect(&stream, (struct expected[]){level[0], level[1], {HEAP_GROWTH, 1300, 1200, 2}}, 3);
}

/* So much is added in each step from one to another, in the middle of it. */
static void grow(struct stream *stream, uint64_t from, uint64_t to, uint64_t bytes, uint32_t stack)
{
	for (uint64_t i = from; i < to; i++)
		stream_alloc(stream, 0, i * STEP_NS + STEP_NS / 2, 0x100000 + 16 * i, bytes, stack);
}

static void growth_at_a_constant_rate_has_no_stairs(void **state)
{
	struct stream stream;

	stream_open(&stream, (struct heap_config){0});
	grow(&stream, 0, 400, KIB, 2);
	expect(&stream, (struct expected[]){{HEAP_GROWTH, 400, 400, 2}}, 1);
}

/* Its last piece is small against the peak, and is no plateau for that. */
static void slow_growth_above_much_that_stays_has_no_stairs(void **state)
{
	struct stream stream;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, 0x1000, 4000 * KIB, 1);
	grow(&stream, 1, 400, KIB, 2);
	expect(&stream,
	       (struct expected[]){{HEAP_STEP, 4000, 4000, 1}, {HEAP_GROWTH, 4399, 399, 2}}, 2);
}

/* What comes and goes beside it makes none either. */
static void growth_under_noise_has_no_stairs(void **state)
{
	struct stream stream;

	stream_open(&stream, (struct heap_config){0});
	for (uint64_t i = 0; i < 400; i++) {
		if (i > 0)
			stream_free(&stream, 0, i * STEP_NS, 0x1000);
		stream_alloc(&stream, 0, i * STEP_NS + 1, 0x1000, (i * 7 % 11) * KIB, 1);
		stream_alloc(&stream, 0, i * STEP_NS + 2, 0x100000 + 16 * i, KIB, 2);
	}
	stream_free(&stream, 0, 400 * STEP_NS - 1, 0x1000);
	expect(&stream, (struct expected[]){{HEAP_GROWTH, 400, 400, 2}}, 1);
}

/* The way up is no part of the plateaus on its sides, and its sites explain all of it. */
static void a_short_way_between_plateaus_is_one_step(void **state)
{
	struct stream stream;
	struct heap_findings findings;
	const struct heap_finding *step;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, 0x1000, 900 * KIB, 1);
	grow(&stream, 500, 510, 10 * KIB, 2);
	stream_alloc(&stream, 0, 1000 * STEP_NS, 0x2000, 0, 1);
	assert_int_equal(heap_findings_make(stream_finish(&stream), NULL, &findings), 0);
	assert_int_equal(findings.items.count, 4);
	step = &findings.items.items[2];
	assert_int_equal(step->kind, HEAP_STEP);
	assert_true(step->change_bytes > 95.0 * KIB && step->change_bytes <= 100.0 * KIB);
	assert_int_equal(step->cause_count, 1);
	assert_true(step->causes[0].bytes >= 0.7 * step->change_bytes);
	heap_findings_fini(&findings);
	stream_close(&stream);
}

static void a_jump_within_slow_growth_is_a_step(void **state)
{
	struct stream stream;
	const struct heap_report *report;
	struct heap_findings findings;
	const struct heap_finding *found;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, 0x1000, 1000 * KIB, 1);
	grow(&stream, 1, 200, 64, 2);
	stream_alloc(&stream, 0, 200 * STEP_NS, 0x2000, 500 * KIB, 3);
	grow(&stream, 200, 400, 64, 2);
	report = stream_finish(&stream);
	assert_int_equal(heap_findings_make(report, NULL, &findings), 0);
	found = findings.items.items;
	assert_int_equal(findings.items.count, 4);
	assert_int_equal(found[1].kind, HEAP_PLATEAU);
	assert_int_equal(found[2].kind, HEAP_STEP);
	assert_int_equal(found[2].from_ns, 200 * STEP_NS);
	assert_int_equal(found[2].to_ns, 201 * STEP_NS);
	assert_int_equal(found[2].causes[0].group, site_of(report, 3));
	assert_int_equal(found[3].kind, HEAP_PLATEAU);
	heap_findings_fini(&findings);
	stream_close(&stream);
}

static void how_it_ends_is_told_however_much_came_before(void **state)
{
	struct stream stream;
	struct heap_findings findings;
	const struct heap_finding *last;

	stream_open(&stream, (struct heap_config){0});
	for (uint64_t i = 0; i < 22; i++) { /* up and down, level for 10 steps each */
		stream_alloc(&stream, 0, 20 * i * STEP_NS, 0x1000, 100 * KIB, 1);
		stream_free(&stream, 0, (20 * i + 10) * STEP_NS, 0x1000);
	}
	stream_alloc(&stream, 0, 440 * STEP_NS, 0x2000, 100 * KIB, 2);
	assert_int_equal(heap_findings_make(stream_finish(&stream), NULL, &findings), 0);
	assert_true(findings.items.count <= HEAP_FINDINGS_MAX);
	last = &findings.items.items[findings.items.count - 1];
	assert_int_equal(last->kind, HEAP_STEP);
	assert_true(last->to_ns == 441 * STEP_NS);
	heap_findings_fini(&findings);
	stream_close(&stream);
}

static void a_spike_before_the_first_plateau_is_told(void **state)
{
	struct stream stream;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, 0x2000, 400 * KIB, 2);
	stream_alloc(&stream, 0, STEP_NS, 0x1000, 100 * KIB, 1);
	stream_free(&stream, 0, 2 * STEP_NS, 0x2000);
	stream_alloc(&stream, 0, 9 * STEP_NS, 0x1100, 0, 1);
	expect(&stream,
	       (struct expected[]){{HEAP_SPIKE, 500, 400, 2},
				   {HEAP_STEP, 100, 100, 1},
				   {HEAP_PLATEAU, 100, 0, 0}},
	       3);
}

static void a_run_of_one_step_has_its_spike_and_what_it_leaves(void **state)
{
	struct stream stream;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, 0x1000, 100 * KIB, 1);
	stream_alloc(&stream, 0, 2, 0x2000, 400 * KIB, 2);
	stream_free(&stream, 0, 3, 0x2000);
	expect(&stream, (struct expected[]){{HEAP_SPIKE, 500, 400, 2}, {HEAP_STEP, 100, 100, 1}},
	       2);
}

/* At its end nothing of it is left to see. */
static void a_spike_within_a_step_is_explained_though_it_is_not_the_peak(void **state)
{
	struct stream stream;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, 0x1000, 100 * KIB, 1);
	stream_alloc(&stream, 0, 4 * STEP_NS + 1, 0x2000, 200 * KIB, 2);
	stream_free(&stream, 0, 4 * STEP_NS + 2, 0x2000);
	stream_alloc(&stream, 0, 7 * STEP_NS + 1, 0x3000, 300 * KIB, 3);
	stream_free(&stream, 0, 7 * STEP_NS + 2, 0x3000);
	stream_alloc(&stream, 0, 9 * STEP_NS, 0x1100, 0, 1);
	expect(&stream,
	       (struct expected[]){
		       level[0], level[1], {HEAP_SPIKE, 300, 200, 2}, {HEAP_SPIKE, 400, 300, 3}},
	       4);
}

static void sites_that_grow_are_told_with_their_slope(void **state)
{
	struct stream stream;
	const struct heap_report *report;
	struct heap_findings findings;
	const struct heap_growth *growths;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, 0x1000, 1000 * KIB, 1);
	for (uint64_t i = 0; i < 200; i++) /* 10 KiB each step */
		stream_alloc(&stream, 0, i * STEP_NS + 5, 0x100000 + 16 * i, 10 * KIB, 2);
	report = stream_finish(&stream);
	assert_int_equal(heap_findings_make(report, NULL, &findings), 0);
	growths = findings.growths.items;
	assert_int_equal(findings.growths.count, 2);
	assert_int_equal(growths[0].site, site_of(report, 2));
	assert_true(growths[0].trend.bytes_per_second > 99.0 * KIB);
	assert_true(growths[0].trend.bytes_per_second < 101.0 * KIB);
	assert_true(growths[0].trend.fit > 0.99);
	assert_int_equal(growths[1].site, site_of(report, 1));
	assert_true(growths[1].trend.fit < 0.1);
	heap_findings_fini(&findings);
	stream_close(&stream);
}

static void nothing_stands_out_of_nothing(void **state)
{
	struct stream stream;
	struct heap_findings findings;

	stream_open(&stream, (struct heap_config){0});
	assert_int_equal(heap_findings_make(stream_finish(&stream), NULL, &findings), 0);
	assert_int_equal(findings.items.count, 0);
	heap_findings_fini(&findings);
	stream_close(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stands_out_is_named_with_its_sites),
		cmocka_unit_test(sites_of_a_group_explain_together),
		cmocka_unit_test(a_spike_after_the_last_plateau_is_told),
		cmocka_unit_test(a_step_at_the_very_end_is_told),
		cmocka_unit_test(growth_that_goes_on_to_the_end_is_told),
		cmocka_unit_test(growth_at_a_constant_rate_has_no_stairs),
		cmocka_unit_test(slow_growth_above_much_that_stays_has_no_stairs),
		cmocka_unit_test(growth_under_noise_has_no_stairs),
		cmocka_unit_test(a_short_way_between_plateaus_is_one_step),
		cmocka_unit_test(a_jump_within_slow_growth_is_a_step),
		cmocka_unit_test(how_it_ends_is_told_however_much_came_before),
		cmocka_unit_test(a_spike_before_the_first_plateau_is_told),
		cmocka_unit_test(a_run_of_one_step_has_its_spike_and_what_it_leaves),
		cmocka_unit_test(a_spike_within_a_step_is_explained_though_it_is_not_the_peak),
		cmocka_unit_test(sites_that_grow_are_told_with_their_slope),
		cmocka_unit_test(nothing_stands_out_of_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
