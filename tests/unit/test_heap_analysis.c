/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "heap_stream.h"

#define A 0x1000u
#define B 0x2000u
#define C 0x3000u
#define MS UINT64_C(1000000)

#define assert_number(have, want) assert_true(fabs((have) - (want)) < 1e-6)

static struct heap_site_sums sums_of(const struct heap_report *report, uint32_t stack)
{
	struct heap_site_sums *all = heap_sites_sums(&report->sites, report->totals.peak_number);
	struct heap_site_sums sums = all[site_of(report, stack)];

	free(all);
	return sums;
}

static void each_site_knows_what_it_held_at_the_peak_of_all(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, A, 100, 1);
	stream_alloc(&stream, 0, 2, B, 50, 2);
	stream_free(&stream, 0, 3, A);
	stream_alloc(&stream, 0, 4, C, 300, 2); /* 350: the peak, where site 1 has nothing */
	stream_alloc(&stream, 0, 5, 0x4000, 10, 3);
	stream_free(&stream, 0, 6, 0x4000);
	stream_free(&stream, 0, 7, C);
	stream_alloc(&stream, 0, 8, A, 120, 1);
	report = stream_finish(&stream);
	assert_number(report->totals.peak.bytes, 360);
	assert_number(report->totals.peak.blocks, 3);
	assert_int_equal(report->totals.peak_ns, 5);
	assert_number(sums_of(report, 1).peak.bytes, 0);
	assert_number(sums_of(report, 2).peak.bytes, 350);
	assert_number(sums_of(report, 2).peak.blocks, 2);
	assert_number(sums_of(report, 3).peak.bytes, 10);
	assert_number(sums_of(report, 1).allocated.bytes, 220);
	assert_number(sums_of(report, 1).allocated.blocks, 2);
	assert_number(sums_of(report, 1).live.bytes, 120);
	assert_number(sums_of(report, 2).live.bytes, 50);
	assert_number(report->totals.live.bytes, 170);
	assert_number(report->totals.freed.bytes, 410);
	assert_number(report->sites.sites.items[site_of(report, 2)].most_bytes, 350);
	assert_int_equal(report->sites.sites.items[site_of(report, 2)].most_ns, 4);
	assert_int_equal(report->sites.sites.items[site_of(report, 1)].first_ns, 1);
	assert_int_equal(report->sites.sites.items[site_of(report, 1)].last_ns, 8);
	assert_int_equal(report->sites.sites.items[site_of(report, 1)].size_min, 100);
	assert_int_equal(report->sites.sites.items[site_of(report, 1)].size_max, 120);
	stream_close(&stream);
}

static void blocks_freed_before_the_next_allocation_are_temporary(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, A, 8, 1);
	stream_alloc(&stream, 1, 2, B, 8, 2); /* another thread does not matter */
	stream_free(&stream, 0, 3, A);        /* temporary */
	stream_alloc(&stream, 0, 4, A, 8, 1);
	stream_alloc(&stream, 0, 5, C, 8, 1);
	stream_free(&stream, 0, 6, A); /* it allocated in between */
	stream_free(&stream, 0, 7, C); /* but not here: only a free */
	stream_free(&stream, 0, 8, B); /* of another thread */
	stream_alloc(&stream, 1, 9, C, 8, 2);
	stream_free(&stream, 0, 10, C); /* its own last address, but not its block */
	report = stream_finish(&stream);
	assert_number(sums_of(report, 1).temporary_blocks, 2);
	assert_number(sums_of(report, 2).temporary_blocks, 0);
	assert_number(report->totals.temporary_blocks, 2);
	assert_number(report->totals.foreign_blocks, 2);
	assert_number(report->sites.sites.items[site_of(report, 2)].foreign_blocks, 2);
	assert_number(report->threads.items[0].foreign_blocks, 2);
	assert_number(report->threads.items[0].freed.blocks, 5);
	assert_number(report->threads.items[1].freed.blocks, 0);
	assert_number(report->threads.items[1].allocated.blocks, 2);
	stream_close(&stream);
}

