/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "export/export.h"
#include "export/formats.h"
#include "model/profile.h"

const struct exporter_ops *const exporters[] = {
	&export_folded, &export_pprof, &export_speedscope, &export_json, &export_samples, NULL,
};

const struct exporter_ops *exporter_find(const char *name)
{
	const struct exporter_ops *const *at;

	for (at = exporters; *at; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	return NULL;
}

bool exporter_lists_samples(const struct exporter_ops *ops)
{
	return ops->sample != NULL;
}

void exporter_sample(const struct exporter_ops *ops, const struct profile *profile,
		     const struct export_sample *sample, struct bytes *out)
{
	ops->sample(profile, sample, out);
}

int exporter_write(const struct exporter_ops *ops, const struct profile *profile,
		   const struct export_config *config, struct bytes *out, struct error *err)
{
	int r;

	if (config->value != EXPORT_DEFAULT_VALUE && config->value >= profile->value_count)
		return error_set(err, -EINVAL, "format %s: the profile has %u value types, not %u",
				 ops->name, profile->value_count, config->value + 1);
	r = ops->write(profile, config, out, err);
	if (r < 0)
		return error_prefix(err, r, "format %s", ops->name);
	if (out->failed)
		return error_set(err, -ENOMEM, "format %s: out of memory", ops->name);
	return 0;
}
