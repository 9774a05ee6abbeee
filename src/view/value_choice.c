/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/value_choice.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/text.h"
#include "model/profile.h"

static int refuse(const struct profile *profile, const char *name, struct error *err)
{
	struct bytes names = {0};
	uint32_t i;

	for (i = 0; i < profile->value_count; i++) {
		bytes_printf(&names, "%s", i > 0 ? ", " : "");
		text_put_terminal(&names, profile->value_types[i].name);
	}
	bytes_put_u8(&names, 0);
	(void)error_set(err, -EINVAL, "the profile has no value %s", name);
	error_remedy(err, "choose one of: %s", names.failed ? "?" : (char *)names.data);
	bytes_fini(&names);
	return -EINVAL;
}

int value_choose(const struct profile *profile, const char *name, uint32_t value, uint32_t *ret,
		 struct error *err)
{
	uint32_t i;

	if (!name) {
		*ret = value == VALUE_MAIN ? profile->main_value : value;
		if (*ret < profile->value_count)
			return 0;
		return error_advise(err,
				    error_set(err, -EINVAL,
					      "the profile has %u value types, not %u",
					      profile->value_count, *ret + 1),
				    "list them with: wick info FILE");
	}
	for (i = 0; i < profile->value_count; i++)
		if (strcmp(profile->value_types[i].name, name) == 0) {
			*ret = i;
			return 0;
		}
	return refuse(profile, name, err);
}
