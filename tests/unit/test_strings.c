/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/strings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash_seed.h"

static void equal_texts_have_equal_ids(void **state)
{
	struct strings strings;
	uint32_t id;

	assert_int_equal(strings_init(&strings), 0);
	assert_int_equal(strings_add(&strings, ""), 0);
	id = strings_add(&strings, "main");
	assert_int_equal(strings_add_n(&strings, "mainly", 4), id);
	assert_int_equal(strings_add_n(&strings, "main\0x", 6), id);
	assert_int_not_equal(strings_add(&strings, "mai"), id);
	assert_string_equal(strings_get(&strings, id), "main");
	assert_string_equal(strings_get(&strings, 99), "");
	strings_fini(&strings);
}

static void texts_stay_where_they_are(void **state)
{
	struct strings strings;
	const char *first;
	char text[16];

	assert_int_equal(strings_init(&strings), 0);
	first = strings_get(&strings, strings_add(&strings, "first"));
	for (int i = 0; i < 20000; i++) {
		(void)snprintf(text, sizeof(text), "%d", i);
		assert_int_not_equal(strings_add(&strings, text), ID_NONE);
	}
	assert_ptr_equal(strings_get(&strings, strings_add(&strings, "first")), first);
	strings_fini(&strings);
}

/* Of a place that has no bytes, such as the end of a message. */
static void no_bytes_at_all_are_the_empty_text(void **state)
{
	struct strings strings;

	assert_int_equal(strings_init(&strings), 0);
	assert_int_equal(strings_add_n(&strings, NULL, 0), 0);
	strings_fini(&strings);
}

#define HOSTILE 4096u

/*
 * Adds texts of 32 bytes whose first eight cancel the constant that XXH3 begins with: without
 * a seed the next eight do not count, and all of them have one hash. Returns how many have
 * that of the first.
 */
static uint32_t collide(void)
{
	char text[] = "\xb8\xfe\x6c\x39\x23\xa4\x4b\xbe________same in all text";
	struct strings strings;
	uint32_t same = 0;
	uint32_t hash = 0;

	assert_int_equal(strlen(text), 32);
	assert_int_equal(strings_init(&strings), 0);
	for (uint32_t i = 0; i < HOSTILE; i++) {
		char number[9];

		(void)snprintf(number, sizeof(number), "%08u", i);
		memcpy(text + 8, number, 8);
		assert_int_equal(strings_add(&strings, text), i + 1);
	}
	for (uint32_t i = 0; i <= strings.index.mask; i++)
		if (strings.index.slots[i].id == 1)
			hash = strings.index.slots[i].hash;
	for (uint32_t i = 0; i <= strings.index.mask; i++)
		same += strings.index.slots[i].id != ID_NONE && strings.index.slots[i].hash == hash;
	strings_fini(&strings);
	return same;
}

static void texts_made_to_collide_have_hashes_of_their_own(void **state)
{
	struct hash_seed drawn = hash_seed;

	assert_int_not_equal(drawn.first, 0);
	assert_int_not_equal(drawn.first, drawn.second);
	assert_in_range(collide(), 1, 8);
	hash_seed.first = 0; /* as it would be if everybody knew it */
	assert_int_equal(collide(), HOSTILE);
	hash_seed = drawn;
}

static void only_texts_that_were_added_are_found(void **state)
{
	struct strings strings;
	uint32_t id;

	assert_int_equal(strings_init(&strings), 0);
	id = strings_add(&strings, "known");
	assert_int_equal(strings_find(&strings, "known"), id);
	assert_int_equal(strings_find(&strings, "unknown"), ID_NONE);
	assert_int_equal(strings_find(&strings, ""), 0);
	assert_int_equal(strings.entries.count, 2);
	strings_fini(&strings);
}

static void a_text_of_other_strings_is_found_by_its_entry(void **state)
{
	struct strings strings;
	struct strings others;
	uint32_t id;

	assert_int_equal(strings_init(&strings), 0);
	assert_int_equal(strings_init(&others), 0);
	id = strings_add(&strings, "known");
	(void)strings_add(&others, "unknown");
	(void)strings_add(&others, "known");
	assert_int_equal(strings_find_entry(&strings, &others.entries.items[0]), 0);
	assert_int_equal(strings_find_entry(&strings, &others.entries.items[1]), ID_NONE);
	assert_int_equal(strings_find_entry(&strings, &others.entries.items[2]), id);
	strings_fini(&strings);
	strings_fini(&others);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_texts_have_equal_ids),
		cmocka_unit_test(texts_stay_where_they_are),
		cmocka_unit_test(no_bytes_at_all_are_the_empty_text),
		cmocka_unit_test(only_texts_that_were_added_are_found),
		cmocka_unit_test(a_text_of_other_strings_is_found_by_its_entry),
		cmocka_unit_test(texts_made_to_collide_have_hashes_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