static void a_free_that_comes_late_by_the_clock_is_swapped(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, A, 100, 1);
	stream_alloc(&stream, 1, 5000, A, 200, 2);
	stream_free(&stream, 0, 5000 + HEAP_CLOCK_SKEW_NS, A);
	stream_alloc(&stream, 0, 20000, B, 10, 1);
	stream_alloc(&stream, 1, 30000, B, 20, 2); /* the free never comes */
	stream_free(&stream, 1, 30001, B);         /* of the second */
	stream_alloc(&stream, 0, 40000, B, 10, 1);
	stream_alloc(&stream, 1, 50000, B, 20, 2);
	stream_free(&stream, 0, 50001 + HEAP_CLOCK_SKEW_NS, B); /* too late to be swapped */
	report = stream_finish(&stream);
	assert_int_equal(report->quality.swapped, 1);
	assert_int_equal(report->quality.missed_frees, 2);
	assert_int_equal(report->quality.unknown_frees, 0);
	assert_number(report->totals.peak.bytes, 220); /* not 300: the first is gone before */
	assert_number(report->totals.live.bytes, 200);
	assert_number(report->totals.live.blocks, 1);
	stream_close(&stream);
}

static void a_free_that_comes_early_by_the_clock_is_swapped_too(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	stream_open(&stream, (struct heap_config){0});
	stream_free(&stream, 1, 1000, A); /* handed over, but by this clock not there yet */
	stream_alloc(&stream, 0, 1000 + HEAP_CLOCK_SKEW_NS, A, 100, 1);
	stream_free(&stream, 1, 10000, B);         /* from before: */
	stream_alloc(&stream, 1, 10001, B, 10, 2); /* the same thread gets it again, */
	stream_free(&stream, 1, 20000, C);
	stream_alloc(&stream, 0, 20001 + HEAP_CLOCK_SKEW_NS, C, 20,
		     2);                                 /* or another one much later */
	stream_free(&stream, 1, 30000, 0x9000);          /* of a block of thread 0, */
	stream_alloc(&stream, 1, 30000, 0x9000, 1, 3);   /* whose place it has then, */
	stream_alloc(&stream, 0, 30001, 0x9000, 100, 1); /* though that comes later here */
	stream_free(&stream, 1, 40000, 0x9000);
	report = stream_finish(&stream);
	assert_int_equal(report->quality.swapped, 2);
	assert_int_equal(report->quality.unknown_frees, 2);
	assert_int_equal(report->quality.missed_frees, 0);
	assert_number(sums_of(report, 1).live.blocks, 0);
	assert_number(report->sites.sites.items[site_of(report, 1)].foreign_blocks, 2);
	assert_number(report->totals.live.bytes, 30);
	assert_number(report->totals.freed.bytes, 201);
	stream_close(&stream);
}

static void realloc_moves_a_block_or_leaves_it(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, A, 100, 1);
	stream_do(&stream, HEAP_MOVE, 0, 2, A);
	stream_alloc(&stream, 1, 3, A, 7, 3); /* another thread has the address meanwhile */
	stream_realloc(&stream, 0, 4, B, 200, 2);
	stream_do(&stream, HEAP_MOVE, 0, 5, B);
	stream_do(&stream, HEAP_KEPT, 0, 6, 0); /* there was no memory */
	stream_do(&stream, HEAP_KEPT, 0, 7, 0); /* of nothing */
	stream_realloc(&stream, 1, 8, C, 5, 4); /* of no block: realloc(NULL, 5) */
	report = stream_finish(&stream);
	assert_number(report->totals.live.bytes, 212);
	assert_number(report->totals.peak.bytes, 212);
	assert_number(report->totals.allocated.bytes, 312);
	assert_number(report->totals.allocated.blocks, 4);
	assert_number(report->totals.freed.blocks, 1);
	assert_number(report->totals.moved_blocks, 1);
	assert_number(report->totals.temporary_blocks, 0);
	assert_number(report->totals.calls[HEAP_REALLOC], 2);
	assert_number(report->sites.sites.items[site_of(report, 1)].moved_blocks, 1);
	assert_number(report->sites.sites.items[site_of(report, 2)].reallocs, 1);
	assert_number(sums_of(report, 2).live.blocks, 1);
	assert_int_equal(report->quality.missed_frees + report->quality.unknown_frees, 0);
	stream_close(&stream);
}

static void a_move_that_nothing_follows_is_a_free(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, A, 100, 1);
	stream_do(&stream, HEAP_MOVE, 0, 2, A);
	stream_do(&stream, HEAP_MOVE, 0, 3, B); /* from before */
	report = stream_finish(&stream);
	assert_number(report->totals.live.bytes, 0);
	assert_number(report->totals.freed.bytes, 100);
	assert_int_equal(report->quality.unknown_frees, 1);
	stream_close(&stream);
}

