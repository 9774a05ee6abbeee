/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/error.h"
#include "engine/engine.h"
#include "fake_sink.h"

static const struct engine_config usual = {
	.event = "cpu-clock", .frequency_hz = 97, .depth = 64, .kernel = true};

static const struct engine_ops *working_engine(void)
{
	const struct engine_ops *ops = engine_find("auto", NULL, NULL);

	if (!ops)
		skip(); /* no engine works here; wick doctor says why */
	return ops;
}

static void every_engine_has_all_its_parts_and_is_found_by_name(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; engine_table[i]; i++) {
		const struct engine_ops *ops = engine_table[i];

		assert_ptr_equal(engine_find(ops->name, NULL, NULL), ops);
		assert_true(ops->summary && ops->probe && ops->open && ops->start && ops->fd &&
			    ops->drain && ops->stop && ops->stats && ops->notice && ops->close);
	}
	assert_true(i > 0);
}

static void an_unknown_engine_is_named_with_a_remedy(void **state)
{
	struct error err = {0};

	(void)state;
	assert_null(engine_find("steam", NULL, &err));
	assert_int_equal(err.code, -EINVAL);
	assert_non_null(strstr(err.text, "steam"));
	assert_non_null(strstr(err.remedy, "wick list engines"));
}

static void auto_gives_an_engine_or_says_why_not(void **state)
{
	struct error err = {0};
	const struct engine_ops *ops = engine_find("auto", NULL, &err);

	(void)state;
	assert_true(ops || (err.code < 0 && err.text[0]));
}

static void an_event_that_is_not_there_is_refused_by_name(void **state)
{
	struct engine_config config = usual;
	struct target target = {.kind = TARGET_MACHINE};
	struct engine *engine = NULL;
	struct error err = {0};
	struct fake_sink fake;

	(void)state;
	fake_sink_init(&fake);
	config.event = "steam";
	assert_int_equal(engine_open(engine_table[0], &config, &target, &fake.sink, &engine, &err),
			 -EINVAL);
	assert_null(engine);
	assert_non_null(strstr(err.text, "steam"));
	fake_sink_fini(&fake);
}

static void a_process_that_is_not_there_is_refused_by_number(void **state)
{
	pid_t pid = 5000000;
	struct target target = {.kind = TARGET_PROCESSES, .ids = &pid, .count = 1};
	struct engine *engine = NULL;
	struct error err = {0};
	struct fake_sink fake;

	(void)state;
	fake_sink_init(&fake);
	assert_int_equal(engine_open(working_engine(), &usual, &target, &fake.sink, &engine, &err),
			 -ESRCH);
	assert_non_null(strstr(err.text, "5000000"));
	target.kind = TARGET_THREADS;
	assert_int_equal(engine_open(working_engine(), &usual, &target, &fake.sink, &engine, &err),
			 -ESRCH);
	assert_non_null(strstr(err.text, "5000000"));
	assert_null(engine);
	fake_sink_fini(&fake);
}

static void a_zombie_is_refused_with_the_reason(void **state)
{
	struct target target = {.kind = TARGET_PROCESSES, .count = 1};
	struct engine *engine = NULL;
	struct error err = {0};
	struct fake_sink fake;
	siginfo_t info;
	pid_t pid;

	(void)state;
	fake_sink_init(&fake);
	pid = fork();
	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	target.ids = &pid;
	assert_int_equal(engine_open(working_engine(), &usual, &target, &fake.sink, &engine, &err),
			 -ESRCH);
	assert_non_null(strstr(err.text, "has ended"));
	assert_true(err.remedy[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	fake_sink_fini(&fake);
}

static int too_many(const struct engine_config *config, const struct target *target,
		    struct sink *sink, void **ret_self, struct error *err)
{
	(void)config, (void)target, (void)sink, (void)ret_self;
	return error_errno(err, -EMFILE, "cannot open so many");
}

static void an_engine_that_fails_on_a_target_gives_way_where_none_was_named(void **state)
{
	const struct engine_ops greedy = {.name = "greedy", .open = too_many};
	struct engine_config config = usual;
	struct target target = {.kind = TARGET_PROCESSES, .count = 1};
	struct engine *engine = NULL;
	struct error err = {0};
	struct fake_sink fake;
	pid_t pid;

	(void)state;
	(void)working_engine();
	fake_sink_init(&fake);
	pid = fork();
	if (pid == 0) {
		(void)pause();
		_exit(0);
	}
	target.ids = &pid;
	assert_int_equal(engine_open(&greedy, &config, &target, &fake.sink, &engine, &err),
			 -EMFILE);
	assert_null(engine);
	assert_non_null(strstr(err.text, "cannot open so many"));
	config.may_fall_back = true;
	assert_int_equal(engine_open(&greedy, &config, &target, &fake.sink, &engine, &err), 0);
	assert_non_null(engine_find(engine_name(engine), NULL, NULL));
	engine_close(engine);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	fake_sink_fini(&fake);
}

/* Whether a process told to the sink has code mapped at the address. */
static bool is_told(const struct fake_sink *fake, uint64_t address)
{
	size_t i;

	for (i = 0; i < fake->maps.count; i++)
		if (fake->maps.items[i].start <= address && address < fake->maps.items[i].end)
			return true;
	return false;
}

/* CPU time that is many periods long. */
static void burn_some_samples(void)
{
	uint64_t end_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) + 40 * NS_PER_MS;

	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		;
}

static void what_is_mapped_between_opening_and_starting_is_known(void **state)
{
	pid_t pid = getpid();
	struct target target = {.kind = TARGET_PROCESSES, .ids = &pid, .count = 1};
	struct engine *engine = NULL;
	struct fake_sink fake;
	void *code;

	(void)state;
	fake_sink_init(&fake);
	assert_int_equal(engine_open(working_engine(), &usual, &target, &fake.sink, &engine, NULL),
			 0);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(code, MAP_FAILED);
	assert_int_equal(engine_start(engine, NULL), 0);
	burn_some_samples(); /* maps are told of processes that have any */
	assert_int_equal(engine_stop(engine, NULL), 0);
	assert_true(is_told(&fake, (uint64_t)(uintptr_t)code));
	engine_close(engine);
	assert_int_equal(munmap(code, 4096), 0);
	fake_sink_fini(&fake);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_engine_has_all_its_parts_and_is_found_by_name),
		cmocka_unit_test(an_unknown_engine_is_named_with_a_remedy),
		cmocka_unit_test(auto_gives_an_engine_or_says_why_not),
		cmocka_unit_test(an_event_that_is_not_there_is_refused_by_name),
		cmocka_unit_test(a_process_that_is_not_there_is_refused_by_number),
		cmocka_unit_test(a_zombie_is_refused_with_the_reason),
		cmocka_unit_test(an_engine_that_fails_on_a_target_gives_way_where_none_was_named),
		cmocka_unit_test(what_is_mapped_between_opening_and_starting_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
