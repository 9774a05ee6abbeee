/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/profile_type.h"

#include <stdio.h>
#include <string.h>

#include "export/pyroscope_name.h"
#include "server/query.h"

struct profile_type_id profile_type_id(const char *type, const char *unit)
{
	struct profile_type_id id = {pyroscope_name(type), "cpu", "nanoseconds", ""};

	if (strcmp(id.name, "memory") == 0) {
		id.period_type = "space";
		id.period_unit = "bytes";
	} else if (strcmp(id.name, type) == 0) {
		id.period_type = type;
		id.period_unit = unit;
	}
	(void)snprintf(id.text, sizeof(id.text), "%.60s:%.60s:%.40s:%.40s:%.40s", id.name, type,
		       unit, id.period_type, id.period_unit);
	return id;
}

void profile_type_of_id(const char *id, char *ret, size_t size)
{
	const char *colon = strchr(id, ':');
	const char *at = colon ? colon + 1 : id;

	(void)snprintf(ret, size, "%.*s", (int)strcspn(at, ":"), at); /* a cut type has no rows */
}

const char *profile_type_own_label(const char *label)
{
	if (strcmp(label, "service_name") == 0)
		return "service";
	return strcmp(label, "__profile_type__") == 0 ? "type" : label;
}

const char *profile_type_their_label(const char *label)
{
	if (strcmp(label, "service") == 0)
		return "service_name";
	return strcmp(label, "type") == 0 ? "__profile_type__" : label;
}

int profile_type_match(struct query *query, const struct store_match *match, struct error *err)
{
	int r;

	if (strcmp(profile_type_own_label(match->name), "type") == 0) {
		if (match->kind == MATCH_EQUAL)
			profile_type_of_id(match->value, query->type, sizeof(query->type));
		return 0;
	}
	r = selector_add(&query->labels, match->name, match->kind, match->value, err);
	query->selector.matches = query->labels.matches;
	query->selector.match_count = query->labels.count;
	return r;
}
