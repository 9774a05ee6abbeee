/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_SELECTOR_H
#define WICK_SERVER_SELECTOR_H

/*
 * selector: which profiles a query means.
 *
 *	service{label="v", label!="v", label=~"re", label!~"re"}
 *
 * The service or the braces may be left out; the empty selector selects everything. Inside quotes,
 * \" and \\ are a quote and a backslash. "service_name" is another name of "service", and
 * "__profile_type__" selects the type, because Pyroscope's clients use them.
 */

#include <stddef.h>

#include "store/store.h"

struct error;

#define SELECTOR_MATCHES_MAX 64
#define SELECTOR_BYTES_MAX 8192

struct selector {
	struct store_match matches[SELECTOR_MATCHES_MAX];
	size_t count;
	char texts[2 * SELECTOR_BYTES_MAX]; /* what the matches point to */
	size_t used;
};

/* Returns -EINVAL with what is wrong and where. */
int selector_parse(struct selector *selector, const char *text, struct error *err);

/* Adds a match. -E2BIG if there are too many. */
int selector_add(struct selector *selector, const char *name, enum store_match_kind kind,
		 const char *value, struct error *err);

/* The value that the selector requires for a label, or NULL. */
const char *selector_value(const struct selector *selector, const char *name);

#endif