static void lifetimes_are_in_powers_of_two(void **state)
{
	struct stream stream;
	const struct heap_report *report;
	const struct heap_lifetimes *lifetimes;

	stream_open(&stream, (struct heap_config){0});
	for (uint32_t i = 0; i < 4; i++)
		stream_alloc(&stream, 0, 0, A + 16 * i, 1, 1);
	stream_free(&stream, 0, 127, A);
	stream_free(&stream, 0, 128, A + 16);
	stream_free(&stream, 0, 1023, A + 32);
	stream_free(&stream, 0, 1024, A + 48);
	report = stream_finish(&stream);
	lifetimes = &report->sites.lifetimes.items[0];
	assert_number(lifetimes->blocks[0], 1);
	assert_number(lifetimes->blocks[1], 1);
	assert_number(lifetimes->blocks[3], 1);
	assert_number(lifetimes->blocks[4], 1);
	assert_int_equal(heap_lifetime_low_ns(4), 1024);
	assert_int_equal(heap_lifetimes_quantile_ns(lifetimes, 0.5), 256);
	assert_int_equal(heap_lifetimes_quantile_ns(lifetimes, 1), 2048);
	assert_number(report->sites.sites.items[0].lifetime_ns, 127 + 128 + 1023 + 1024);
	assert_memory_equal(lifetimes, &report->lifetimes, sizeof(*lifetimes));
	stream_close(&stream);
}

static void processes_and_mappings_have_addresses_of_their_own(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, A, 1, 1);
	stream_alloc(&stream, 2, 2, A, 2, 1);
	stream_put(&stream, 0,
		   (struct heap_event){
			   .time_ns = 4, .address = A, .size = 8, .stack = 1, .call = HEAP_MMAP});
	stream_free(&stream, 0, 5, A);
	report = stream_finish(&stream);
	assert_number(report->totals.live.bytes, 10);
	assert_int_equal(report->quality.missed_frees, 0);
	assert_null(report->pools);
	assert_int_equal(report->sites.shares.count, 2);
	assert_int_equal(report->sites.sites.count, 1);
	stream_close(&stream);
}

static void put_pooled(struct stream *stream, uint32_t thread, enum heap_op op, uint64_t time_ns,
		       uint64_t address, uint64_t size)
{
	stream_put(stream, thread,
		   (struct heap_event){.time_ns = time_ns,
				       .address = address,
				       .size = size,
				       .stack = 1,
				       .op = (uint8_t)op,
				       .call = HEAP_POOL});
}

static void blocks_of_pools_are_told_apart_from_those_they_lie_in(void **state)
{
	struct stream stream;
	const struct heap_report *report;
	const struct heap_report *pools;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 10, A, 1000, 1);
	put_pooled(&stream, 0, HEAP_ALLOC, 20, A, 300); /* begins where the memory does */
	put_pooled(&stream, 1, HEAP_ALLOC, 30, A + 300, 400);
	put_pooled(&stream, 1, HEAP_FREE, 40, A, 0);
	put_pooled(&stream, 0, HEAP_ALLOC, 50, A, 200);
	put_pooled(&stream, 0, HEAP_FREE, 60, A, 0);
	put_pooled(&stream, 0, HEAP_FREE, 70, B, 0); /* from before */
	stream_free(&stream, 0, 80, A); /* of what it allocated last, but for blocks of pools */
	put_pooled(&stream, 0, HEAP_FREE, 250 * MS, A + 300, 0);
	report = stream_finish(&stream);
	pools = report->pools;
	assert_non_null(pools);
	assert_number(report->totals.allocated.bytes, 1000);
	assert_number(report->totals.peak.bytes, 1000);
	assert_number(report->totals.live.bytes, 0);
	assert_number(report->totals.temporary_blocks, 1);
	assert_number(report->threads.items[1].allocated.bytes, 0);
	assert_number(report->classes[heap_class_of(400)].allocated.bytes, 0);
	assert_int_equal(report->sites.sites.count, 1);
	assert_int_equal(report->quality.events, 9);
	assert_int_equal(report->quality.unknown_frees, 1);
	assert_int_equal(report->timeline.steps.count, 3); /* up to the last event of all */
	assert_number(pools->totals.allocated.bytes, 900);
	assert_number(pools->totals.peak.bytes, 700);
	assert_int_equal(pools->totals.peak_ns, 30);
	assert_number(pools->totals.live.bytes, 0);
	assert_number(pools->totals.temporary_blocks, 1);
	assert_number(pools->totals.foreign_blocks, 2);
	assert_number(sums_of(pools, 1).peak.bytes, 700);
	assert_int_equal(pools->end_ns, report->end_ns);
	assert_null(pools->pools);
	stream_close(&stream);
}

