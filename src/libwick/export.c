/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>

#include <wick/profile.h>

#include "base/bytes.h"
#include "base/error.h"
#include "export/export.h"
#include "libwick/output_text.h"
#include "libwick/profile_handle.h"
#include "libwick/public_error.h"
#include "libwick/reload_samples.h"
#include "load/convert/export_file.h"
#include "model/profile.h"

static int find_format(const char *name, const struct exporter_ops **ret, struct error *err)
{
	int r = need(name, "the format", err);

	if (r < 0)
		return r;
	*ret = exporter_find(name);
	if (*ret)
		return 0;
	(void)error_set(err, -EINVAL, "unknown format %s", name);
	error_remedy(err, "see: wick list formats");
	return -EINVAL;
}

/* The same with single samples, if the file that they were loaded from still exists. */
static int put_in_order(const struct wick_profile *profile, const struct exporter_ops *ops,
			const struct export_config *config, struct bytes *out, struct error *err)
{
	struct profile *again = NULL;
	int r = profile->reload ? reload_in_order(profile->reload, &again, err) : 0;

	if (r < 0)
		return r;
	r = exporter_write(ops, again ? again : profile->profile, config, out, err);
	profile_free(again);
	return r;
}

static int put_format(const struct wick_profile *profile, const char *format, struct bytes *out,
		      struct error *err)
{
	const struct export_config config = {.value = EXPORT_DEFAULT_VALUE};
	const struct exporter_ops *ops;
	int r = need(profile, "the profile", err);

	if (r == 0)
		r = find_format(format, &ops, err);
	if (r < 0)
		return r;
	if (exporter_lists_samples(ops)) {
		(void)error_set(
			err, -EOPNOTSUPP,
			"format %s needs individual samples, but a profile holds only their sums",
			format);
		error_remedy(err, "export the recording file with wick_export_recording()");
		return -EOPNOTSUPP;
	}
	return ops->in_order ? put_in_order(profile, ops, &config, out, err)
			     : exporter_write(ops, profile->profile, &config, out, err);
}

int wick_export_text(const struct wick_profile *profile, const char *format, char **ret_text,
		     size_t *ret_size, struct wick_error *err)
{
	struct bytes text = {0};
	struct error inner = {0};
	int r = put_format(profile, format, &text, &inner);

	if (r == 0)
		r = output_to_memory(&text, ret_text, ret_size, &inner);
	bytes_fini(&text);
	return r < 0 ? public_error(&inner, err) : 0;
}

int wick_export(const struct wick_profile *profile, const char *format, const char *path,
		struct wick_error *err)
{
	struct bytes text = {0};
	struct error inner = {0};
	int r = put_format(profile, format, &text, &inner);

	if (r == 0)
		r = output_to_file(&text, path, &inner);
	bytes_fini(&text);
	return r < 0 ? public_error(&inner, err) : 0;
}

int wick_export_folded(const struct wick_profile *profile, const char *path, struct wick_error *err)
{
	return wick_export(profile, "folded", path, err);
}

void wick_text_free(char *text)
{
	free(text);
}

int wick_export_recording(const char *recording, const struct wick_load_options *options,
			  const char *format, const char *path, struct wick_error *err)
{
	const struct export_config config = {.value = EXPORT_DEFAULT_VALUE};
	struct load_request request;
	const struct exporter_ops *ops;
	struct error inner = {0};
	int r = load_request_init(&request, options, &inner);

	if (r == 0)
		r = need(recording, "the recording", &inner);
	if (r == 0)
		r = need(path, "the path", &inner);
	if (r == 0)
		r = find_format(format, &ops, &inner);
	if (r == 0) {
		const struct export_job job = {.exporter = ops,
					       .config = &config,
					       .load = &request.options,
					       .input = recording,
					       .output = path};

		request.options.told = true;
		r = export_file(&job, &inner);
	}
	return r < 0 ? public_error(&inner, err) : 0;
}
