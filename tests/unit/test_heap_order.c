/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/event_order.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct taker {
	size_t calls;
	size_t count;
	uint64_t last_ns;
	uint64_t last_of[100]; /* by thread: the address of its last event */
	int answer;
};

/* Events must come in order, those of a thread with growing addresses. */
static int take(void *self, const struct heap_event *events, size_t count)
{
	struct taker *taker = self;

	taker->calls++;
	for (size_t i = 0; i < count; i++) {
		uint32_t thread = heap_event_thread(&events[i]);

		assert_true(events[i].time_ns >= taker->last_ns);
		assert_true(events[i].address == taker->last_of[thread] + 1);
		taker->last_ns = events[i].time_ns;
		taker->last_of[thread] = events[i].address;
	}
	taker->count += count;
	return taker->answer;
}

static void put(struct heap_order *order, uint32_t thread, uint64_t address, uint64_t time_ns)
{
	struct heap_event event = {.address = address, .time_ns = time_ns};

	assert_int_equal(heap_order_add(order, &(struct heap_batch){thread, 1, &event}), 0);
}

static void events_wait_until_all_before_them_are_there(void **state)
{
	static struct heap_order order;
	struct taker taker = {0};

	put(&order, 7, 1, 100);
	put(&order, 7, 2, 200);
	assert_int_equal(heap_order_until(&order, 100, take, &taker), 0);
	assert_int_equal(taker.count, 0);
	put(&order, 3, 1, 150);
	assert_int_equal(heap_order_until(&order, 200, take, &taker), 0);
	assert_int_equal(taker.count, 2);
	assert_int_equal(taker.last_ns, 150);
	assert_int_equal(heap_order_until(&order, UINT64_MAX, take, &taker), 0);
	assert_int_equal(taker.count, 3);
	assert_int_equal(order.late + order.backward, 0);
	heap_order_fini(&order);
}

static void one_thread_alone_is_handed_out_whole(void **state)
{
	static struct heap_order order;
	struct taker taker = {0};

	for (uint64_t i = 1; i <= 10000; i++)
		put(&order, 0, i, i);
	assert_int_equal(heap_order_until(&order, UINT64_MAX, take, &taker), 0);
	assert_int_equal(taker.count, 10000);
	assert_int_equal(taker.calls, 1);
	heap_order_fini(&order);
}

static void late_and_backward_events_are_counted_and_handed_out(void **state)
{
	static struct heap_order order;
	struct taker taker = {0};

	put(&order, 0, 1, 100);
	put(&order, 0, 2, 50); /* as if at 100 */
	assert_int_equal(heap_order_until(&order, 300, take, &taker), 0);
	assert_int_equal(taker.count, 2);
	assert_int_equal(order.backward, 1);
	put(&order, 1, 1, 200);
	assert_int_equal(heap_order_until(&order, 400, take, &taker), 0);
	assert_int_equal(taker.count, 3);
	assert_int_equal(order.late, 1);
	heap_order_fini(&order);
}

static void a_refusal_ends_it(void **state)
{
	static struct heap_order order;
	struct taker taker = {.answer = -EIO};

	put(&order, 0, 1, 100);
	assert_int_equal(heap_order_until(&order, 300, take, &taker), -EIO);
	heap_order_fini(&order);
}

static void many_threads_come_in_order(void **state)
{
	for (unsigned int seed = 0; seed < 20; seed++) {
		static struct heap_order order;
		struct taker taker = {0};
		uint64_t addresses[100] = {0};
		uint64_t times[100] = {0};
		size_t put_in = 0;

		srandom(seed);
		for (uint64_t until_ns = 1000; until_ns < 20000; until_ns += 1000) {
			for (uint32_t i = 0; i < 2000; i++) {
				uint32_t thread = (uint32_t)random() % 100;
				uint64_t step_ns = (uint64_t)random() % (thread < 2 ? 20 : 900);

				if (times[thread] < until_ns - 1000)
					times[thread] = until_ns - 1000;
				if (times[thread] + step_ns >= until_ns + 500)
					continue;
				times[thread] += step_ns;
				put(&order, thread, ++addresses[thread], times[thread]);
				put_in++;
			}
			assert_int_equal(heap_order_until(&order, until_ns, take, &taker), 0);
		}
		assert_int_equal(heap_order_until(&order, UINT64_MAX, take, &taker), 0);
		assert_int_equal(taker.count, put_in);
		assert_int_equal(order.late, 0);
		heap_order_fini(&order);
		order = (struct heap_order){0};
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_wait_until_all_before_them_are_there),
		cmocka_unit_test(one_thread_alone_is_handed_out_whole),
		cmocka_unit_test(late_and_backward_events_are_counted_and_handed_out),
		cmocka_unit_test(a_refusal_ends_it),
		cmocka_unit_test(many_threads_come_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
