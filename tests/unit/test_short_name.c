/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "load/names/short_name.h"

struct name_case {
	const char *name;
	const char *expected; /* NULL: it stays as it is */
};

static void check(const struct name_case *cases, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		char *text = short_name(cases[i].name);

		if (cases[i].expected)
			assert_string_equal(text ? text : "(none)", cases[i].expected);
		else
			assert_null(text);
		free(text);
	}
}

static void arguments_and_template_parameters_go(void **state)
{
	static const struct name_case cases[] = {
		{"main", NULL},
		{"std::map<int, long>::find(int const&) const", "std::map<>::find"},
		{"a<b<c>, d<e>>::f(g<h>, i (*)(j))", "a<>::f"},
		{"f(int)", "f"},
		{"f[abi:cxx11](int)", "f[abi:cxx11]"},
		{"Outer::f(int)::Local::g()", "Outer::f::Local::g"},
		{"f(", "f("},
		{"a<b", "a<b"},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

static void operators_keep_their_own_brackets(void **state)
{
	static const struct name_case cases[] = {
		{"A::operator<(A const&) const", "A::operator<"},
		{"A::operator()(int)", "A::operator()"},
		{"operator<< <int>(A&, int)", "operator<< <>"},
		{"A::operator->() const", "A::operator->"},
		{"A::operator<=>(A const&)", "A::operator<=>"},
		{"A::operator[](unsigned long)", "A::operator[]"},
		{"A::operator bool() const", "A::operator bool"},
		{"my_operator<int>(int)", "my_operator<>"},
		{"sort<&A::operator< >(int)", "sort<>"},
		{"bool A::operator()<B<int>, C<int> >(B<int>, C<int>) const",
		 "bool A::operator()<>"},
		{"f(int)::{lambda(auto)#1}::operator()<int>(int) const",
		 "f::{lambda#1}::operator()<>"},
		{"std::operator==<char, A<char> >(int)", "std::operator==<>"},
		{"A::operator[]<long>(long)", "A::operator[]<>"},
		{"my_operator()<int>", "my_operator()<int>"},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

static void lambdas_stay_in_the_name(void **state)
{
	static const struct name_case cases[] = {
		{"main::{lambda(int)#1}::operator()(int) const", "main::{lambda#1}::operator()"},
		{"f(int)::{lambda()#2}::operator()() const", "f::{lambda#2}::operator()"},
		{"A::f(int) const::{lambda()#1}::operator()() const",
		 "A::f::{lambda#1}::operator()"},
		{"f()::'lambda'(int)::operator()(int) const", "f::'lambda'::operator()"},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

static void the_anonymous_namespace_stays(void **state)
{
	static const struct name_case cases[] = {
		{"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
		{"a::(anonymous namespace)::b<int>::c()", "a::(anonymous namespace)::b<>::c"},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

static void odd_return_types_do_not_swallow_the_name(void **state)
{
	static const struct name_case cases[] = {
		{"decltype(auto) f<int>(int)", "decltype f<>"},
		{"int (*f<int>(int))(char)", NULL},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

static void rust_names_lose_their_generics(void **state)
{
	static const struct name_case cases[] = {
		{"core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place<>"},
		{"<alloc::vec::Vec<T> as core::ops::Drop>::drop",
		 "<alloc::vec::Vec<> as core::ops::Drop>::drop"},
		{"app::main::{closure#0}", NULL},
		{"app::run::<fn(i32) -> i32>", "app::run::<>"},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

static void names_of_other_languages_keep_their_function(void **state)
{
	static const struct name_case cases[] = {
		{"main.(*Server).Serve", "main.(*Server).Serve"},
		{"main.(*List[go.shape.int]).Push.func1", "main.(*List[go.shape.int]).Push.func1"},
		{"Function: ~(anonymous) /home/app.js:3:5",
		 "Function: ~(anonymous) /home/app.js:3:5"},
		{"render (page.rb:12)", "render (page.rb:12)"},
		{"<module>", "<module>"},
		{"py::<lambda>:/home/x.py", "(none)"},
		{"core::str::<impl str>::trim", "core::str::<impl str>::trim"},
		{"app.sort!(int).swap(int)", "app.sort!.swap"},
		{"f(int) [clone .cold]", "f"},
		{"A::~A()", "A::~A"},
		{"operator new(unsigned long)", "operator new"},
		{"A::operator*(int)", "A::operator*"},
		{"A::operator==(A const&) const", "A::operator=="},
		{"com.shop.Cart.add(int)/x", "com.shop.Cart.add(int)/x"},
	};

	(void)state;
	check(cases, ARRAY_SIZE(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_and_template_parameters_go),
		cmocka_unit_test(operators_keep_their_own_brackets),
		cmocka_unit_test(lambdas_stay_in_the_name),
		cmocka_unit_test(the_anonymous_namespace_stays),
		cmocka_unit_test(odd_return_types_do_not_swallow_the_name),
		cmocka_unit_test(rust_names_lose_their_generics),
		cmocka_unit_test(names_of_other_languages_keep_their_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
