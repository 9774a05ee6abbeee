/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "net/content_coding.h"
#include "net/http_server.h"
#include "net/rate_limit.h"
#include "server/bursts.h"
#include "server/push/multipart.h"

static struct rate_limit limit;

static void a_client_may_burst_and_then_go_on_at_its_rate(void **state)
{
	uint64_t now_ns = NS_PER_SEC;
	int i;

	rate_limit_init(&limit, 2, 4);
	for (i = 0; i < 4; i++)
		assert_int_equal(rate_limit_take(&limit, "a", now_ns), 0);
	assert_int_not_equal(rate_limit_take(&limit, "a", now_ns), 0);
	now_ns += NS_PER_SEC;
	assert_int_equal(rate_limit_take(&limit, "a", now_ns), 0);
	assert_int_equal(rate_limit_take(&limit, "a", now_ns), 0);
	assert_int_not_equal(rate_limit_take(&limit, "a", now_ns), 0);
	rate_limit_fini(&limit);
}

static void a_body_decompresses_up_to_its_limit(void **state)
{
	static const uint8_t plain[100000];
	uint8_t packed[2000];
	uLongf size = sizeof(packed);
	struct bytes out = {0};
	struct error err = {0};

	assert_int_equal(compress2(packed, &size, plain, sizeof(plain), 9), Z_OK);
	assert_int_equal(content_decode("gzip", packed, size, sizeof(plain), &out, &err), 0);
	assert_int_equal(out.size, sizeof(plain));
	bytes_clear(&out);
	assert_int_equal(content_decode("gzip", packed, size, sizeof(plain) - 1, &out, &err),
			 -EFBIG);
	bytes_clear(&out);
	assert_int_equal(content_decode("gzip", packed, size / 2, 1 << 20, &out, &err), -EBADMSG);
	bytes_clear(&out);
	assert_int_equal(content_decode("zstd", "tea", 3, 100, &out, &err), -EBADMSG);
	assert_int_equal(content_decode("br", "tea", 3, 100, &out, &err), -EOPNOTSUPP);
	bytes_clear(&out);
	assert_int_equal(content_decode(NULL, "tea", 3, 3, &out, &err), 0);
	assert_int_equal(content_decode("identity", "tea", 3, 2, &out, &err), -EFBIG);
	bytes_fini(&out);
}

static void an_error_becomes_a_status_that_says_whether_to_try_again(void **state)
{
	static const struct {
		int code;
		unsigned int status;
	} known[] = {{-EBADMSG, 400}, {-EFBIG, 413},  {-EOPNOTSUPP, 415}, {-EPERM, 403},
		     {-ENOSPC, 507},  {-ENOMEM, 503}, {-EIO, 500}};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct http_response response = {0};
		struct error err = {.code = known[i].code, .text = "a \"b\"", .remedy = "c"};

		http_refuse_error(&response, 0, &err);
		assert_int_equal(response.status, known[i].status);
		bytes_put_u8(&response.body, 0);
		assert_string_equal((char *)response.body.data,
				    "{\"error\":\"a \\\"b\\\"\",\"remedy\":\"c\"}\n");
		bytes_fini(&response.body);
	}
}

static void a_part_is_found_by_its_name(void **state)
{
	static const char body[] =
		"--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\none\r\n"
		"--x\r\nContent-Disposition: form-data; filename=\"a\"; "
		"name=\"b\"\r\n\r\ntwo\r\n--x--\r\n";
	const uint8_t *data = (const uint8_t *)body;
	const char *type = "multipart/form-data; boundary=x";
	struct multipart_part part;

	assert_true(multipart_find(type, data, sizeof(body) - 1, "b", &part));
	assert_int_equal(part.size, 3);
	assert_memory_equal(part.data, "two", 3);
	assert_false(multipart_find(type, data, sizeof(body) - 1, "c", &part));
	assert_false(multipart_find("text/plain", data, sizeof(body) - 1, "a", &part));
	assert_false(multipart_find(type, data, 52, "a", &part));
}

static void bursts_are_limited_by_service_host_and_time(void **state)
{
	static struct bursts bursts;
	struct burst order = {.service = "web", .rate_hz = 1000, .seconds = 60, .hosts = 10};
	struct burst given;
	struct error err = {0};

	bursts_init(&bursts);
	assert_false(bursts_take(&bursts, "h1", "web", 2, 1000, &given));
	assert_int_equal(bursts_ask(&bursts, &order, 600, 1000, &given, &err), 0);
	assert_int_equal(bursts_ask(&bursts, &order, 600, 1599, &given, &err), -EBUSY);
	assert_false(bursts_take(&bursts, "h1", "other", 2, 1000, &given));
	assert_true(bursts_take(&bursts, "h1", "web", 2, 1000, &given));
	assert_false(bursts_take(&bursts, "h1", "web", 2, 1001, &given)); /* it has it */
	assert_true(bursts_take(&bursts, "h2", "web", 2, 1001, &given));
	assert_false(bursts_take(&bursts, "h3", "web", 2, 1002, &given)); /* two run it */
	assert_true(bursts_take(&bursts, "h3", "web", 2, 1061, &given));
	assert_false(bursts_take(&bursts, "h4", "web", 9, 1000 + BURST_WAIT_S + 1, &given));
	assert_int_equal(bursts_ask(&bursts, &order, 600, 1600, &given, &err), 0);
	bursts_fini(&bursts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_client_may_burst_and_then_go_on_at_its_rate),
		cmocka_unit_test(a_body_decompresses_up_to_its_limit),
		cmocka_unit_test(an_error_becomes_a_status_that_says_whether_to_try_again),
		cmocka_unit_test(a_part_is_found_by_its_name),
		cmocka_unit_test(bursts_are_limited_by_service_host_and_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
