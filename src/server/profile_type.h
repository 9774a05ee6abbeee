/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_PROFILE_TYPE_H
#define WICK_SERVER_PROFILE_TYPE_H

/*
 * profile_type: names that Pyroscope's clients use for our labels and types:
 * NAME:TYPE:UNIT:PERIOD_TYPE:PERIOD_UNIT, such as process_cpu:cpu:nanoseconds:cpu:nanoseconds.
 */

#include <stddef.h>

struct error;
struct query;
struct store_match;

struct profile_type_id {
	const char *name;
	const char *period_type;
	const char *period_unit;
	char text[256];
};

struct profile_type_id profile_type_id(const char *type, const char *unit);

/* Our type of an id; an id without colons is a type itself. */
void profile_type_of_id(const char *id, char *ret, size_t size);

const char *profile_type_own_label(const char *label);
const char *profile_type_their_label(const char *label);

/* Adds a match of theirs to a query: types among the labels become its type. */
int profile_type_match(struct query *query, const struct store_match *match, struct error *err);

#endif
