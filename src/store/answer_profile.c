/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/answer_profile.h"

#include <errno.h>

#include "base/clock.h"
#include "base/vec.h"
#include "model/profile.h"
#include "store/store.h"

int answer_profile_new(const struct store_selector *selector, const char *type_name,
		       const char *unit_name, struct profile **ret)
{
	const struct value_type types[] = {{"samples", "count"}, {"", ""}};
	struct profile *profile;
	uint32_t type;
	uint32_t unit;

	if (profile_new(types, ARRAY_SIZE(types), &profile) < 0)
		return -ENOMEM;
	type = strings_add(&profile->strings, type_name[0]     ? type_name
					      : selector->type ? selector->type
							       : "cpu");
	unit = strings_add(&profile->strings, unit_name[0] ? unit_name : "count");
	if (type == ID_NONE || unit == ID_NONE ||
	    profile_thread(profile, 0, 0, "", "") == ID_NONE) {
		profile_free(profile);
		return -ENOMEM;
	}
	profile->value_types[1] =
		(struct value_type){profile_text(profile, type), profile_text(profile, unit)};
	profile->main_value = 1;
	profile->start_realtime_ns = selector->from_s * NS_PER_SEC;
	profile->duration_ns = selector->to_s > selector->from_s
				       ? (selector->to_s - selector->from_s) * NS_PER_SEC
				       : 0;
	*ret = profile;
	return 0;
}
