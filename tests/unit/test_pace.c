/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/pace.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "record/remote/status.h"

/* An engine that may fail to change its rate. */
struct fake {
	uint32_t hz;
	bool broken;
	unsigned int asked;
	unsigned int told;
	double ring_fill;
};

static int fake_open(const struct engine_config *config, const struct target *target,
		     struct sink *sink, void **ret_self, struct error *err)
{
	(void)config, (void)sink, (void)err;
	memcpy(ret_self, &target->ids, sizeof(*ret_self)); /* the test's own */
	return 0;
}

static int fake_set_rate(void *self, uint32_t hz, struct error *err)
{
	struct fake *fake = self;

	fake->asked++;
	if (fake->broken)
		return error_set(err, -EBADF, "it is broken");
	fake->hz = hz;
	return 0;
}

static void fake_stats(void *self, bool final, struct engine_stats *ret)
{
	(void) final;
	ret->granted.frequency_hz = 997;
	ret->memory.ring_fill = ((struct fake *)self)->ring_fill;
}

static void fake_close(void *self)
{
	(void)self;
}

static const struct engine_ops ops = {
	.open = fake_open, .set_rate = fake_set_rate, .stats = fake_stats, .close = fake_close};

static void on_notice(void *self, const char *text)
{
	struct fake *fake = self;

	assert_non_null(strstr(text, "it is broken"));
	fake->told++;
}

/* What `wick status` would be told; the caller frees it. */
static char *status_of(const struct pace *pace)
{
	struct engine_stats stats = {0};
	struct recorder_status status = {
		.title = "x", .engine = "x", .stats = &stats, .pace = pace, .output = "x"};
	struct bytes text = {0};

	status_write(&status, &text);
	bytes_put_u8(&text, 0);
	assert_false(text.failed);
	return (char *)text.data;
}

static void assert_state(const struct pace *pace, const char *words)
{
	char *text = status_of(pace);

	if (!strstr(text, words))
		fail_msg("\"%s\" is not in %s", words, text);
	free(text);
}

static void who_cannot_pause_does_not_say_that_it_does(void **state)
{
	struct fake fake = {.hz = 997};
	struct pace_config config = {.notice = on_notice, .self = &fake};
	struct target target = {.ids = (const pid_t *)&fake};
	struct engine *engine = NULL;
	uint64_t now_ns = clock_monotonic_ns();
	struct pace pace;

	(void)state;
	assert_int_equal(engine_open(&ops, NULL, &target, NULL, &engine, NULL), 0);
	pace_begin(&pace, &config, engine);
	assert_state(&pace, "\"state\":\"recording\",\"why\":null");
	fake.broken = true;
	assert_int_equal(pace_ask(&pace, true, now_ns), -EIO);
	assert_state(&pace, "\"state\":\"recording\",\"why\":\"cannot change the rate: it is");
	pace_look(&pace, now_ns, 0); /* the same would fail again */
	assert_int_equal(fake.asked, 1);
	assert_int_equal(pace_ask(&pace, true, now_ns), -EIO);
	assert_int_equal(pace.failures, 2);
	assert_int_equal(fake.told, 1);
	fake.broken = false;
	assert_int_equal(pace_ask(&pace, true, now_ns), 0);
	assert_state(&pace, "\"state\":\"paused\",\"why\":\"asked\"");
	assert_state(&pace, "\"rate_failures\":2");
	assert_int_equal(fake.hz, 0);
	engine_close(engine);
}

static bool is_hurried_after(bool endless, uint64_t calm_ns)
{
	struct fake fake = {.hz = 997, .ring_fill = 0.9};
	struct pace_config config = {.endless = endless};
	struct target target = {.ids = (const pid_t *)&fake};
	struct engine *engine = NULL;
	uint64_t now_ns = clock_monotonic_ns();
	struct pace pace;

	assert_int_equal(engine_open(&ops, NULL, &target, NULL, &engine, NULL), 0);
	pace_begin(&pace, &config, engine);
	now_ns += 2 * NS_PER_SEC;
	pace_look(&pace, now_ns, 0);
	assert_true(pace.hurried);
	fake.ring_fill = 0;
	pace_look(&pace, now_ns + calm_ns, 0);
	engine_close(engine);
	return pace.hurried;
}

static void an_endless_recorder_does_not_hurry_for_ever(void **state)
{
	(void)state;
	assert_true(is_hurried_after(true, 30 * NS_PER_SEC));
	assert_false(is_hurried_after(true, 61 * NS_PER_SEC));
	assert_true(is_hurried_after(false, 61 * NS_PER_SEC));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_cannot_pause_does_not_say_that_it_does),
		cmocka_unit_test(an_endless_recorder_does_not_hurry_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
