/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"

int number_parse_u64(const char *text, uint64_t *ret)
{
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
	const char *digits = base == 16 ? text + 2 : text;
	char *end;
	unsigned long long value;

	if (base == 16 ? !isxdigit((unsigned char)digits[0]) : !isdigit((unsigned char)digits[0]))
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, base); /* from the start: no second 0x among the digits */
	if (*end)
		return -EINVAL;
	if (errno == ERANGE)
		return -ERANGE;
	*ret = value;
	return 0;
}

int number_parse_double(const char *text, double *ret)
{
	char *end;
	double value;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.' && text[0] != '-')
		return -EINVAL;
	errno = 0;
	value = strtod(text, &end);
	if (*end || end == text)
		return -EINVAL;
	if (errno == ERANGE || !isfinite(value))
		return -ERANGE;
	*ret = value;
	return 0;
}

struct unit {
	const char *name;
	double factor;
};

/* A decimal number, then one of the units; "" is the unit of a bare number. */
static int parse_with_unit(const char *text, const struct unit *units, size_t n, uint64_t *ret)
{
	char *end;
	double value;
	size_t i;

	if (!isdigit((unsigned char)text[0]) && text[0] != '.')
		return -EINVAL;
	value = strtod(text, &end);
	if (end == text)
		return -EINVAL;
	for (i = 0; i < n; i++) {
		if (strcasecmp(end, units[i].name) != 0)
			continue;
		value *= units[i].factor;
		if (!isfinite(value) || value >= 18446744073709551615.0)
			return -ERANGE;
		*ret = (uint64_t)llround(value);
		return 0;
	}
	return -EINVAL;
}

int number_parse_duration(const char *text, uint64_t *ret_ns)
{
	static const struct unit units[] = {
		{"", 1e9},   {"s", 1e9},  {"ms", 1e6},   {"us", 1e3},
		{"ns", 1.0}, {"m", 6e10}, {"min", 6e10}, {"h", 3.6e12},
	};

	return parse_with_unit(text, units, ARRAY_SIZE(units), ret_ns);
}

int number_parse_size(const char *text, uint64_t *ret_bytes)
{
	static const struct unit units[] = {
		{"", 1},
		{"B", 1},
		{"K", 1024.0},
		{"KB", 1024.0},
		{"KiB", 1024.0},
		{"M", 1048576.0},
		{"MB", 1048576.0},
		{"MiB", 1048576.0},
		{"G", 1073741824.0},
		{"GB", 1073741824.0},
		{"GiB", 1073741824.0},
	};

	return parse_with_unit(text, units, ARRAY_SIZE(units), ret_bytes);
}
