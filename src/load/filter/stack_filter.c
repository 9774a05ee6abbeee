/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/filter/stack_filter.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/expression.h"
#include "base/path.h"
#include "load/load.h"
#include "model/profile.h"

/* Cached result for a function. */
enum {
	KNOWN = 1,
	MATCHES_ONLY = 2,
	MATCHES_IGNORE = 4,
	MATCHES_MODULE = 8,
};

static int compile(const char *const *patterns, size_t count, regex_t **items, size_t *done,
		   struct error *err)
{
	size_t i;

	*items = count ? calloc(count, sizeof(**items)) : NULL;
	if (count && !*items)
		return error_set(err, -ENOMEM, "out of memory");
	for (i = 0; i < count; i++) {
		char reason[EXPRESSION_REASON];

		if (expression_compile(&(*items)[i], patterns[i], reason) == 0) {
			(*done)++;
			continue;
		}
		(void)error_set(err, -EINVAL, "%s is not a regular expression: %s", patterns[i],
				reason);
		error_remedy(err, "escape special characters with a backslash");
		return -EINVAL;
	}
	return 0;
}

/*
 * Also checks expressions that are used elsewhere, so that errors are reported before reading the
 * file.
 */
static int check_others(const struct load_options *options, struct error *err)
{
	regex_t *items = NULL;
	size_t count = 0;
	int r = compile(options->alloc_fns, options->alloc_fn_count, &items, &count, err);

	while (count > 0)
		regfree(&items[--count]);
	free(items);
	return r;
}

int stack_filter_init(struct stack_filter *filter, const struct load_options *options,
		      struct error *err)
{
	int r;

	*filter = (struct stack_filter){.options = options};
	r = compile(options->only, options->only_count, &filter->only.items, &filter->only.count,
		    err);
	if (r == 0)
		r = compile(options->ignore, options->ignore_count, &filter->ignore.items,
			    &filter->ignore.count, err);
	if (r == 0)
		r = check_others(options, err);
	if (r < 0)
		stack_filter_fini(filter);
	return r;
}

void stack_filter_fini(struct stack_filter *filter)
{
	size_t i;

	for (i = 0; i < filter->only.count; i++)
		regfree(&filter->only.items[i]);
	for (i = 0; i < filter->ignore.count; i++)
		regfree(&filter->ignore.items[i]);
	vec_fini(&filter->only);
	vec_fini(&filter->ignore);
	vec_fini(&filter->functions);
}

static bool matches_any(const regex_t *list, size_t count, const char *text)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (regexec(&list[i], text, 0, NULL, 0) == 0)
			return true;
	return false;
}

static bool is_module(const struct load_options *options, const char *path)
{
	const char *name = path_base_name(path);
	size_t i;

	for (i = 0; i < options->module_count; i++)
		if (strcmp(options->modules[i], path) == 0 ||
		    strcmp(options->modules[i], name) == 0)
			return true;
	return false;
}

/* The cached result for a function; if out of memory it is computed again each time. */
static uint8_t know(struct stack_filter *filter, const struct profile *profile, uint32_t id)
{
	const struct profile_function *function = &profile->functions.items[id];
	const char *name = profile_text(profile, function->name);
	uint8_t known = KNOWN;

	while (filter->functions.count <= id && vec_push(&filter->functions, 0) == 0)
		;
	if (id < filter->functions.count && filter->functions.items[id])
		return filter->functions.items[id];
	if (matches_any(filter->only.items, filter->only.count, name))
		known |= MATCHES_ONLY;
	if (matches_any(filter->ignore.items, filter->ignore.count, name))
		known |= MATCHES_IGNORE;
	if (is_module(filter->options, profile_text(profile, function->module)))
		known |= MATCHES_MODULE;
	if (id < filter->functions.count)
		filter->functions.items[id] = known;
	return known;
}

bool stack_filter_accepts(struct stack_filter *filter, const struct profile *profile,
			  uint32_t stack)
{
	uint8_t seen = 0;
	uint32_t i;

	if (filter->only.count + filter->ignore.count + filter->options->module_count == 0)
		return true;
	for (; stack != 0; stack = profile->stacks.nodes.items[stack].parent) {
		const struct profile_location *location =
			&profile->locations.items[profile->stacks.nodes.items[stack].frame];

		for (i = 0; i < location->line_count; i++)
			seen |= know(filter, profile,
				     profile->lines.items[location->first_line + i].function);
	}
	return !(seen & MATCHES_IGNORE) && (filter->only.count == 0 || (seen & MATCHES_ONLY)) &&
	       (filter->options->module_count == 0 || (seen & MATCHES_MODULE));
}
