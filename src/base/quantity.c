/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"

struct step {
	double size;
	const char *suffix;
};

static const struct step time_steps[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
static const struct step size_steps[] = {
	{1024.0 * 1024 * 1024, "GiB"}, {1024.0 * 1024, "MiB"}, {1024, "KiB"}, {1, "B"}};

/* Decimals of a value in any unit but the smallest. */
static int decimals_of(double value)
{
	return fabs(value) < 9.995 ? 2 : 1; /* 9.995 is written as 10.0 */
}

/* Whether a value, rounded in this unit, reaches the next larger unit. */
static bool rounds_up(double value, const struct step *steps, size_t i, bool smallest)
{
	double power = smallest ? 1 : 10;
	double written = round(fabs(value) / steps[i].size * power) / power;

	return written * steps[i].size >= steps[i - 1].size;
}

/* Three to four significant digits: 1.23 s, 12.3 s, 123.4 s. */
static struct quantity scaled(double value, const struct step *steps, size_t count)
{
	struct quantity quantity;
	size_t i = 0;
	int decimals;

	if (value == 0)
		return quantity_count(0);
	while (i + 1 < count && fabs(value) < steps[i].size)
		i++;
	if (i > 0 && rounds_up(value, steps, i, i + 1 == count))
		i--;
	value /= steps[i].size;
	decimals = decimals_of(value);
	if (i + 1 == count)
		decimals = 0; /* the smallest unit has no fractions */
	(void)snprintf(quantity.text, sizeof(quantity.text), "%.*f %s", decimals, value,
		       steps[i].suffix); /* a double of 19 digits fits */
	return quantity;
}

struct quantity quantity_count(uint64_t count)
{
	struct quantity quantity;
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);
	size_t used = 0;
	int i;

	for (i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			quantity.text[used++] = ',';
		quantity.text[used++] = digits[i];
	}
	quantity.text[used] = '\0';
	return quantity;
}

struct quantity quantity_of(int64_t value, const char *unit)
{
	struct quantity quantity;
	struct quantity absolute;

	if (strcmp(unit, "nanoseconds") == 0)
		return scaled((double)value, time_steps, ARRAY_SIZE(time_steps));
	if (strcmp(unit, "bytes") == 0)
		return scaled((double)value, size_steps, ARRAY_SIZE(size_steps));
	absolute = quantity_count(value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
	(void)snprintf(quantity.text, sizeof(quantity.text), "%s%.40s", value < 0 ? "-" : "",
		       absolute.text); /* at most 26 characters and a sign */
	return quantity;
}

double quantity_percent(int64_t part, int64_t whole)
{
	return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

struct quantity quantity_share(int64_t part, int64_t whole)
{
	struct quantity quantity;

	(void)snprintf(quantity.text, sizeof(quantity.text), "%.1f%%",
		       quantity_percent(part, whole)); /* fits */
	return quantity;
}

struct quantity quantity_change(int64_t change, const char *unit)
{
	struct quantity quantity;
	struct quantity plain = quantity_of(change, unit);

	(void)snprintf(quantity.text, sizeof(quantity.text), "%s%.40s", change > 0 ? "+" : "",
		       plain.text); /* fits: see quantity_of() */
	return quantity;
}

/* A rounded 0 has no sign. */
static double without_sign(double value, double smallest)
{
	return fabs(value) < smallest / 2 ? 0 : value;
}

struct quantity quantity_points(double change)
{
	struct quantity quantity;
	double points = without_sign(100 * change, 0.1);

	(void)snprintf(quantity.text, sizeof(quantity.text), points == 0 ? "%.1f pp" : "%+.1f pp",
		       points); /* shares are small numbers */
	return quantity;
}

struct quantity quantity_relative(double before, double after)
{
	struct quantity quantity;
	double percent;

	if (before == 0 || after == 0) {
		(void)snprintf(quantity.text, sizeof(quantity.text), "%s",
			       before == after ? "-"
			       : before == 0   ? "new"
					       : "gone");
		return quantity;
	}
	percent = without_sign(100 * (after / before - 1), 0.1);
	(void)snprintf(quantity.text, sizeof(quantity.text), percent == 0 ? "%.1f%%" : "%+.1f%%",
		       percent < 1e15 ? percent : 1e15); /* fits */
	return quantity;
}

struct quantity quantity_confidence(double confidence)
{
	struct quantity quantity;

	if (confidence > 0.999)
		return (struct quantity){">99.9%"};
	(void)snprintf(quantity.text, sizeof(quantity.text), "%.1f%%", 100 * confidence);
	return quantity;
}

const char *quantity_bar(uint64_t value, uint64_t highest)
{
	static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	double eighths = highest > 0 ? 8.0 * (double)value / (double)highest : 0;
	size_t height = (size_t)(eighths + 0.5);

	if (value > 0 && height == 0)
		height = 1;
	return blocks[height < 8 ? height : 8];
}
