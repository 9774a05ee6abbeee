/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"
#include "net/http_browser.h"

static void an_origin_is_ours_if_it_is_what_the_request_went_to(void **state)
{
	static const struct {
		const char *origin;
		const char *host;
		bool has_tls;
		bool is_ours;
	} cases[] = {
		{"http://127.0.0.1:4040", "127.0.0.1:4040", false, true},
		{"http://localhost:4040", "LOCALHOST:4040", false, true},
		{"http://[::1]:4040", "[::1]:4040", false, true},
		{"https://wick.example", "wick.example", true, true},
		{"https://wick.example", "wick.example", false, true}, /* a proxy has the TLS */
		{"http://wick.example", "wick.example", true, false},
		{"http://127.0.0.1:4041", "127.0.0.1:4040", false, false},
		{"http://localhost:4040", "127.0.0.1:4040", false, false},
		{"http://localhost", "localhost:4040", false, false},
		{"http://evil.example", "127.0.0.1:4040", false, false},
		{"http://127.0.0.1:4040.evil.example", "127.0.0.1:4040", false, false},
		{"http://127.0.0.1:4040/", "127.0.0.1:4040", false, false},
		{"null", "127.0.0.1:4040", false, false},
		{"", "", false, false},
		{"http://", "", false, false},
		{"http://localhost", NULL, false, false},
		{"file://localhost", "localhost", false, false},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(
			http_origin_is_host(cases[i].origin, cases[i].host, cases[i].has_tls),
			cases[i].is_ours);
}

static void only_pages_of_this_server_may_ask(void **state)
{
	static const struct {
		struct http_browser_facts facts;
		bool may;
	} cases[] = {
		/* programs */
		{{.method = "GET", .host = "localhost"}, true},
		{{.method = "POST", .host = "localhost"}, true},
		/* our page, its modules, its frame, an address that was typed */
		{{.method = "GET", .host = "a", .site = "same-origin", .mode = "cors"}, true},
		{{.method = "POST", .host = "a", .origin = "http://a", .site = "same-origin"},
		 true},
		{{.method = "GET",
		  .host = "a",
		  .site = "same-origin",
		  .mode = "navigate",
		  .dest = "iframe",
		  .has_cookie = true},
		 true},
		{{.method = "GET", .host = "a", .site = "none", .mode = "navigate"}, true},
		/* a link elsewhere that a person follows */
		{{.method = "GET",
		  .host = "a",
		  .site = "cross-site",
		  .mode = "navigate",
		  .dest = "document"},
		 true},
		/* other pages: frames, images and scripts, other ports, forms, sandboxed ones */
		{{.method = "GET",
		  .host = "a",
		  .site = "cross-site",
		  .mode = "navigate",
		  .dest = "iframe"},
		 false},
		{{.method = "GET",
		  .host = "a",
		  .site = "cross-site",
		  .mode = "no-cors",
		  .dest = "image"},
		 false},
		{{.method = "GET", .host = "a", .site = "same-site", .mode = "no-cors"}, false},
		{{.method = "POST",
		  .host = "a",
		  .origin = "http://b",
		  .site = "cross-site",
		  .mode = "navigate",
		  .dest = "document"},
		 false},
		{{.method = "POST",
		  .host = "a",
		  .site = "cross-site",
		  .mode = "navigate",
		  .dest = "document"},
		 false},
		{{.method = "GET", .host = "a", .origin = "null"}, false},
		{{.method = "GET", .host = "a", .origin = "http://b"}, false},
		/* a change by a cookie says which page asks for it */
		{{.method = "POST", .host = "a", .has_cookie = true}, false},
		{{.method = "POST", .host = "a", .origin = "http://a", .has_cookie = true}, true},
		{{.method = "GET", .host = "a", .has_cookie = true}, true},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(http_browser_refusal(&cases[i].facts) == NULL, cases[i].may);
}

static void servers_on_other_ports_have_cookies_of_other_names(void **state)
{
	static const struct {
		const char *host;
		bool has_tls;
		const char *name;
	} cases[] = {
		{"127.0.0.1:4040", false, "wick_4040"},
		{"[::1]:80", false, "wick_80"},
		{"[::1]", false, "wick"},
		{"wick.example", true, "__Host-wick"},
		{"wick.example:8443", true, "__Host-wick_8443"},
		{"a:12;x=y", false, "wick"},
		{"a:123456", false, "wick"},
		{"[::1", false, "wick"},
		{"", false, "wick"},
		{NULL, false, "wick"},
	};
	char name[HTTP_COOKIE_NAME_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		http_cookie_name(cases[i].host, cases[i].has_tls, name);
		assert_string_equal(name, cases[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_origin_is_ours_if_it_is_what_the_request_went_to),
		cmocka_unit_test(only_pages_of_this_server_may_ask),
		cmocka_unit_test(servers_on_other_ports_have_cookies_of_other_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