static void what_is_not_wanted_is_not_wanted_of_pools_either(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	stream_open(&stream,
		    (struct heap_config){.from_ns = STREAM_NS + 10, .to_ns = STREAM_NS + 40});
	put_pooled(&stream, 0, HEAP_ALLOC, 5, A, 300);
	put_pooled(&stream, 0, HEAP_ALLOC, 20, B, 50);
	put_pooled(&stream, 0, HEAP_FREE, 30, A, 0);
	put_pooled(&stream, 0, HEAP_FREE, 40, B, 0);
	report = stream_finish(&stream);
	assert_number(report->totals.allocated.bytes, 0);
	assert_number(report->pools->totals.allocated.bytes, 50);
	assert_number(report->pools->totals.live.bytes, 50);
	assert_int_equal(report->quality.unknown_frees, 0);
	stream_close(&stream);
}

static void blocks_of_pools_are_sampled_as_others_are(void **state)
{
	struct stream stream;
	const struct heap_report *report;
	double weight = 1 / (1 - exp(-100.0 / 1000));

	stream_open(&stream, (struct heap_config){0});
	stream_put(&stream, 0, (struct heap_event){.time_ns = 2, .op = HEAP_RATE, .size = 1000});
	put_pooled(&stream, 0, HEAP_ALLOC, 5, A, 100);
	report = stream_finish(&stream);
	assert_true(report->pools->sampled);
	assert_number(report->pools->totals.live.bytes, 100 * weight);
	stream_close(&stream);
}

/* Which of them are temporary cannot be seen in the events of those that were met. */
static void whether_a_sampled_block_is_temporary_is_told_by_its_free(void **state)
{
	struct stream stream;
	const struct heap_report *report;
	double weight = 1 / (1 - exp(-100.0 / 1000));

	stream_open(&stream, (struct heap_config){0});
	stream_put(&stream, 0, (struct heap_event){.time_ns = 2, .op = HEAP_RATE, .size = 1000});
	stream_alloc(&stream, 0, 3, A, 100, 1);
	stream_free(&stream, 0, 4, A); /* others were allocated that were not met */
	stream_alloc(&stream, 0, 5, A, 100, 1);
	stream_put(
		&stream, 0,
		(struct heap_event){
			.time_ns = 6, .address = A, .op = HEAP_FREE, .slack = HEAP_FREE_AT_ONCE});
	report = stream_finish(&stream);
	assert_number(report->totals.temporary_blocks, weight);
	assert_number(sums_of(report, 1).temporary_blocks, weight);
	stream_close(&stream);
}

static void a_slice_has_what_was_allocated_in_it_and_lives_at_its_end(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	stream_open(&stream,
		    (struct heap_config){.from_ns = STREAM_NS + 10, .to_ns = STREAM_NS + 20});
	stream_alloc(&stream, 0, 9, A, 100, 1);
	stream_alloc(&stream, 0, 10, B, 10, 1);
	stream_free(&stream, 0, 12, A);
	stream_alloc(&stream, 0, 13, C, 30, 1);
	stream_free(&stream, 0, 20, B);
	report = stream_finish(&stream);
	assert_number(report->totals.allocated.bytes, 40);
	assert_number(report->totals.live.bytes, 40);
	assert_number(report->totals.freed.bytes, 0);
	assert_number(report->totals.unwanted.bytes, 100);
	assert_int_equal(report->quality.unknown_frees, 0);
	stream_close(&stream);
}

static bool wants_second(void *self, uint32_t thread)
{
	++*(int *)self;
	return thread == 1;
}

