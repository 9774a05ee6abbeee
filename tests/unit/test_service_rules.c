/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/service_rules.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agent/process_facts.h"
#include "base/error.h"

static const struct process_facts nginx = {
	.cgroup = "/system.slice/nginx.service", .unit = "nginx.service", .comm = "nginx"};
static const struct process_facts pod = {.cgroup = "/kubepods/pod7/0123456789ab",
					 .container = "0123456789ab",
					 .comm = "java",
					 .service = "checkout"};
static const struct process_facts script = {.comm = "python3.11"};

static void expect(const char *const *texts, size_t count, const struct process_facts *facts,
		   const char *name)
{
	struct service_rules *rules;
	struct error err = {0};
	char text[64];

	assert_int_equal(service_rules_new(texts, count, &rules, &err), 0);
	service_rules_name(rules, facts, text, sizeof(text));
	assert_string_equal(text, name);
	service_rules_free(rules);
}

static void by_default_the_environment_counts_before_the_unit_and_the_command(void **state)
{
	(void)state;
	expect(service_rules_default, 3, &nginx, "nginx");
	expect(service_rules_default, 3, &pod, "checkout");
	expect(service_rules_default, 3, &script, "python3.11");
}

static void the_first_rule_that_applies_counts(void **state)
{
	static const char *const rules[] = {"comm=python*:scripts", "cgroup=/kubepods/*", "unit"};

	(void)state;
	expect(rules, 3, &script, "scripts");
	expect(rules, 3, &pod, "0123456789ab");
	expect(rules, 3, &nginx, "nginx");
}

static void without_a_rule_that_applies_the_command_names_the_service(void **state)
{
	static const char *const rules[] = {"env"};
	static const struct process_facts nobody = {0};

	(void)state;
	expect(rules, 1, &nginx, "nginx");
	expect(rules, 0, &script, "python3.11");
	expect(rules, 0, &nobody, "unknown");
}

static void wrong_rules_are_refused_with_the_right_form(void **state)
{
	static const char *const wrong[] = {"",        "name", "comm=", "comm=:x",
					    "comm=x:", "=x",   "envx"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct service_rules *rules = NULL;
		struct error err = {0};

		assert_int_equal(service_rules_new(&wrong[i], 1, &rules, &err), -EINVAL);
		assert_non_null(strstr(err.remedy, "SOURCE=PATTERN:NAME"));
		assert_null(rules);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_default_the_environment_counts_before_the_unit_and_the_command),
		cmocka_unit_test(the_first_rule_that_applies_counts),
		cmocka_unit_test(without_a_rule_that_applies_the_command_names_the_service),
		cmocka_unit_test(wrong_rules_are_refused_with_the_right_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
