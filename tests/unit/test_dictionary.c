/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/dictionary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void modules_are_known_by_build_id_then_by_file(void **state)
{
	struct module a = {.path = "/a", .build_id = {2, {1, 2}}};
	struct module moved = {.path = "/b", .build_id = {2, {1, 2}}};
	struct module plain = {.path = "/a", .inode = 5};
	struct module replaced = {.path = "/a", .inode = 6};
	struct dictionary dictionary;
	uint32_t id;

	assert_int_equal(dictionary_init(&dictionary), 0);
	id = dictionary_module(&dictionary, &a);
	assert_int_equal(dictionary_module(&dictionary, &moved), id);
	assert_int_not_equal(dictionary_module(&dictionary, &plain), id);
	assert_int_not_equal(dictionary_module(&dictionary, &replaced),
			     dictionary_module(&dictionary, &plain));
	assert_ptr_not_equal(dictionary.modules.items[id].path, a.path);
	assert_string_equal(dictionary.modules.items[id].path, "/a");
	dictionary_fini(&dictionary);
}

static void processes_and_threads_are_known_by_their_keys(void **state)
{
	struct process process = {.pid = 1, .start_ns = 5, .comm = "a"};
	struct process again = {.pid = 1, .start_ns = 5, .comm = "b"};
	struct process reused = {.pid = 1, .start_ns = 6};
	struct dictionary dictionary;
	uint32_t id;

	assert_int_equal(dictionary_init(&dictionary), 0);
	id = dictionary_process(&dictionary, &process);
	assert_int_equal(dictionary_process(&dictionary, &again), id);
	assert_int_not_equal(dictionary_process(&dictionary, &reused), id);
	assert_int_equal(dictionary_thread(&dictionary, &(struct thread){id, 7, "t"}),
			 dictionary_thread(&dictionary, &(struct thread){id, 7, "t"}));
	assert_int_not_equal(dictionary_thread(&dictionary, &(struct thread){id, 7, "t"}),
			     dictionary_thread(&dictionary, &(struct thread){id, 7, "renamed"}));
	dictionary_fini(&dictionary);
}

static void stacks_share_frames(void **state)
{
	const struct frame frames[] = {
		{FRAME_NATIVE, 0, 1}, {FRAME_KERNEL, 0, 1}, {FRAME_NATIVE, 0, 1}};
	struct dictionary dictionary;

	assert_int_equal(dictionary_init(&dictionary), 0);
	assert_int_equal(dictionary_stack(&dictionary, frames, 0), 0);
	assert_int_equal(dictionary_stack(&dictionary, frames, 3),
			 dictionary_stack(&dictionary, frames, 3));
	assert_int_equal(dictionary.frames.count, 2);
	assert_int_equal(dictionary.stacks.nodes.count, 4);
	dictionary_fini(&dictionary);
}

static void a_stack_after_another_keeps_its_own_id(void **state)
{
	const struct frame deep[] = {
		{FRAME_NATIVE, 0, 1}, {FRAME_NATIVE, 0, 2}, {FRAME_NATIVE, 0, 3}};
	const struct frame fork[] = {
		{FRAME_NATIVE, 0, 1}, {FRAME_NATIVE, 0, 4}, {FRAME_NATIVE, 0, 3}};
	struct dictionary dictionary;
	uint32_t ids[5];

	assert_int_equal(dictionary_init(&dictionary), 0);
	for (int round = 0; round < 2; round++) {
		const uint32_t again[5] = {dictionary_stack(&dictionary, deep, 3),
					   dictionary_stack(&dictionary, deep, 1),
					   dictionary_stack(&dictionary, fork, 3),
					   dictionary_stack(&dictionary, deep, 2),
					   dictionary_stack(&dictionary, fork, 2)};

		if (round == 1)
			assert_memory_equal(again, ids, sizeof(ids));
		memcpy(ids, again, sizeof(ids));
	}
	for (int i = 0; i < 5; i++)
		for (int k = 0; k < i; k++)
			assert_int_not_equal(ids[i], ids[k]);
	assert_int_equal(dictionary.stacks.nodes.count, 6);
	dictionary_fini(&dictionary);
}

