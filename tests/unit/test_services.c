/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/services.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "agent/process_facts.h"
#include "base/error.h"
#include "model/dictionary.h"

/* Process 7 runs in a unit, 8 has ended, and its parent is 7. */
static int read_some(pid_t pid, struct process_facts *ret)
{
	*ret = (struct process_facts){0};
	if (pid != 7)
		return -ESRCH;
	(void)snprintf(ret->unit, sizeof(ret->unit), "shop.service");
	return 0;
}

static const char *label_of(const struct services *services, uint32_t process, const char *key)
{
	static struct label labels[LABELS_MAX];
	size_t n = services_labels(services, process, labels);

	for (size_t i = 0; i < n; i++)
		if (strcmp(labels[i].key, key) == 0)
			return labels[i].value;
	return NULL;
}

static uint32_t add_process(struct dictionary *dictionary, uint32_t pid, uint32_t parent,
			    const char *comm)
{
	return dictionary_process(dictionary, &(struct process){.pid = pid,
								.parent_pid = parent,
								.comm = comm,
								.executable = "/bin/shop"});
}

/* Process 9 is in the middle of an exec when it is read for the first time, 10 never has anything.
 */
static int reads_of_9;

static int read_during_exec(pid_t pid, struct process_facts *ret)
{
	*ret = (struct process_facts){.is_bare = pid == 10 || (pid == 9 && reads_of_9++ == 0)};
	if (pid == 9 && !ret->is_bare)
		(void)snprintf(ret->service, sizeof(ret->service), "web");
	return 0;
}

static void labels_come_from_the_process_the_user_and_the_program(void **state)
{
	static const char *const labels[] = {"zone=b", "team=x=y"};
	struct services_config config = {.labels = labels, .label_count = 2, .read = read_some};
	struct module module = {.kind = MODULE_FILE,
				.path = "/bin/shop",
				.build_id = {.size = 20, .bytes = {0xab, 0xcd}}};
	struct dictionary dictionary;
	struct services *services;
	struct error err = {0};
	uint32_t process;

	(void)state;
	assert_int_equal(dictionary_init(&dictionary), 0);
	assert_int_equal(services_new(&config, &services, &err), 0);
	(void)dictionary_module(&dictionary, &module);
	process = add_process(&dictionary, 7, 1, "worker");
	(void)services_meet(services, &dictionary, process);
	assert_string_equal(label_of(services, process, "service"), "shop");
	assert_string_equal(label_of(services, process, "unit"), "shop.service");
	assert_string_equal(label_of(services, process, "process"), "worker");
	assert_string_equal(label_of(services, process, "release"), "abcd00000000");
	assert_string_equal(label_of(services, process, "zone"), "b");
	assert_string_equal(label_of(services, process, "team"), "x=y");
	assert_null(label_of(services, process, "container"));
	services_free(services);
	dictionary_fini(&dictionary);
}

static void a_process_that_has_ended_belongs_to_the_service_of_its_parent(void **state)
{
	struct services_config config = {.release = "v3", .read = read_some};
	struct dictionary dictionary;
	struct services *services;
	struct error err = {0};
	uint32_t process;
	uint32_t orphan;

	(void)state;
	assert_int_equal(dictionary_init(&dictionary), 0);
	assert_int_equal(services_new(&config, &services, &err), 0);
	process = add_process(&dictionary, 8, 7, "helper");
	orphan = add_process(&dictionary, 9, 1, "orphan");
	(void)services_meet(services, &dictionary, process);
	(void)services_meet(services, &dictionary, orphan);
	assert_string_equal(label_of(services, process, "service"), "shop");
	assert_string_equal(label_of(services, process, "process"), "helper");
	assert_string_equal(label_of(services, process, "release"), "v3");
	assert_string_equal(label_of(services, orphan, "service"), "orphan");
	assert_int_equal(services_count(services), 2);
	services_free(services);
	dictionary_fini(&dictionary);
}

static void threads_of_the_kernel_lose_their_numbers(void **state)
{
	struct services_config config = {.read = read_some};
	struct dictionary dictionary;
	struct services *services;
	struct error err = {0};
	uint32_t process;

	(void)state;
	assert_int_equal(dictionary_init(&dictionary), 0);
	assert_int_equal(services_new(&config, &services, &err), 0);
	process = add_process(&dictionary, 40, 2, "kworker/u8:3-events");
	(void)services_meet(services, &dictionary, process);
	assert_string_equal(label_of(services, process, "service"), "kworker");
	services_free(services);
	dictionary_fini(&dictionary);
}

