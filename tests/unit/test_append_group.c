/* SPDX-License-Identifier: BSD-2-Clause */

/* Batches that wait at the same time share a transaction, and each has a result of its own. */

#include "store/append_group.h"

#include <pthread.h>

#include "store/store_state.h"

#include "store_world.h"

#define WAITING 6

struct sender {
	struct world *world;
	pthread_t thread;
	char id[32];
	uint32_t time_s;
	int result;
	struct error err;
};

static void *send_batch(void *self)
{
	struct sender *sender = self;
	struct store_series series = series_of("shop", "h1", "");
	struct store_row row = {.time_s = sender->time_s,
				.stack = sender->world->stacks[0],
				.samples = 1,
				.value = 1};
	struct store_batch batch = {.id = sender->id,
				    .profile = sender->world->profile,
				    .series = &series,
				    .series_count = 1,
				    .rows = &row,
				    .row_count = 1};

	sender->result = store_append(sender->world->store, &batch, &sender->err);
	return NULL;
}

static size_t count_waiting(struct embedded *store)
{
	const struct appending *item;
	size_t count = 0;

	(void)pthread_mutex_lock(&store->queue.lock);
	for (item = store->queue.first; item; item = item->next)
		count++;
	count += store->queue.is_busy;
	(void)pthread_mutex_unlock(&store->queue.lock);
	return count;
}

/* Sends one batch, and while it waits for the writer's lock the others, one after the other. */
static void send_together(struct world *world, struct sender *senders, size_t count)
{
	struct embedded *store = embedded_of(world->store);
	size_t i;

	(void)pthread_mutex_lock(&store->write_lock);
	for (i = 0; i < count; i++) {
		senders[i].world = world;
		assert_int_equal(pthread_create(&senders[i].thread, NULL, send_batch, &senders[i]),
				 0);
		while (count_waiting(store) < i + 1)
			(void)usleep(1000);
	}
	(void)pthread_mutex_unlock(&store->write_lock);
	for (i = 0; i < count; i++)
		assert_int_equal(pthread_join(senders[i].thread, NULL), 0);
}

static void those_that_wait_share_a_transaction(void **state)
{
	struct world *world = *state;
	struct sender senders[WAITING] = {{0}};
	struct store_stats stats;

	for (size_t i = 0; i < WAITING; i++) {
		(void)snprintf(senders[i].id, sizeof(senders[i].id), "together %zu", i);
		senders[i].time_s = START + (uint32_t)(i % 3) * HOUR;
	}
	send_together(world, senders, WAITING);
	for (size_t i = 0; i < WAITING; i++)
		assert_int_equal(senders[i].result, 0);
	store_stats(world->store, &stats);
	assert_int_equal(stats.batches, WAITING);
	assert_int_equal(stats.commits, 2); /* the first, and the others */
	assert_int_equal(total(world, all()), WAITING);
	reopen_store(world);
	assert_int_equal(total(world, all()), WAITING);
}

static void the_same_twice_in_a_group_is_stored_once(void **state)
{
	struct world *world = *state;
	struct sender senders[3] = {{.id = "a", .time_s = START},
				    {.id = "b", .time_s = START},
				    {.id = "b", .time_s = START}};

	send_together(world, senders, 3);
	assert_int_equal(senders[0].result, 0);
	assert_int_equal(senders[1].result + senders[2].result, 1);
	assert_int_equal(total(world, all()), 2);
}

static void one_that_cannot_be_written_does_not_stop_the_others(void **state)
{
	struct world *world = *state;
	struct sender senders[4] = {{.id = "a", .time_s = START},
				    {.id = "b", .time_s = START},
				    {.id = "c", .time_s = START + HOUR},
				    {.id = "d", .time_s = START + 2 * HOUR}};
	struct error err = {0};
	char sql[80];

	/* A table is in the way of the rows of c. */
	(void)snprintf(sql, sizeof(sql), "CREATE TABLE hot_%u_0 (wrong INTEGER)", START + HOUR);
	fail_with(database_run(&embedded_of(world->store)->database,
			       embedded_of(world->store)->writer, sql, &err),
		  &err);
	send_together(world, senders, 4);
	assert_int_equal(senders[0].result, 0);
	assert_int_equal(senders[1].result, 0);
	assert_true(senders[2].result < 0);
	assert_true(senders[2].err.text[0] != '\0');
	assert_int_equal(senders[3].result, 0);
	assert_int_equal(total(world, all()), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(those_that_wait_share_a_transaction),
		TEST(the_same_twice_in_a_group_is_stored_once),
		TEST(one_that_cannot_be_written_does_not_stop_the_others),
	};
	const struct CMUnitTest none[] = {cmocka_unit_test(the_store_needs_duckdb)};

	if (access(DUCKDB_LIBRARY, R_OK) < 0)
		return cmocka_run_group_tests_name("append_group", none, NULL, NULL);
	return cmocka_run_group_tests_name("append_group", tests, NULL, NULL);
}
