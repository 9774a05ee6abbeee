/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/ebpf/kept_stacks.h"

static void put(struct kept_stacks *stacks, uint32_t tid, uint64_t address)
{
	struct frame frame = {.kind = FRAME_NATIVE, .b = address};

	assert_int_equal(kept_stacks_put(stacks, tid, &frame, 1), 0);
}

static void assert_taken(struct kept_stacks *stacks, uint32_t tid, uint64_t address)
{
	struct kept_stack kept;

	assert_true(kept_stacks_take(stacks, tid, &kept));
	assert_int_equal(kept.count, 1);
	assert_int_equal(kept.frames[0].b, address);
	free(kept.frames);
}

static void what_is_kept_is_handed_out_once(void **state)
{
	struct kept_stacks stacks = {0};
	struct kept_stack kept;

	(void)state;
	put(&stacks, 1, 10);
	put(&stacks, 2, 20);
	put(&stacks, 1, 11); /* in place of the first */
	assert_taken(&stacks, 1, 11);
	assert_false(kept_stacks_take(&stacks, 1, &kept));
	assert_taken(&stacks, 2, 20);
	assert_int_equal(stacks.items.count, 0);
	kept_stacks_fini(&stacks);
}

static void beyond_the_limit_the_first_half_goes(void **state)
{
	struct kept_stacks stacks = {.limit = 4};
	struct kept_stack kept;

	(void)state;
	for (uint32_t tid = 1; tid <= 5; tid++)
		put(&stacks, tid, tid);
	assert_int_equal(stacks.items.count, 3);
	assert_false(kept_stacks_take(&stacks, 2, &kept));
	assert_taken(&stacks, 3, 3);
	kept_stacks_fini(&stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_is_handed_out_once),
		cmocka_unit_test(beyond_the_limit_the_first_half_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
