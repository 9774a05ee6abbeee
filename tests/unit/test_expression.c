/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/expression.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static bool compiles(const char *text)
{
	char reason[EXPRESSION_REASON];
	regex_t expression;

	if (expression_compile(&expression, text, reason) < 0)
		return false;
	regfree(&expression);
	return true;
}

static void ordinary_expressions_are_compiled(void **state)
{
	(void)state;
	assert_true(compiles(""));
	assert_true(compiles("^std::(vector|map)<.*>::operator[][]$"));
	assert_true(compiles("a{2,5}(b{3}){4}[{+]+[[:alpha:]+]+"));
	assert_true(compiles("x+y+z+x+y+z+x+y+z+x+y+z+x+y+z+x+y+z+x+y+z+"));
	assert_true(compiles("operator\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+\\+"));
}

static void what_is_no_expression_has_a_reason(void **state)
{
	char reason[EXPRESSION_REASON];
	regex_t expression;

	(void)state;
	assert_int_equal(expression_compile(&expression, "(a", reason), -EINVAL);
	assert_non_null(strstr(reason, "("));
}

static void repetitions_that_multiply_are_refused(void **state)
{
	char deep[256];
	char reason[EXPRESSION_REASON];
	regex_t expression;

	(void)state;
	assert_false(compiles("api++++++++++++++++++++++++++++++++++++++++++"));
	assert_false(compiles("(((((a{99}){99}){99}){99}){99})"));
	assert_false(compiles("((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+"));
	assert_false(compiles("(x{255,}){255,}"));
	assert_false(compiles("api+++()++++++++++++")); /* small, but nothing, many times */
	assert_false(compiles("((((()*)*)*)*)*"));
	assert_true(compiles("(((a+b*)?c)*d){2}"));
	memset(deep, '(', sizeof(deep));
	deep[sizeof(deep) - 1] = '\0';
	assert_false(compiles(deep));
	assert_int_equal(expression_compile(&expression, "((a{200}){200}){200}", reason), -EINVAL);
	assert_string_equal(reason, "it repeats too much");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_expressions_are_compiled),
		cmocka_unit_test(what_is_no_expression_has_a_reason),
		cmocka_unit_test(repetitions_that_multiply_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
