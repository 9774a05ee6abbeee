/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_QUANTITY_H
#define WICK_BASE_QUANTITY_H

/* quantity: numbers as people read them. */

#include <stdint.h>

struct quantity {
	char text[48];
};

/* "12.3 ms", "4.0 MiB" or "1,234" for the units nanoseconds, bytes and others. */
struct quantity quantity_of(int64_t value, const char *unit);
struct quantity quantity_count(uint64_t count);              /* "1,234,567" */
struct quantity quantity_share(int64_t part, int64_t whole); /* "12.3%"; "0.0%" when whole is 0 */

/* The plural ending for a count: "" or "s". */
static inline const char *quantity_s(uint64_t count)
{
	return count == 1 ? "" : "s";
}

/*
 * One of nine block characters: blank, then eighths of the highest value. A value above 0 is never
 * blank.
 */
const char *quantity_bar(uint64_t value, uint64_t highest);

/* Changes have a sign. */
struct quantity quantity_change(int64_t change, const char *unit); /* "+12.3 ms" */
struct quantity quantity_points(double change);                    /* of shares: "+1.2 pp" */

/*
 * The change relative to before, "+12.3%"; "new" or "gone" when before or after is 0, "-" when both
 * are.
 */
struct quantity quantity_relative(double before, double after);

/* "97.5%"; at most ">99.9%", because nothing is certain. */
struct quantity quantity_confidence(double confidence);

/* part / whole in percent; 0 when whole is 0. */
double quantity_percent(int64_t part, int64_t whole);

#endif
