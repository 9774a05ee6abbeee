/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/function_match.h"

#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/expression.h"
#include "base/scope.h"
#include "base/vec.h"
#include "model/call_tally.h"
#include "model/call_tree.h"
#include "model/profile.h"

struct pattern {
	const char *name; /* NULL: expression */
	regex_t expression;
};

void function_matches_fini(struct function_matches *matches)
{
	free(matches->items);
	free(matches->wanted);
	*matches = (struct function_matches){0};
}

static int pattern_init(struct pattern *pattern, const char *text, struct error *err)
{
	size_t n = strlen(text);
	char problem[EXPRESSION_REASON];
	char *inner;
	int r;

	*pattern = (struct pattern){.name = text};
	if (n < 3 || text[0] != '/' || text[n - 1] != '/')
		return 0;
	inner = strndup(text + 1, n - 2);
	if (!inner)
		return error_set(err, -ENOMEM, "out of memory");
	r = expression_compile(&pattern->expression, inner, problem);
	free(inner);
	if (r == 0) {
		pattern->name = NULL;
		return 0;
	}
	return error_advise(
		err, error_set(err, -EINVAL, "%s is not a regular expression: %s", text, problem),
		"escape special characters with a backslash, or give the name without the slashes");
}

static void pattern_fini(struct pattern *pattern)
{
	if (!pattern->name)
		regfree(&pattern->expression);
}

/* How well a name matches. Only the best matches are kept. */
enum match {
	NO_MATCH,
	MATCHES_PART,  /* something inside it, such as a lambda: f(int)::{lambda()#1}… */
	MATCHES_NAME,  /* the name with some parameters, or the expression */
	MATCHES_WHOLE, /* the exact name */
};

/* Skips the parameters at the start of text. */
static const char *skip_parameters(const char *text)
{
	int depth = 0;

	for (; *text; text++) {
		depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
		if (depth == 0)
			return text + 1;
	}
	return text;
}

static enum match match(const struct pattern *pattern, const char *name)
{
	size_t n;

	if (!pattern->name)
		return regexec(&pattern->expression, name, 0, NULL, 0) == 0 ? MATCHES_NAME
									    : NO_MATCH;
	n = strlen(pattern->name);
	if (strncmp(name, pattern->name, n) != 0 || (name[n] != '\0' && name[n] != '('))
		return NO_MATCH;
	if (name[n] == '\0')
		return MATCHES_WHOLE;
	return strstr(skip_parameters(name + n), "::") ? MATCHES_PART : MATCHES_NAME;
}

static int by_total(const void *a, const void *b)
{
	const struct function_match *x = a;
	const struct function_match *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Adds a function to those with its name, which is interned. */
static int add(struct function_matches *found, const char *name, const struct call_tally *tally)
{
	struct function_match *grown;
	size_t i;

	for (i = 0; i < found->count; i++) {
		struct function_match *known = &found->items[i];

		if (known->name != name)
			continue;
		known->self += tally->self;
		known->total = tally->total > known->total ? tally->total : known->total;
		return 0;
	}
	grown = reallocarray(found->items, found->count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	found->items = grown;
	found->items[found->count++] = (struct function_match){name, tally->self, tally->total};
	return 0;
}

static const char *name_of(const struct profile *profile, uint32_t function)
{
	return profile_text(profile, profile->functions.items[function].name);
}

static int gather(const struct profile *profile, uint32_t value, const struct pattern *pattern,
		  struct function_matches *found)
{
	const struct call_tree_options options = {.value = value};
	enum match best = MATCHES_PART;
	SCOPED(call_tree) struct call_tree *tree = NULL;
	SCOPED(mem) struct call_tally *tallies = NULL;
	size_t count = 0;
	size_t i;
	int r = call_tree_new(profile, &options, &tree);

	if (r == 0)
		r = call_tally_new(profile, tree, CALL_TALLY_FUNCTION, &tallies, &count);
	found->wanted = calloc(profile->functions.count + 1, 1);
	if (r == 0 && !found->wanted)
		r = -ENOMEM;
	for (i = 0; i < count && r == 0; i++) {
		enum match found_match = match(pattern, name_of(profile, tallies[i].key));

		best = found_match > best ? found_match : best;
	}
	for (i = 0; i < count && r == 0; i++) {
		uint32_t function = tallies[i].key;
		const char *name = name_of(profile, function);

		if (match(pattern, name) != best)
			continue;
		found->wanted[function] = 1;
		r = add(found, name, &tallies[i]);
	}
	return r;
}

int function_matches_find(const struct profile *profile, uint32_t value, const char *text,
			  struct function_matches *ret, struct error *err)
{
	struct function_matches found = {0};
	struct pattern pattern;
	int r = pattern_init(&pattern, text, err);

	if (r < 0)
		return r;
	r = gather(profile, value, &pattern, &found);
	pattern_fini(&pattern);
	if (r < 0) {
		function_matches_fini(&found);
		return error_errno(err, r, "cannot search the functions of the profile");
	}
	if (found.count > 0)
		qsort(found.items, found.count, sizeof(*found.items), by_total);
	*ret = found;
	return 0;
}

int function_matches_none(const char *file, const char *pattern, struct error *err)
{
	(void)error_set(err, -ENOENT, "no function named %s has samples", pattern);
	error_remedy(err, "list the functions: wick report %s; or give a regular expression: /%s/",
		     file, pattern[0] == '/' ? "RE" : pattern);
	return -ENOENT;
}
