/* SPDX-License-Identifier: BSD-2-Clause */
#include <wick/profile.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <wick/symbolize.h>

#include "base/error.h"
#include "libwick/profile_handle.h"
#include "libwick/public_error.h"
#include "libwick/reload_samples.h"
#include "libwick/sized_struct.h"
#include "model/profile.h"

int load_request_init(struct load_request *request, const struct wick_load_options *given,
		      struct error *err)
{
	struct wick_load_options asked;
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	int r = sized_take(&asked, sizeof(asked), given, "wick_load_options", err);

	if (r < 0)
		return r;
	if (asked.to_ns > 0 && asked.from_ns >= asked.to_ns)
		return error_advise(
			err,
			error_set(err, -ERANGE, "from_ns %" PRIu64 " is not before to_ns %" PRIu64,
				  asked.from_ns, asked.to_ns),
			"both count from the start of the recording; to_ns 0 means its end");
	request->only[0] = asked.only;
	request->ignore[0] = asked.ignore;
	options.event = asked.event;
	options.from_ns = asked.from_ns;
	options.to_ns = asked.to_ns > 0 ? asked.to_ns : UINT64_MAX;
	options.only = request->only;
	options.only_count = asked.only != NULL;
	options.ignore = request->ignore;
	options.ignore_count = asked.ignore != NULL;
	options.kernel = !asked.no_kernel;
	options.demangle = !(asked.symbolize & WICK_SYMBOLIZE_MANGLED);
	options.symbol_cache = asked.symbolize & WICK_SYMBOLIZE_CACHE;
	options.inlines = !(asked.symbolize & WICK_SYMBOLIZE_NO_INLINES);
	if (asked.symbolize & WICK_SYMBOLIZE_NAMES_ONLY)
		options.symbols = SYMBOLS_NAMES;
	options.symbol_paths = asked.symbol_paths;
	while (asked.symbol_paths && asked.symbol_paths[options.symbol_path_count])
		options.symbol_path_count++;
	request->options = options;
	return 0;
}

int wick_profile_wrap(struct profile *profile, struct wick_profile **ret, struct error *err)
{
	struct wick_profile *handle = calloc(1, sizeof(*handle));

	if (!handle) {
		profile_free(profile);
		return error_set(err, -ENOMEM, "no memory for a profile");
	}
	handle->profile = handle->owned = profile;
	*ret = handle;
	return 0;
}

int wick_load(const char *path, const struct wick_load_options *options, struct wick_profile **ret,
	      struct wick_error *err)
{
	struct load_request request;
	struct profile *profile = NULL;
	struct reload *reload = NULL;
	struct error inner = {0};
	int r = need(path, "the path", &inner);

	if (r == 0)
		r = need(ret, "ret", &inner);
	if (r == 0)
		r = load_request_init(&request, options, &inner);
	if (r < 0)
		return public_error(&inner, err);
	/* Data from a pipe is kept completely. For a file, its state before reading counts. */
	if (reload_is_possible(path))
		reload = reload_new(path, options);
	request.options.order = !reload;
	r = load_profile(path, &request.options, &profile, &inner);
	if (r == 0)
		r = wick_profile_wrap(profile, ret, &inner);
	if (r < 0) {
		reload_free(reload);
		return public_error(&inner, err);
	}
	(*ret)->reload = reload;
	return 0;
}

void wick_profile_free(struct wick_profile *profile)
{
	if (!profile)
		return;
	profile_free(profile->owned);
	reload_free(profile->reload);
	free(profile);
}

static struct wick_profile_info info_of(const struct profile *inner)
{
	const struct profile_quality *quality = &inner->quality;

	return (struct wick_profile_info){
		.title = inner->title ? inner->title : "",
		.start_realtime_ns = inner->start_realtime_ns,
		.duration_ns = inner->duration_ns,
		.period_ns = inner->period_ns,
		.samples = quality->samples,
		.lost = quality->lost,
		.unreadable = quality->unreadable,
		.truncated = quality->truncated,
		.unsymbolised = quality->unsymbolised,
		.value_count = inner->value_count,
		.main_value = inner->main_value,
		.incomplete = quality->incomplete,
	};
}

int wick_profile_describe(const struct wick_profile *profile, struct wick_profile_info *ret,
			  struct wick_error *err)
{
	struct wick_profile_info info;
	struct error why = {0};

	if (need(profile, "the profile", &why) < 0)
		return public_error(&why, err);
	info = info_of(profile->profile);
	if (sized_hand_out(ret, &info, sizeof(info), "wick_profile_info", &why) < 0)
		return public_error(&why, err);
	return 0;
}

const char *wick_profile_value_name(const struct wick_profile *profile, uint32_t value)
{
	const struct profile *inner = profile ? profile->profile : NULL;

	return inner && value < inner->value_count ? inner->value_types[value].name : NULL;
}

const char *wick_profile_value_unit(const struct wick_profile *profile, uint32_t value)
{
	const struct profile *inner = profile ? profile->profile : NULL;

	return inner && value < inner->value_count ? inner->value_types[value].unit : NULL;
}