static void blocks_of_threads_that_are_not_wanted_do_not_count(void **state)
{
	struct stream stream;
	const struct heap_report *report;
	int asked = 0;

	stream_open(&stream, (struct heap_config){.wants = wants_second, .self = &asked});
	stream_alloc(&stream, 0, 1, A, 100, 1);
	stream_alloc(&stream, 1, 2, B, 10, 1);
	stream_alloc(&stream, 1, 3, C, 20, 1);
	stream_free(&stream, 0, 4, B); /* whoever frees it */
	stream_free(&stream, 1, 5, A);
	report = stream_finish(&stream);
	assert_int_equal(asked, 2);
	assert_number(report->totals.allocated.bytes, 30);
	assert_number(report->totals.live.bytes, 20);
	assert_int_equal(report->quality.unknown_frees, 0);
	stream_close(&stream);
}

/* A block of s bytes is met with 1 - exp(-s / rate): all sizes come out right on average. */
static void sampled_blocks_stand_for_others(void **state)
{
	struct stream stream;
	const struct heap_report *report;
	double weight = 1 / (1 - exp(-100.0 / 1000));

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, A, 100, 1);
	stream_put(&stream, 0, (struct heap_event){.time_ns = 2, .op = HEAP_RATE, .size = 1000});
	stream_alloc(&stream, 1, 3, B, 100, 1);
	stream_alloc(&stream, 2, 4, A, 100, 2); /* another process is not sampled */
	stream_free(&stream, 0, 5, C);          /* one that was not met */
	stream_free(&stream, 0, 6, A);
	report = stream_finish(&stream);
	assert_true(report->sampled);
	assert_number(sums_of(report, 1).allocated.blocks, 1 + weight);
	assert_number(sums_of(report, 1).live.bytes, 100 * weight);
	assert_number(sums_of(report, 2).live.bytes, 100);
	assert_number(report->totals.allocated_variance.blocks, weight * (weight - 1));
	assert_number(report->totals.live_variance.bytes, 1e4 * weight * (weight - 1));
	assert_int_equal(report->quality.unknown_frees, 0);
	stream_close(&stream);
}

static void blocks_sampled_with_a_probability_stand_for_as_many_of_any_size(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	stream_open(&stream, (struct heap_config){0});
	stream_put(
		&stream, 0,
		(struct heap_event){.time_ns = 1, .op = HEAP_RATE, .address = UINT32_MAX / 4 + 1});
	stream_alloc(&stream, 0, 2, A, 100, 1);
	stream_alloc(&stream, 1, 3, B, 100000, 1);
	stream_free(&stream, 0, 4, A);
	report = stream_finish(&stream);
	assert_true(report->sampled);
	assert_number(sums_of(report, 1).allocated.blocks, 8);
	assert_number(sums_of(report, 1).allocated.bytes, 400400);
	assert_number(sums_of(report, 1).live.bytes, 400000);
	assert_number(report->totals.live_variance.blocks, 4 * 3);
	assert_int_equal(report->quality.bad, 0);
	stream_close(&stream);
}

static void blocks_may_count_with_more_than_their_size(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	stream_open(&stream, (struct heap_config){0});
	stream_put(&stream, 0,
		   (struct heap_event){.time_ns = 1, .op = HEAP_RATE, .size = 1000, .slack = 50});
	stream_alloc(&stream, 0, 2, A, 100, 1);
	stream_put(&stream, 0, (struct heap_event){.time_ns = 3, .op = HEAP_RATE, .size = 1000});
	stream_alloc(&stream, 0, 4, B, 100, 2);
	report = stream_finish(&stream);
	assert_number(sums_of(report, 1).live.bytes, 100 / (1 - exp(-0.15)));
	assert_number(sums_of(report, 2).live.bytes, 100 / (1 - exp(-0.1)));
	stream_close(&stream);
}

static void forgotten_blocks_are_gone_but_not_those_of_other_processes(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	stream_open(&stream, (struct heap_config){.addresses = true});
	for (uint64_t i = 1; i <= 1000;
	     i++) /* enough for slots that move when others are removed */
		stream_alloc(&stream, i % 2, i, A * i, 10, (uint32_t)(i % 7));
	stream_alloc(&stream, 2, 1001, A, 100, 9);
	stream_put(&stream, 0, (struct heap_event){.time_ns = 2000, .op = HEAP_FORGET});
	stream_alloc(&stream, 0, 2001, A, 25, 1);
	report = stream_finish(&stream);
	assert_number(report->totals.peak.bytes, 10100);
	assert_number(report->totals.live.bytes, 125);
	assert_number(report->totals.live.blocks, 2);
	assert_number(sums_of(report, 9).live.bytes, 100);
	assert_number(report->totals.freed.blocks, 1000);
	assert_int_equal(report->quality.missed_frees, 0);
	assert_int_equal(report->quality.bad, 0);
	stream_close(&stream);
}

