/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/query_time.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/number.h"

#define DAY_S 86400u

static int refuse(const char *text, struct error *err)
{
	(void)error_set(err, -EINVAL, "%.80s is not a time", text);
	error_remedy(err, "times are now, -15m, -7d, 14:05, 2026-11-16T14:05:00Z or seconds since "
			  "1970");
	return -EINVAL;
}

/* "15m", "7d", "2w": how long ago. */
static bool parse_ago(const char *text, uint64_t *ret_s)
{
	size_t n = strlen(text);
	char last = n > 0 ? text[n - 1] : '\0';
	uint64_t unit_s = last == 'd' ? DAY_S : last == 'w' ? 7 * DAY_S : 0;
	uint64_t value;
	char number[24];

	if (unit_s == 0) {
		if (number_parse_duration(text, &value) < 0)
			return false;
		*ret_s = value / 1000000000u;
		return true;
	}
	if (n - 1 >= sizeof(number))
		return false;
	memcpy(number, text, n - 1);
	number[n - 1] = '\0';
	if (number_parse_u64(number, &value) < 0 || value > UINT32_MAX)
		return false;
	*ret_s = value * unit_s;
	return true;
}

static bool parse_time_of_day(const char *text, uint64_t now_s, uint64_t *ret_s)
{
	time_t now = (time_t)now_s;
	struct tm day;
	const char *end;
	time_t at;

	if (!localtime_r(&now, &day))
		return false;
	day.tm_sec = 0;
	end = strptime(text, "%H:%M:%S", &day);
	if (!end || *end) {
		day.tm_sec = 0;
		end = strptime(text, "%H:%M", &day);
	}
	if (!end || *end)
		return false;
	day.tm_isdst = -1;
	at = mktime(&day);
	*ret_s = (uint64_t)(at > now ? at - (time_t)DAY_S : at);
	return true;
}

/* The offset of a zone: "Z", "+01:00", "+0100". */
static bool parse_zone(const char *text, long *ret_s)
{
	int sign = *text == '-' ? -1 : 1;
	struct tm offset = {0};
	const char *end;

	if (strcmp(text, "Z") == 0) {
		*ret_s = 0;
		return true;
	}
	if (*text != '+' && *text != '-')
		return false;
	end = strptime(text + 1, "%H:%M", &offset);
	if (!end || *end)
		end = strptime(text + 1, "%H%M", &offset);
	*ret_s = sign * (offset.tm_hour * 3600L + offset.tm_min * 60L);
	return end && !*end;
}

static bool parse_date(const char *text, uint64_t *ret_s)
{
	static const char *const formats[] = {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d"};
	size_t i;

	for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct tm date = {.tm_isdst = -1};
		const char *end = strptime(text, formats[i], &date);
		long zone_s;
		time_t at;

		if (!end || (*end && !parse_zone(end, &zone_s)))
			continue;
		at = *end ? timegm(&date) - zone_s : mktime(&date);
		*ret_s = (uint64_t)at;
		return at >= 0;
	}
	return false;
}

int query_time_parse(const char *text, uint64_t now_s, uint64_t *ret_s, struct error *err)
{
	uint64_t value = 0;

	if (strcmp(text, "now") == 0) {
		*ret_s = now_s;
		return 0;
	}
	if (text[0] == '-') {
		if (!parse_ago(text + 1, &value))
			return refuse(text, err);
		*ret_s = value < now_s ? now_s - value : 0;
		return 0;
	}
	if (number_parse_u64(text, &value) == 0 || parse_time_of_day(text, now_s, &value) ||
	    parse_date(text, &value)) {
		if (value > UINT32_MAX)
			return refuse(text, err);
		*ret_s = value;
		return 0;
	}
	return refuse(text, err);
}
