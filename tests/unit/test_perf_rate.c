/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/perf/perf_rate.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "engine/perf/perf.h"
#include "engine/perf/perf_engine.h"

#define EVENTS 4
#define FIRST_FD 1000

/* What the kernel would keep of events, one of which may take no other period. */
static uint64_t periods[EVENTS];
static int broken;

int __wrap_ioctl(int fd, unsigned long request, uint64_t *value);
int __wrap_ioctl(int fd, unsigned long request, uint64_t *value)
{
	(void)request;
	if (fd - FIRST_FD == broken) {
		errno = EBADF;
		return -1;
	}
	periods[fd - FIRST_FD] = *value;
	return 0;
}

int __wrap_perf_engine_drain(void *self, struct error *err);
int __wrap_perf_engine_drain(void *self, struct error *err)
{
	(void)self;
	(void)err;
	return 0;
}

uint64_t __wrap_perf_count_run_ns(struct perf_engine *engine);
uint64_t __wrap_perf_count_run_ns(struct perf_engine *engine)
{
	(void)engine;
	return 0;
}

static struct perf_engine *make_engine(void)
{
	struct perf_engine *engine = calloc(1, sizeof(*engine));

	assert_non_null(engine);
	engine->by_cpu = engine->clock = true;
	engine->output.stats.granted.frequency_hz = 1000;
	engine->grant.attr.sample_period = NS_PER_SEC / 1000;
	for (int i = 0; i < EVENTS; i++) {
		periods[i] = NS_PER_SEC / 1000;
		assert_int_equal(vec_push(&engine->events, FIRST_FD + i), 0);
	}
	assert_int_equal(perf_rate_begin(engine, false), 0);
	return engine;
}

static void free_engine(struct perf_engine *engine)
{
	perf_rate_fini(&engine->rate);
	vec_fini(&engine->events);
	free(engine);
}

static void assert_all_have(uint64_t period)
{
	for (int i = 0; i < EVENTS; i++)
		assert_int_equal(periods[i], period);
}

static void a_change_that_fails_midway_is_taken_back(void **state)
{
	struct perf_engine *engine = make_engine();
	struct error err = {0};

	(void)state;
	broken = 2;
	assert_int_equal(perf_engine_set_rate(engine, 100, &err), -EBADF);
	assert_non_null(strstr(err.text, "cannot change the rate"));
	assert_all_have(NS_PER_SEC / 1000);
	assert_int_equal(engine->grant.attr.sample_period, NS_PER_SEC / 1000);
	assert_int_equal(engine->rate.hz, 1000);
	broken = -1;
	assert_int_equal(perf_engine_set_rate(engine, 100, &err), 0);
	assert_all_have(NS_PER_SEC / 100);
	assert_int_equal(engine->rate.hz, 100);
	free_engine(engine);
}

static void what_comes_after_the_end_is_not_recorded(void **state)
{
	struct perf_rate rate = {0};

	(void)state;
	perf_rate_end(&rate, 1000);
	assert_int_equal(perf_rate_active_ns(&rate, 400, 1300), 600);
	assert_int_equal(perf_rate_active_ns(&rate, 1100, 1300), 0);
	perf_rate_end(&rate, 1200); /* it ended in a pause */
	assert_int_equal(perf_rate_active_ns(&rate, 400, 1300), 600);
	vec_fini(&rate.pauses);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_that_fails_midway_is_taken_back),
		cmocka_unit_test(what_comes_after_the_end_is_not_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