static void forgetting_again_and_again_is_refused(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	stream_open(&stream, (struct heap_config){0});
	for (uint64_t i = 1; i <= 20000; i++)
		stream_alloc(&stream, 2, i, A * i, 10, 1);
	for (uint64_t i = 1; i <= 100000; i++) { /* would look at 10^10 slots */
		stream_alloc(&stream, 0, 20000 + i, A, 10, 2);
		stream_put(&stream, 0,
			   (struct heap_event){.time_ns = 20000 + i, .op = HEAP_FORGET});
	}
	report = stream_finish(&stream);
	assert_true(report->quality.bad > 10000);
	assert_number(sums_of(report, 1).live.blocks, 20000);
	stream_close(&stream);
}

static void blocks_that_were_added_up_count_for_their_stack(void **state)
{
	const struct heap_report *report;
	struct stream stream;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, A, 100, 1);
	stream_put(
		&stream, 0,
		(struct heap_event){
			.time_ns = 2, .op = HEAP_TOTAL, .size = 5000, .address = 50, .stack = 1});
	stream_free(&stream, 0, 3, B); /* one of these */
	stream_free(&stream, 0, 4, A);
	report = stream_finish(&stream);
	assert_number(sums_of(report, 1).allocated.blocks, 51);
	assert_number(report->totals.allocated.bytes, 5100);
	assert_number(report->totals.live.bytes, 0);
	assert_number(report->totals.peak.bytes, 100);
	assert_int_equal(report->quality.only_totals, 50);
	assert_int_equal(report->quality.unknown_frees, 0);
	assert_int_equal(report->quality.bad, 0);
	stream_close(&stream);
}

static void estimates_lie_within_their_errors(void **state)
{
	uint64_t random = 88172645463325252u;
	int within = 0;

	for (int run = 0; run < 100; run++) {
		const struct heap_report *report;
		struct stream stream;
		double true_bytes = 0;

		stream_open(&stream, (struct heap_config){0});
		stream_put(&stream, 0,
			   (struct heap_event){.time_ns = 0, .op = HEAP_RATE, .size = 4096});
		for (uint32_t i = 0; i < 5000; i++) {
			uint64_t size;

			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			size = 16 + random % 1000 * (random >> 20 & 7);
			true_bytes += (double)size;
			if ((double)(random >> 11) * 0x1p-53 < 1 - exp(-(double)size / 4096))
				stream_alloc(&stream, 0, i, A + i * 16, size, 1);
		}
		report = stream_finish(&stream);
		within += fabs(report->totals.allocated.bytes - true_bytes) <
			  1.96 * sqrt(report->totals.allocated_variance.bytes);
		stream_close(&stream);
	}
	assert_in_range(within, 88, 100); /* 95 expected; the draws are always the same */
}

static double allocated_bytes(const struct heap_step *step)
{
	return step->allocated.bytes;
}

static double rate(const struct heap_report *report, size_t step, size_t reach)
{
	return heap_steps_rate(report->timeline.steps.items, report->timeline.steps.count,
			       report->timeline.step_ns, step, reach, allocated_bytes);
}

static void the_timeline_tells_each_step_and_each_thread(void **state)
{
	struct stream stream;
	const struct heap_report *report;
	const struct heap_step *steps;
	double held[3];

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 10 * MS, A, 100, 1);
	stream_alloc(&stream, 0, 20 * MS, B, 900, 1);
	stream_free(&stream, 1, 30 * MS, B);
	stream_alloc(&stream, 1, 250 * MS, C, 50, 2);
	stream_free(&stream, 0, 299 * MS, A);
	report = stream_finish(&stream);
	steps = report->timeline.steps.items;
	assert_int_equal(report->timeline.steps.count, 3);
	assert_number(steps[0].live.bytes, 100);
	assert_number(steps[0].most_bytes, 1000);
	assert_number(steps[0].allocated.blocks, 2);
	assert_number(steps[0].freed.bytes, 900);
	assert_number(steps[1].live.bytes, 100);
	assert_number(steps[1].allocated.bytes, 0);
	assert_number(steps[1].least_bytes, 100);
	assert_number(steps[2].live.bytes, 50);
	assert_number(rate(report, 0, 0), 10000);
	assert_number(rate(report, 1, 1), (1000 + 50) / 4.0 * 10);
	heap_history_at(&report->thread_history, 100 * MS, held, 3);
	assert_number(held[0], 100);
	assert_number(held[1], 0);
	assert_int_equal(report->thread_history.moments.count, 4);
	assert_number(report->thread_history.moments.items[1].freed_bytes, 900);
	heap_history_at(&report->site_history, 300 * MS, held, 3);
	assert_number(held[site_of(report, 1)], 0);
	assert_number(held[site_of(report, 2)], 50);
	stream_close(&stream);
}

