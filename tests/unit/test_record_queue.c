/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/record_queue.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>
#include <linux/perf_event.h>

#define MAX_SEEN 64

struct seen {
	struct record_queue queue;
	uint32_t types[MAX_SEEN]; /* of the records that came out, in order */
	size_t count;
	int answer;
};

static int take(void *self, const struct perf_event_header *record)
{
	struct seen *seen = self;

	assert_true(seen->count < MAX_SEEN);
	assert_int_equal((uintptr_t)record % 8, 0);
	seen->types[seen->count++] = record->type;
	return seen->answer;
}

/* Puts a record of an odd size, from an odd address, as they stand behind compressed ones. */
static void put(struct seen *seen, uint64_t time_ns, uint32_t type)
{
	struct perf_event_header header = {.type = type, .size = 21};
	uint8_t bytes[32] = {0};

	memcpy(bytes + 1, &header, sizeof(header));
	assert_int_equal(record_queue_put(&seen->queue, time_ns, bytes + 1, header.size), 0);
}

static void assert_seen(const struct seen *seen, const uint32_t *types, size_t count)
{
	assert_int_equal(seen->count, count);
	if (count > 0)
		assert_memory_equal(seen->types, types, count * sizeof(*types));
}

static void rounds_hand_out_what_nothing_can_come_before(void **state)
{
	struct seen seen = {0};

	(void)state;
	record_queue_init(&seen.queue, take, &seen);
	put(&seen, 30, 3);
	put(&seen, 10, 1);
	assert_int_equal(record_queue_round(&seen.queue), 0);
	assert_seen(&seen, NULL, 0);
	put(&seen, 20, 2); /* of another CPU: late, but within a round */
	put(&seen, 40, 4);
	assert_int_equal(record_queue_round(&seen.queue), 0);
	assert_seen(&seen, (const uint32_t[]){1, 2, 3}, 3);
	put(&seen, 35, 5);
	assert_int_equal(record_queue_end(&seen.queue), 0);
	assert_seen(&seen, (const uint32_t[]){1, 2, 3, 5, 4}, 5);
	record_queue_fini(&seen.queue);
}

static void records_of_one_time_keep_their_order(void **state)
{
	struct seen seen = {0};

	(void)state;
	record_queue_init(&seen.queue, take, &seen);
	put(&seen, 20, 9);
	for (uint32_t i = 0; i < 5; i++)
		put(&seen, 10, i);
	assert_int_equal(record_queue_end(&seen.queue), 0);
	assert_seen(&seen, (const uint32_t[]){0, 1, 2, 3, 4, 9}, 6);
	record_queue_fini(&seen.queue);
}

static void full_memory_hands_out_the_older_half(void **state)
{
	struct seen seen = {0};

	(void)state;
	record_queue_init(&seen.queue, take, &seen);
	seen.queue.limit_bytes = 4 * 24;
	put(&seen, 40, 4);
	put(&seen, 30, 3);
	put(&seen, 20, 2);
	assert_int_equal(seen.count, 0);
	put(&seen, 10, 1);
	assert_seen(&seen, (const uint32_t[]){1, 2, 3}, 3);
	assert_true(seen.queue.data.size < seen.queue.limit_bytes);
	assert_int_equal(record_queue_end(&seen.queue), 0);
	assert_seen(&seen, (const uint32_t[]){1, 2, 3, 4}, 4);
	record_queue_fini(&seen.queue);
}

static void a_refusal_stops_the_handing_out(void **state)
{
	struct seen seen = {.answer = -EIO};

	(void)state;
	record_queue_init(&seen.queue, take, &seen);
	put(&seen, 10, 1);
	put(&seen, 20, 2);
	assert_int_equal(record_queue_end(&seen.queue), -EIO);
	assert_int_equal(seen.count, 1);
	record_queue_fini(&seen.queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_hand_out_what_nothing_can_come_before),
		cmocka_unit_test(records_of_one_time_keep_their_order),
		cmocka_unit_test(full_memory_hands_out_the_older_half),
		cmocka_unit_test(a_refusal_stops_the_handing_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
