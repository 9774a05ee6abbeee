/* SPDX-License-Identifier: BSD-2-Clause */
#include "safe/exponential.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MEAN 524288u
#define DRAWS 1000000u

static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

static void test_steps_are_logarithms(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (unsigned int i = 0; i < 100000; i++) {
		/* Of all magnitudes, for the smallest make the largest steps. */
		uint64_t value = next_random(&random) >> (i % 63);
		double right = -log(ldexp((double)(value | 1), -64)) * MEAN;
		double step = (double)exponential_step(MEAN, value);

		assert_true(fabs(step - right) <= 0.001 * right + 1.5);
	}
}

static void test_the_ends_of_the_range(void **state)
{
	(void)state;
	assert_int_equal(exponential_step(MEAN, UINT64_MAX), 1);
	assert_true(exponential_step(MEAN, 0) > 44 * (uint64_t)MEAN);
	assert_true(exponential_step(1ull << 40, 0) > 44ull << 40);
	assert_int_equal(exponential_step(1, UINT64_MAX), 1);
}

/* Mean and spread, and the share of blocks of a size that a step ends in. */
static void test_many_steps_have_the_right_sums(void **state)
{
	uint64_t random = 7;
	uint64_t hits = 0;
	double sum = 0;
	double squares = 0;

	(void)state;
	for (unsigned int i = 0; i < DRAWS; i++) {
		double step = (double)exponential_step(MEAN, next_random(&random)) / MEAN;

		sum += step;
		squares += step * step;
		hits += step <= 0.1;
	}
	/* Five standard errors of 0.001, 0.0045 and 0.0003. */
	assert_true(fabs(sum / DRAWS - 1) < 0.005);
	assert_true(fabs(squares / DRAWS - 2) < 0.0225);
	assert_true(fabs((double)hits / DRAWS - (1 - exp(-0.1))) < 0.0015);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_are_logarithms),
		cmocka_unit_test(test_the_ends_of_the_range),
		cmocka_unit_test(test_many_steps_have_the_right_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
