/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/merge.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/vec.h"
#include "make_recording.h"

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
	r = merge_files(paths, 2, memfd_create("merged", MFD_CLOEXEC), err);
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
		{{HERE, THERE}, "was recorded on another boot"},
		{{HERE, NULL}, "does not tell on which boot"},
		{{NULL, HERE}, "what comes before"},
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

static void heap_events_are_not_dropped_without_a_word(void **state)
{
	const char *const path = GOLDEN_DIR "/recording-v1.3.wick";
	struct error err = {0};

	assert_int_equal(merge_files(&path, 1, memfd_create("merged", MFD_CLOEXEC), &err),
			 -ENOTSUP);
	assert_non_null(strstr(err.text, "heap events"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_of_one_boot_are_merged),
		cmocka_unit_test(why_kernels_cannot_be_merged_is_told),
		cmocka_unit_test(heap_events_are_not_dropped_without_a_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
