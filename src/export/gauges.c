/* SPDX-License-Identifier: BSD-2-Clause */
#include "export/gauges.h"

#include <stddef.h>

#include "base/json.h"
#include "model/profile.h"

void gauge_put_json(const struct profile *profile, const struct profile_gauge *gauge,
		    struct json *json)
{
	json_string(json, "name", profile_text(profile, gauge->name));
	json_string(json, "unit", profile_text(profile, gauge->unit));
	json_string(json, "process", profile_text(profile, gauge->process_comm));
	json_u64(json, "pid", gauge->pid);
	json_u64(json, "times", gauge->times);
	json_i64(json, "last", gauge->last);
	json_i64(json, "lowest", gauge->lowest);
	json_i64(json, "highest", gauge->highest);
	json_double(json, "mean", gauge->mean, 3);
}

void gauges_put_json(const struct profile *profile, struct json *json)
{
	size_t i;

	if (profile->gauges.count == 0)
		return;
	json_open_array(json, "gauges");
	for (i = 0; i < profile->gauges.count; i++) {
		json_open_object(json, NULL);
		gauge_put_json(profile, &profile->gauges.items[i], json);
		json_close(json);
	}
	json_close(json);
}