static void a_long_recording_has_longer_steps(void **state)
{
	struct stream stream;
	const struct heap_report *report;
	double allocated = 0;

	stream_open(&stream, (struct heap_config){.step_ns = MS});
	for (uint64_t i = 0; i < 10000; i++)
		stream_alloc(&stream, 0, i * MS, A + i * 16, 16, 1 + (uint32_t)i % 50);
	report = stream_finish(&stream);
	assert_int_equal(report->timeline.step_ns, 4 * MS);
	assert_int_equal(report->timeline.steps.count, 2500);
	for (size_t i = 0; i < report->timeline.steps.count; i++) {
		allocated += report->timeline.steps.items[i].allocated.bytes;
		assert_number(report->timeline.steps.items[i].live.bytes, allocated);
	}
	assert_number(allocated, 160000);
	stream_close(&stream);
}

static void a_history_that_is_too_long_gets_coarser(void **state)
{
	struct heap_history history = {.limit = 100};
	struct heap_trend trend;
	double held[4];
	uint32_t id = 3;

	for (uint64_t i = 1; i <= 10000; i++) {
		struct heap_moment moment = {.time_ns = i * MS,
					     .id = (uint32_t)i % 4,
					     .live_bytes = (double)i * 10,
					     .allocated_bytes = 10};

		assert_int_equal(heap_history_add(&history, &moment, MS), 0);
		assert_true(history.moments.count <= 100);
	}
	heap_history_at(&history, 10000 * MS, held, 4);
	assert_number(held[0], 100000);
	assert_number(held[3], 99990);
	held[0] = 0;
	for (size_t i = 0; i < history.moments.count; i++)
		held[0] += history.moments.items[i].allocated_bytes;
	assert_number(held[0], 100000);
	assert_int_equal(heap_history_trends(&history, 0, 10000 * MS, &id, 1, &trend), 0);
	assert_true(fabs(trend.bytes_per_second - 10000) < 300);
	assert_true(trend.fit > 0.95);
	heap_history_fini(&history);
}

static void classes_cover_all_sizes(void **state)
{
	assert_int_equal(heap_class_of(0), 0);
	assert_int_equal(heap_class_of(UINT64_C(0xffffffffffff)), HEAP_CLASSES - 1);
	for (uint32_t i = 1; i < HEAP_CLASSES; i++) {
		assert_int_equal(heap_class_of(heap_class_low(i)), i);
		assert_int_equal(heap_class_of(heap_class_low(i) - 1), i - 1);
	}
}

static void events_that_make_no_sense_are_counted(void **state)
{
	struct stream stream;
	const struct heap_report *report;

	stream_open(&stream, (struct heap_config){0});
	stream_alloc(&stream, 0, 1, 0, 10, 1);
	stream_put(&stream, 0, (struct heap_event){.time_ns = 2, .address = A, .op = 77});
	stream_alloc(&stream, 99, 3, A, 10, 1);
	stream_alloc(&stream, 0, UINT64_MAX / 2, A, 10, 1);
	report = stream_finish(&stream);
	assert_int_equal(report->quality.bad, 4);
	assert_number(report->totals.allocated.blocks, 0);
	stream_close(&stream);
}

/* A model that keeps everything and looks at all of it each time. */
#define SLOTS 60u
#define STACKS 5u

struct naive {
	struct {
		bool live;
		uint64_t size;
		uint32_t stack;
	} blocks[SLOTS];
	double live[STACKS];
	double peak[STACKS];
	double best;
};

static void naive_look(struct naive *naive)
{
	double sum = 0;

	memset(naive->live, 0, sizeof(naive->live));
	for (uint32_t i = 0; i < SLOTS; i++)
		if (naive->blocks[i].live) {
			naive->live[naive->blocks[i].stack] += (double)naive->blocks[i].size;
			sum += (double)naive->blocks[i].size;
		}
	if (sum > naive->best) {
		naive->best = sum;
		memcpy(naive->peak, naive->live, sizeof(naive->peak));
	}
}

