/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "export/export.h"
#include "export/formats.h"
#include "model/profile.h"

const struct exporter_ops *const exporters[] = {
	&export_folded,  &export_pprof,    &export_speedscope,
	&export_firefox, &export_perfetto, &export_otlp,
	&export_json,    &export_samples,  NULL,
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

static int list_failed(const struct export_list *list, int r, const struct bytes *out,
		       struct error *err)
{
	if (r >= 0 && out->failed)
		r = -ENOMEM;
	return r < 0 ? error_errno(err, r, "format %s", list->ops->name) : r;
}

int export_list_init(struct export_list *list, const struct exporter_ops *ops, struct error *err)
{
	*list = (struct export_list){.ops = ops};
	if (!ops->begin)
		return 0;
	list->self = ops->begin();
	return list->self ? 0 : error_set(err, -ENOMEM, "format %s: out of memory", ops->name);
}

void export_list_fini(struct export_list *list)
{
	if (list->ops->free)
		list->ops->free(list->self);
}

int export_list_sample(struct export_list *list, const struct profile *profile,
		       const struct export_sample *sample, struct bytes *out, struct error *err)
{
	return list_failed(list, list->ops->sample(list->self, profile, sample, out), out, err);
}

int export_list_finish(struct export_list *list, const struct profile *profile, struct bytes *out,
		       struct error *err)
{
	int r = list->ops->finish ? list->ops->finish(list->self, profile, out) : 0;

	return list_failed(list, r, out, err);
}

int exporter_write(const struct exporter_ops *ops, const struct profile *profile,
		   const struct export_config *config, struct bytes *out, struct error *err)
{
	int r;

	if (config->value != EXPORT_DEFAULT_VALUE && config->value >= profile->value_count)
		return error_advise(err,
				    error_set(err, -EINVAL,
					      "format %s: the profile has %u value types, not %u",
					      ops->name, profile->value_count, config->value + 1),
				    "wick info FILE lists them");
	r = ops->write_of ? ops->write_of(ops->origin, profile, out, err)
			  : ops->write(profile, config, out, err);
	if (r < 0)
		return error_prefix(err, r, "format %s", ops->name);
	if (out->failed)
		return error_set(err, -ENOMEM, "format %s: out of memory", ops->name);
	return 0;
}
