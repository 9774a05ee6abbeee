/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/value_ratio.h"

#include <string.h>

#include "base/vec.h"
#include "model/profile.h"

static const struct {
	const char *part;
	const char *wholes[2]; /* an event may have two names */
	struct value_ratio ratio;
} known[VALUE_RATIOS_MAX] = {
	{"instructions", {"cycles", "cpu-cycles"}, {.name = "IPC", .key = "ipc"}},
	{"cache-misses",
	 {"cache-references", NULL},
	 {.name = "cache-miss share",
	  .key = "cache_miss_share",
	  .more_is_worse = true,
	  .is_share = true}},
	{"branch-misses",
	 {"branches", "branch-instructions"},
	 {.name = "branch-miss share",
	  .key = "branch_miss_share",
	  .more_is_worse = true,
	  .is_share = true}},
};

static uint32_t find(const struct profile *profile, const char *name)
{
	uint32_t i;

	for (i = 0; name && i < profile->value_count; i++)
		if (strcmp(profile->value_types[i].name, name) == 0)
			return i;
	return ID_NONE;
}

size_t value_ratios_of(const struct profile *profile, struct value_ratio ret[VALUE_RATIOS_MAX])
{
	size_t count = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		struct value_ratio ratio = known[i].ratio;

		ratio.part = find(profile, known[i].part);
		ratio.whole = find(profile, known[i].wholes[0]);
		if (ratio.whole == ID_NONE)
			ratio.whole = find(profile, known[i].wholes[1]);
		if (ratio.part != ID_NONE && ratio.whole != ID_NONE)
			ret[count++] = ratio;
	}
	return count;
}