/* Three threads, drained one after the other, now and then up to a common moment. */
static void random_streams_give_what_a_naive_model_gives(void **state)
{
	for (unsigned int seed = 1; seed <= 40; seed++) {
		const struct heap_report *report;
		struct naive naive = {0};
		struct stream stream;
		uint64_t time_ns = 0;

		srandom(seed);
		stream_open(&stream, (struct heap_config){.step_ns = 5000});
		for (uint32_t i = 0; i < 3000; i++) {
			uint32_t at = (uint32_t)random() % SLOTS;
			uint32_t thread = (uint32_t)random() % 2;

			time_ns += (uint64_t)random() % 100;
			if (naive.blocks[at].live) {
				stream_free(&stream, thread, time_ns, A + at * 16);
				naive.blocks[at].live = false;
			} else {
				naive.blocks[at].live = true;
				naive.blocks[at].size = (uint64_t)random() % 1000;
				naive.blocks[at].stack = (uint32_t)random() % STACKS;
				stream_alloc(&stream, thread, time_ns, A + at * 16,
					     naive.blocks[at].size, naive.blocks[at].stack);
			}
			naive_look(&naive);
			/* The same moment is enough for no event, all before it are there. */
			if (random() % 50 == 0)
				assert_int_equal(
					heap_analysis_until(stream.analysis, STREAM_NS + time_ns),
					0);
			time_ns++;
		}
		report = stream_finish(&stream);
		assert_int_equal(report->quality.events, 3000);
		assert_int_equal(report->quality.missed_frees + report->quality.unknown_frees +
					 report->quality.swapped + report->quality.late,
				 0);
		assert_number(report->totals.peak.bytes, naive.best);
		for (uint32_t i = 0; i < STACKS; i++) {
			assert_number(sums_of(report, i).live.bytes, naive.live[i]);
			assert_number(sums_of(report, i).peak.bytes, naive.peak[i]);
			assert_number(report->sites.sites.items[site_of(report, i)].live_bytes,
				      naive.live[i]);
		}
		stream_close(&stream);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_site_knows_what_it_held_at_the_peak_of_all),
		cmocka_unit_test(blocks_freed_before_the_next_allocation_are_temporary),
		cmocka_unit_test(a_free_that_comes_late_by_the_clock_is_swapped),
		cmocka_unit_test(a_free_that_comes_early_by_the_clock_is_swapped_too),
		cmocka_unit_test(realloc_moves_a_block_or_leaves_it),
		cmocka_unit_test(a_move_that_nothing_follows_is_a_free),
		cmocka_unit_test(lifetimes_are_in_powers_of_two),
		cmocka_unit_test(processes_and_mappings_have_addresses_of_their_own),
		cmocka_unit_test(blocks_of_pools_are_told_apart_from_those_they_lie_in),
		cmocka_unit_test(what_is_not_wanted_is_not_wanted_of_pools_either),
		cmocka_unit_test(blocks_of_pools_are_sampled_as_others_are),
		cmocka_unit_test(whether_a_sampled_block_is_temporary_is_told_by_its_free),
		cmocka_unit_test(a_slice_has_what_was_allocated_in_it_and_lives_at_its_end),
		cmocka_unit_test(blocks_of_threads_that_are_not_wanted_do_not_count),
		cmocka_unit_test(sampled_blocks_stand_for_others),
		cmocka_unit_test(blocks_sampled_with_a_probability_stand_for_as_many_of_any_size),
		cmocka_unit_test(blocks_may_count_with_more_than_their_size),
		cmocka_unit_test(forgetting_again_and_again_is_refused),
		cmocka_unit_test(forgotten_blocks_are_gone_but_not_those_of_other_processes),
		cmocka_unit_test(blocks_that_were_added_up_count_for_their_stack),
		cmocka_unit_test(estimates_lie_within_their_errors),
		cmocka_unit_test(the_timeline_tells_each_step_and_each_thread),
		cmocka_unit_test(a_long_recording_has_longer_steps),
		cmocka_unit_test(a_history_that_is_too_long_gets_coarser),
		cmocka_unit_test(classes_cover_all_sizes),
		cmocka_unit_test(events_that_make_no_sense_are_counted),
		cmocka_unit_test(random_streams_give_what_a_naive_model_gives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
