/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"

static void commas_nesting_and_escapes_are_its_business(void **state)
{
	struct bytes out = {0};
	struct json json;

	json_init(&json, &out, false);
	json_open_object(&json, NULL);
	json_string(&json, "na\"me", "a\n<b>\xff");
	json_open_array(&json, "list");
	json_u64(&json, NULL, UINT64_MAX);
	json_i64(&json, NULL, -5);
	json_double(&json, NULL, 1.25, 1);
	json_double(&json, NULL, NAN, 1);
	json_bool(&json, NULL, true);
	json_string(&json, NULL, NULL);
	json_close(&json);
	json_open_object(&json, "empty");
	json_close(&json);
	json_close(&json);
	bytes_put_u8(&out, 0);
	assert_string_equal((char *)out.data,
			    "{\"na\\\"me\":\"a\\u000a\\u003cb>\xef\xbf\xbd\",\"list\":"
			    "[18446744073709551615,-5,1.2,null,true,null],\"empty\":{}}");
	bytes_fini(&out);
}

static void pretty_text_has_lines(void **state)
{
	struct bytes out = {0};
	struct json json;

	json_init(&json, &out, true);
	json_open_object(&json, NULL);
	json_u64(&json, "a", 1);
	json_close(&json);
	bytes_put_u8(&out, 0);
	assert_string_equal((char *)out.data, "{\n  \"a\": 1\n}\n");
	bytes_fini(&out);
}

static void too_deep_nesting_fails(void **state)
{
	struct bytes out = {0};
	struct json json;

	json_init(&json, &out, false);
	for (int i = 0; i <= JSON_MAX_DEPTH; i++)
		json_open_array(&json, NULL);
	assert_true(out.failed);
	bytes_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_nesting_and_escapes_are_its_business),
		cmocka_unit_test(pretty_text_has_lines),
		cmocka_unit_test(too_deep_nesting_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
