/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/ebpf/long_stack.h"
#include "perf_records/perf_record.h"
#include "wire/bpf_walk.h"

/* A record with that much of a stack, all of it one letter. */
static struct sample_record make_part(struct bpf_walk_slice *slice, uint8_t kind, uint64_t size,
				      uint8_t letter)
{
	memset(slice, 0, sizeof(*slice));
	slice->head.kind = kind;
	slice->stack_bytes = size;
	memset(slice->stack, letter, sizeof(slice->stack));
	return (struct sample_record){
		.raw = (const uint8_t *)slice,
		.raw_bytes =
			(uint32_t)(offsetof(struct bpf_walk_slice, stack) +
				   (size < sizeof(slice->stack) ? size : sizeof(slice->stack))),
	};
}

static void parts_become_one(void **state)
{
	struct bpf_walk_slice *slice = malloc(sizeof(*slice));
	struct long_stack stack = {0};
	struct sample_record part;

	(void)state;
	assert_non_null(slice);
	part = make_part(slice, BPF_WALK_SLICE, BPF_WALK_SLICE_BYTES, 'a');
	assert_true(long_stack_begin(&stack, &part));
	assert_ptr_equal(stack.of, slice);
	part = make_part(slice, BPF_WALK_MORE, BPF_WALK_SLICE_BYTES - 8, 'b');
	assert_true(long_stack_add(&stack, &part));
	part = make_part(slice, BPF_WALK_MORE, 100, 'c');
	assert_false(long_stack_add(&stack, &part)); /* no more after it */
	assert_int_equal(stack.size, 2 * BPF_WALK_SLICE_BYTES - 8 + 100);
	assert_int_equal(stack.bytes[BPF_WALK_SLICE_BYTES - 1], 'a');
	assert_int_equal(stack.bytes[BPF_WALK_SLICE_BYTES], 'b');
	assert_int_equal(stack.bytes[stack.size - 1], 'c');
	long_stack_fini(&stack);
	free(slice);
}

static void what_is_whole_or_no_slice_is_left_alone(void **state)
{
	struct bpf_walk_slice *slice = malloc(sizeof(*slice));
	struct long_stack stack = {.of = (const uint8_t *)slice};
	struct sample_record part;

	(void)state;
	assert_non_null(slice);
	part = make_part(slice, BPF_WALK_SLICE, 4096, 'a');
	assert_false(long_stack_begin(&stack, &part));
	assert_null(stack.of);
	part = make_part(slice, BPF_WALK_AWAY, BPF_WALK_SLICE_BYTES, 'a');
	assert_false(long_stack_begin(&stack, &part));
	part = make_part(slice, BPF_WALK_SLICE, UINT64_MAX, 'a'); /* more than there is */
	assert_false(long_stack_begin(&stack, &part));
	part.raw_bytes = 3;
	assert_false(long_stack_begin(&stack, &part));
	long_stack_fini(&stack);
	free(slice);
}

static void there_is_an_end_to_it(void **state)
{
	struct bpf_walk_slice *slice = malloc(sizeof(*slice));
	struct long_stack stack = {0};
	struct sample_record part;
	size_t added = 0;

	(void)state;
	assert_non_null(slice);
	part = make_part(slice, BPF_WALK_LEAVING, BPF_WALK_SLICE_BYTES, 'a');
	assert_true(long_stack_begin(&stack, &part));
	while (long_stack_add(&stack, &part))
		added++;
	assert_int_equal(added, BPF_WALK_SLICE_MORE);
	assert_int_equal(stack.size, LONG_STACK_BYTES);
	long_stack_fini(&stack);
	free(slice);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_become_one),
		cmocka_unit_test(what_is_whole_or_no_slice_is_left_alone),
		cmocka_unit_test(there_is_an_end_to_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