static void forgetting_stacks_keeps_what_is_named_at_the_end(void **state)
{
	struct dictionary dictionary;
	struct frame frames[] = {{FRAME_NATIVE, 0, 1},
				 {FRAME_KERNEL, 2, 2},
				 {FRAME_NATIVE, 1, 3},
				 {FRAME_NATIVE, MODULE_NONE, 4},
				 {FRAME_KERNEL, 2, 5}};

	(void)state;
	assert_int_equal(dictionary_init(&dictionary), 0);
	assert_int_equal(dictionary_module(&dictionary, &(struct module){.path = "/a"}), 0);
	assert_int_equal(dictionary_module(&dictionary, &(struct module){.kind = MODULE_ANONYMOUS,
									 .path = "//anon"}),
			 1);
	assert_int_equal(dictionary_stack(&dictionary, frames, 5), 5);
	assert_int_equal(dictionary_forget_stacks(&dictionary, true), 0);
	assert_int_equal(dictionary.stacks.nodes.count, 1);
	assert_int_equal(dictionary.frames.count, 3);
	assert_int_equal(dictionary.frames.items[0].b, 2);
	assert_int_equal(dictionary.frames.items[1].b, 3);
	assert_int_equal(dictionary.frames.items[2].b, 5);
	/* What stays is found again. */
	assert_int_equal(dictionary_frame(&dictionary, frames[4]), 2);
	assert_int_equal(dictionary_stack(&dictionary, frames, 2), 2);
	dictionary_fini(&dictionary);
}

static void label_sets_do_not_depend_on_order(void **state)
{
	const struct label labels[] = {{"b", "2"}, {"a", "1"}, {"c", "3"}};
	const struct label sorted[] = {{"a", "1"}, {"b", "2"}, {"c", "3"}};
	const struct label twice[] = {{"a", "0"}, {"c", "3"}, {"b", "2"}, {"a", "1"}};
	struct dictionary dictionary;
	struct label_set set;
	uint32_t id;

	assert_int_equal(dictionary_init(&dictionary), 0);
	id = dictionary_labels(&dictionary, labels, 3);
	assert_int_not_equal(id, 0);
	assert_int_equal(dictionary_labels(&dictionary, sorted, 3), id);
	assert_int_equal(dictionary_labels(&dictionary, twice, 4), id);
	assert_int_not_equal(dictionary_labels(&dictionary, labels, 2), id);
	assert_int_equal(dictionary_labels(&dictionary, NULL, 0), 0);
	set = dictionary.labels.sets.items[id];
	assert_int_equal(set.count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_string_equal(strings_get(&dictionary.strings,
						dictionary.labels.pairs.items[set.first + i].key),
				    sorted[i].key);
	dictionary_fini(&dictionary);
}

static void too_many_labels_are_refused(void **state)
{
	struct label labels[LABELS_MAX + 1];
	struct dictionary dictionary;
	char keys[LABELS_MAX + 1][8];

	assert_int_equal(dictionary_init(&dictionary), 0);
	for (int i = 0; i <= LABELS_MAX; i++) {
		(void)snprintf(keys[i], sizeof(keys[i]), "%d", i);
		labels[i] = (struct label){keys[i], "x"};
	}
	assert_int_not_equal(dictionary_labels(&dictionary, labels, LABELS_MAX), ID_NONE);
	assert_int_equal(dictionary_labels(&dictionary, labels, LABELS_MAX + 1), ID_NONE);
	dictionary_fini(&dictionary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modules_are_known_by_build_id_then_by_file),
		cmocka_unit_test(processes_and_threads_are_known_by_their_keys),
		cmocka_unit_test(stacks_share_frames),
		cmocka_unit_test(a_stack_after_another_keeps_its_own_id),
		cmocka_unit_test(forgetting_stacks_keeps_what_is_named_at_the_end),
		cmocka_unit_test(label_sets_do_not_depend_on_order),
		cmocka_unit_test(too_many_labels_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
