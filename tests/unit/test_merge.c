/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/convert/merge.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/vec.h"
#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/report.h"
#include "load/load.h"
#include "make_recording.h"
#include "model/profile.h"

#define HERE "11111111-0000-0000-0000-000000000000"
#define THERE "22222222-0000-0000-0000-000000000000"

/* A recording with a kernel function, of a boot; NULL: it does not tell of which. */
static void make_of_boot(struct made *made, const char *boot_id)
{
	struct frame stack[1];
	uint32_t thread;

	make_begin(made);
	if (boot_id)
		recording_writer_info(made->writer, "boot_id", boot_id);
	thread = make_thread(made, made->process, 100, "app");
	stack[0] = in_kernel(made, 0x10);
	make_sample_of(made, thread, 10, stack, 1);
	make_end(made);
}

static int merge_boots(const char *first, const char *second, struct error *err)
{
	struct made made[2];
	const char *paths[2] = {made[0].path, made[1].path};
	int r;

	make_of_boot(&made[0], first);
	make_of_boot(&made[1], second);
	r = merge_files(paths, 2, &(struct load_options){0}, memfd_create("merged", MFD_CLOEXEC),
			err);
	made_fini(&made[0]);
	made_fini(&made[1]);
	return r;
}

static void kernels_of_one_boot_are_merged(void **state)
{
	struct error err = {0};

	assert_int_equal(merge_boots(HERE, HERE, &err), 0);
}

static void why_kernels_cannot_be_merged_is_told(void **state)
{
	static const struct {
		const char *boots[2];
		const char *words;
	} cases[] = {
		{{HERE, THERE}, "was recorded during another boot"},
		{{HERE, NULL}, "does not say during which boot"},
		{{NULL, HERE}, "a file before"},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct error err = {0};

		assert_true(merge_boots(cases[i].boots[0], cases[i].boots[1], &err) < 0);
		assert_non_null(strstr(err.text, "/proc/self/fd/"));
		assert_non_null(strstr(err.text, cases[i].words));
		assert_true(i == 0 || !strstr(err.text, "another boot"));
		assert_non_null(strstr(err.remedy, "pprof"));
	}
}

/* A block of so many bytes, while half of one at the same address comes and goes before. */
static void make_heap_of(struct made *made, uint64_t bytes, uint64_t since_ns)
{
	const struct sink_ops *ops;
	struct frame frame;
	uint32_t thread;
	uint32_t stack;

	make_begin(made);
	ops = made->sink->ops;
	frame = user(made, 0x1110);
	thread = make_thread(made, made->process, 100, "app");
	assert_int_equal(ops->stack(made->sink->self, &frame, 1, &stack), 0);
	make_heap_event(
		made, thread,
		(struct heap_event){
			.time_ns = since_ns, .address = 16, .size = bytes / 2, .stack = stack});
	make_heap_event(
		made, thread,
		(struct heap_event){.time_ns = since_ns + 1000, .address = 16, .op = HEAP_FREE});
	assert_int_equal(ops->heap_until(made->sink->self, START_NS + since_ns + 1100, NULL), 0);
	assert_int_equal(recording_writer_flush(made->writer, NULL), 0);
	make_heap_event(
		made, thread,
		(struct heap_event){
			.time_ns = since_ns + 2000, .address = 16, .size = bytes, .stack = stack});
	make_end(made);
}

static void merge_heaps(struct made *made, size_t count, struct heap_profile *ret)
{
	const char *paths[2] = {made[0].path, count > 1 ? made[1].path : NULL};
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	int fd = memfd_create("merged", MFD_CLOEXEC);
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(merge_files(paths, count, &(struct load_options){0}, dup(fd), NULL), 0);
	assert_int_equal(load_heap(path, &options, ret, NULL), 0);
	(void)close(fd);
	for (size_t i = 0; i < count; i++)
		made_fini(&made[i]);
}

static void heaps_of_several_recordings_are_the_sum_of_them(void **state)
{
	struct made made[2];
	struct heap_profile heap;
	const struct heap_report *report;

	make_heap_of(&made[0], 600, 1000);
	make_heap_of(&made[1], 1000, 1500); /* at the same time, in the same pid */
	merge_heaps(made, 2, &heap);
	report = heap_analysis_report(heap.analysis);
	assert_true(report->totals.allocated.bytes == 300 + 600 + 500 + 1000);
	assert_true(report->totals.live.bytes == 1600);
	assert_true(report->totals.peak.bytes == 1600);
	assert_true(report->totals.live.blocks == 2);
	assert_int_equal(report->quality.events, 6);
	assert_int_equal(report->quality.missed_frees + report->quality.unknown_frees, 0);
	assert_int_equal(report->quality.late + report->quality.backward, 0);
	assert_int_equal(report->sites.shares.count, 2);
	heap_profile_fini(&heap);
}

static void one_heap_that_is_merged_stays_what_it_is(void **state)
{
	struct made made;
	struct heap_profile heap;

	make_heap_of(&made, 600, 1000);
	merge_heaps(&made, 1, &heap);
	assert_true(heap_analysis_report(heap.analysis)->totals.allocated.bytes == 900);
	assert_int_equal(heap_analysis_report(heap.analysis)->totals.peak_ns, 3000);
	heap_profile_fini(&heap);
}

static void time_that_was_not_recorded_is_left_out(void **state)
{
	static const char *const recorded_ns[] = {"4000", "3000"}; /* of 10000 each */
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	int fd = memfd_create("merged", MFD_CLOEXEC);
	struct made made[2];
	const char *paths[2] = {made[0].path, made[1].path};
	struct profile *profile;
	char path[32];

	for (size_t i = 0; i < 2; i++) {
		struct frame frame;

		make_begin(&made[i]);
		recording_writer_info(made[i].writer, "boot_id", HERE);
		recording_writer_info(made[i].writer, "recorded_ns", recorded_ns[i]);
		frame = user(&made[i], 0x1110);
		make_sample_of(&made[i], make_thread(&made[i], made[i].process, 100, "app"), 10,
			       &frame, 1);
		make_end(&made[i]);
	}
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(merge_files(paths, 2, &(struct load_options){0}, dup(fd), NULL), 0);
	assert_int_equal(load_profile(path, &options, &profile, NULL), 0);
	assert_int_equal(profile->duration_ns, 10000);
	assert_int_equal(profile_recorded_ns(profile), 7000);
	profile_free(profile);
	(void)close(fd); /* of memory */
	made_fini(&made[0]);
	made_fini(&made[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_one_boot_are_merged),
		cmocka_unit_test(why_kernels_cannot_be_merged_is_told),
		cmocka_unit_test(heaps_of_several_recordings_are_the_sum_of_them),
		cmocka_unit_test(one_heap_that_is_merged_stays_what_it_is),
		cmocka_unit_test(time_that_was_not_recorded_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
