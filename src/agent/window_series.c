/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/window_series.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file/outfile.h"
#include "base/scope.h"
#include "export/label_groups.h"
#include "load/load.h"
#include "model/entity.h"
#include "model/profile.h"

int window_load_fd(int fd, struct profile **ret, struct error *err)
{
	struct load_options options = LOAD_OPTIONS_DEFAULT;

	options.no_files = true; /* it has its names */
	return load_profile_fd(fd, "a window", &options, ret, err);
}

int window_load(const void *data, size_t size, struct profile **ret, struct error *err)
{
	SCOPED(fd) int fd = memfd_create("wick-window", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return error_errno(err, -errno, "cannot hold a window in memory");
	r = outfile_write_all(fd, data, size);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r < 0)
		return error_errno(err, r, "cannot hold a window in memory");
	return window_load_fd(scope_take_fd(&fd), ret, err);
}

static bool is_label(const char *key)
{
	return strcmp(key, "process") != 0;
}

/* A value type on its way to fn. */
struct division {
	const struct profile *profile;
	struct label_groups groups;
	uint32_t value;
	/* The samples of the current series: */
	struct profile part; /* names and stacks are those of the profile */
	VEC(struct profile_entry) entries;
	VEC(int64_t) values;
};

/* The number of samples belongs to the main value. */
static bool has_count(const struct profile *profile, uint32_t value)
{
	return value == profile->main_value && value > 0 &&
	       strcmp(profile->value_types[0].name, "samples") == 0;
}

static int add_entry(struct division *division, size_t at)
{
	const int64_t *values = profile_entry_values(division->profile, at);
	struct profile_entry entry = division->profile->entries.items[at];
	int r = 0;

	if (values[division->value] == 0)
		return 0;
	entry.labels = 0;
	if (has_count(division->profile, division->value))
		r = vec_push(&division->values, values[0]);
	if (r == 0)
		r = vec_push(&division->values, values[division->value]);
	return r < 0 ? r : vec_push(&division->entries, entry);
}

static int gather(struct division *division, uint32_t group)
{
	const struct profile *profile = division->profile;
	bool counted = has_count(profile, division->value);
	int r = 0;

	division->entries.count = 0;
	division->values.count = 0;
	for (size_t i = 0; i < profile->entries.count && r == 0; i++)
		if (division->groups.of_sets.items[profile->entries.items[i].labels] == group)
			r = add_entry(division, i);
	division->part = *profile;
	division->part.value_types[0] = profile->value_types[counted ? 0 : division->value];
	division->part.value_types[1] = profile->value_types[division->value];
	division->part.value_count = counted ? 2 : 1;
	division->part.main_value = counted ? 1 : 0;
	if (division->value != profile->main_value)
		division->part.period_ns = 0; /* it is that of the main value */
	division->part.entries.items = division->entries.items;
	division->part.entries.count = division->entries.count;
	division->part.values.items = division->values.items;
	division->part.values.count = division->values.count;
	return r;
}

static int visit(struct division *division, uint32_t group, window_series_fn *fn, void *self,
		 struct error *err)
{
	const struct profile *profile = division->profile;
	struct label labels[LABELS_MAX];
	size_t n = label_sets_get(&profile->labels, &profile->strings,
				  division->groups.sets.items[group], labels);
	struct window_series series = {.labels = labels,
				       .type = profile->value_types[division->value].name,
				       .profile = &division->part};

	for (size_t i = 0; i < n; i++)
		if (is_label(labels[i].key))
			labels[series.label_count++] = labels[i];
	if (gather(division, group) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return division->entries.count > 0 ? fn(self, &series, err) : 0;
}

int window_each_series(const struct profile *profile, window_series_fn *fn, void *self,
		       struct error *err)
{
	struct division division = {.profile = profile};
	int r = label_groups_init(&division.groups, profile, is_label);

	if (r < 0)
		(void)error_set(err, r, "out of memory");
	for (uint32_t group = 0; r == 0 && group < division.groups.sets.count; group++)
		for (uint32_t value = 0; r == 0 && value < profile->value_count; value++) {
			division.value = value;
			if (value > 0 || strcmp(profile->value_types[0].name, "samples") != 0 ||
			    profile->value_count == 1)
				r = visit(&division, group, fn, self, err);
		}
	label_groups_fini(&division.groups);
	vec_fini(&division.entries);
	vec_fini(&division.values);
	return r;
}