static void new_rules_apply_to_processes_that_run_and_not_to_those_that_ended(void **state)
{
	static const char *const rules[] = {"comm"};
	struct services_config before = {.read = read_some};
	struct services_config after = {.rules = rules, .rule_count = 1, .read = read_some};
	struct dictionary dictionary;
	struct services *old;
	struct services *fresh;
	struct error err = {0};
	uint32_t running;
	uint32_t ended;

	(void)state;
	assert_int_equal(dictionary_init(&dictionary), 0);
	assert_int_equal(services_new(&before, &old, &err), 0);
	assert_int_equal(services_new(&after, &fresh, &err), 0);
	running = add_process(&dictionary, 7, 1, "worker");
	ended = add_process(&dictionary, 8, 7, "helper");
	(void)services_meet(old, &dictionary, running);
	(void)services_meet(old, &dictionary, ended);
	services_meet_again(fresh, old, &dictionary);
	assert_string_equal(label_of(fresh, running, "service"), "worker");
	assert_string_equal(label_of(fresh, ended, "service"), "shop");
	services_free(old);
	services_free(fresh);
	dictionary_fini(&dictionary);
}

static void of_many_services_the_largest_are_kept(void **state)
{
	static const char *const names[] = {"small", "large", "middle"};
	static const uint64_t samples[] = {1, 100, 10};
	struct services_config config = {.read = read_some};
	struct dictionary dictionary;
	struct services *services;
	struct error err = {0};
	uint32_t ids[3];

	(void)state;
	assert_int_equal(dictionary_init(&dictionary), 0);
	assert_int_equal(services_new(&config, &services, &err), 0);
	for (uint32_t i = 0; i < 3; i++) {
		ids[i] = add_process(&dictionary, 20 + i, 1, names[i]);
		assert_true(services_meet(services, &dictionary, ids[i]));
		services_add_samples(services, ids[i], samples[i]);
	}
	services_restart(services, 2);
	assert_false(services_meet(services, &dictionary, ids[0]));
	assert_true(services_meet(services, &dictionary, ids[1]));
	assert_true(services_meet(services, &dictionary, ids[2]));
	assert_string_equal(label_of(services, ids[0], "service"), "other");
	assert_null(label_of(services, ids[0], "process"));
	assert_string_equal(label_of(services, ids[1], "service"), "large");
	services_restart(services, UINT32_MAX);
	assert_true(services_meet(services, &dictionary, ids[0]));
	assert_true(services_has(services, "small"));
	assert_false(services_has(services, "nobody"));
	services_free(services);
	dictionary_fini(&dictionary);
}

static void labels_that_the_agent_sets_or_that_are_no_names_are_refused(void **state)
{
	static const char *const wrong[] = {"",      "=x",        "zone",  "1a=x",
					    "a-b=x", "service=x", "host=x"};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(services_check_label(wrong[i], &err), -EINVAL);
	assert_int_equal(services_check_label("zone=", &err), 0);
	assert_int_equal(services_check_label("services=x", &err), 0);
}

static void a_process_without_an_environment_is_looked_at_once_more(void **state)
{
	struct services_config config = {.read = read_during_exec};
	struct dictionary dictionary;
	struct services *services;
	struct error err = {0};
	uint32_t starting;
	uint32_t bare;

	(void)state;
	assert_int_equal(dictionary_init(&dictionary), 0);
	assert_int_equal(services_new(&config, &services, &err), 0);
	starting = add_process(&dictionary, 9, 1, "shop");
	bare = add_process(&dictionary, 10, 1, "idle");
	(void)services_meet(services, &dictionary, starting);
	(void)services_meet(services, &dictionary, bare);
	assert_string_equal(label_of(services, starting, "service"), "shop");
	services_look_again(services, &dictionary);
	assert_string_equal(label_of(services, starting, "service"), "web");
	assert_string_equal(label_of(services, bare, "service"), "idle");
	reads_of_9 = 0;
	services_look_again(services, &dictionary); /* nothing is read any more */
	assert_int_equal(reads_of_9, 0);
	services_free(services);
	dictionary_fini(&dictionary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_without_an_environment_is_looked_at_once_more),
		cmocka_unit_test(labels_come_from_the_process_the_user_and_the_program),
		cmocka_unit_test(a_process_that_has_ended_belongs_to_the_service_of_its_parent),
		cmocka_unit_test(threads_of_the_kernel_lose_their_numbers),
		cmocka_unit_test(new_rules_apply_to_processes_that_run_and_not_to_those_that_ended),
		cmocka_unit_test(of_many_services_the_largest_are_kept),
		cmocka_unit_test(labels_that_the_agent_sets_or_that_are_no_names_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
