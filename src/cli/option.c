/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/option.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/nearest_name.h"
#include "cli/option_value.h"

void option_set_fini(struct option_set *set)
{
	free(set->entries);
	arena_fini(&set->arena);
	*set = (struct option_set){0};
}

static int add_entry(struct option_set *set, const struct option_spec *spec, char *place,
		     const char *group)
{
	if (set->count == set->capacity)
		set->entries = vec_grow(set->entries, &set->capacity, set->count + 1,
					sizeof(*set->entries));
	if (set->count == set->capacity)
		return -ENOMEM;
	set->entries[set->count++] =
		(struct option_entry){.spec = spec, .place = place, .group = group};
	return 0;
}

int option_set_add(struct option_set *set, const struct option_spec *table, void *values,
		   const char *group, struct error *err)
{
	const struct option_spec *spec;
	int r;

	for (spec = table; spec && spec->kind != OPTION_KIND_END; spec++) {
		char *place = (char *)values + spec->offset;

		if (spec->kind == OPTION_KIND_GROUP)
			r = option_set_add(set, spec->table, place, spec->help ? spec->help : group,
					   err);
		else
			r = add_entry(set, spec, place, group);
		if (r < 0)
			return error_set(err, r, "out of memory");
	}
	return 0;
}

static struct option_entry *resolve(const struct option_set *set, struct option_entry *entry)
{
	if (entry && entry->spec->kind == OPTION_KIND_ALIAS)
		return option_set_find(set, entry->spec->alias_of);
	return entry;
}

static struct option_entry *find_exact(const struct option_set *set, const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		const char *known = set->entries[i].spec->name;

		if (known && strlen(known) == n && memcmp(known, name, n) == 0)
			return &set->entries[i];
	}
	return NULL;
}

struct option_entry *option_set_find(const struct option_set *set, const char *name)
{
	return resolve(set, find_exact(set, name, strlen(name)));
}

struct option_entry *option_set_find_key(const struct option_set *set, const char *key)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		const char *known = set->entries[i].spec->key;

		if (known && strcmp(known, key) == 0)
			return &set->entries[i];
	}
	return NULL;
}

static struct option_entry *find_letter(const struct option_set *set, char letter)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		if (set->entries[i].spec->letter == letter)
			return resolve(set, &set->entries[i]);
	}
	return NULL;
}

enum option_source option_source_of(const struct option_set *set, const void *member)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		const struct option_entry *entry = &set->entries[i];

		if (entry->place == member && entry->spec->kind != OPTION_KIND_IGNORED &&
		    entry->spec->kind != OPTION_KIND_ALIAS)
			return entry->source;
	}
	return OPTION_FROM_DEFAULT;
}

const char *option_source_name(enum option_source source)
{
	static const char *const names[] = {
		[OPTION_FROM_DEFAULT] = "default",           [OPTION_FROM_PRESET] = "preset",
		[OPTION_FROM_ENVIRONMENT] = "environment",   [OPTION_FROM_FILE] = "file",
		[OPTION_FROM_COMMAND_LINE] = "command line",
	};

	return names[source];
}

/* The state of the parser. */
struct parser {
	struct option_set *set;
	char **argv;
	int argc;
	int at;
	struct error *err;
};

static int see_help(const struct parser *parser, int r)
{
	const char *command = parser->set->command;

	return error_advise(parser->err, r, "see wick %s%s--help", command ? command : "",
			    command ? " " : "");
}

static int unknown(const struct parser *parser, const char *argument)
{
	const struct option_set *set = parser->set;
	const char *names[128];
	size_t count = 0;
	const char *meant;
	char typed[64];
	bool negated = strncmp(argument, "--no-", 5) == 0;
	size_t i;
	int r;

	r = error_set(parser->err, -EINVAL, "unknown option %s", argument);
	for (i = 0; i < set->count && count < ARRAY_SIZE(names); i++) {
		const struct option_spec *spec = set->entries[i].spec;

		if (spec->name && !spec->hidden &&
		    (!negated || spec->kind == OPTION_KIND_TOGGLE ||
		     strncmp(spec->name, "no-", 3) == 0))
			names[count++] = spec->name;
	}
	(void)snprintf(typed, sizeof(typed), "%s", argument + strspn(argument, "-"));
	typed[strcspn(typed, "=")] = '\0';
	if (negated)
		memmove(typed, typed + 3, strlen(typed + 3) + 1);
	meant = argument[1] == '-' ? nearest_name(typed, names, count) : NULL;
	if (!meant)
		return see_help(parser, r);
	error_remedy(parser->err, "did you mean --%s%s? see wick %s%s--help", negated ? "no-" : "",
		     meant, set->command ? set->command : "", set->command ? " " : "");
	return r;
}

/* The value of "--frequency" is the text after "=", or else the next argument. */
static int take_value(struct parser *parser, struct option_entry *entry, const char *subject,
		      const char *attached)
{
	const struct option_assignment how = {OPTION_FROM_COMMAND_LINE, subject, NULL};
	const char *text = attached;
	int r;

	if (!text && parser->at + 1 >= parser->argc) {
		const char *argument = entry->spec->argument;

		r = error_set(parser->err, -EINVAL, "%s needs a value%s%s%s", subject,
			      argument ? " (" : "", argument ? argument : "", argument ? ")" : "");
		return see_help(parser, r);
	}
	if (!text)
		text = parser->argv[++parser->at];
	r = option_assign(parser->set, entry, text, &how, parser->err);
	if (r < 0)
		return see_help(parser, r);
	return 0;
}

static int set_flag(struct parser *parser, struct option_entry *entry, const char *subject, bool on)
{
	const struct option_assignment how = {OPTION_FROM_COMMAND_LINE, subject, NULL};
	int r;

	if (entry->spec->kind == OPTION_KIND_IGNORED)
		return 0;
	r = option_assign(parser->set, entry, on ? "true" : "false", &how, parser->err);
	return r < 0 ? see_help(parser, r) : 0;
}

/* --name, --name=value, --name value, --no-name */
static int parse_long(struct parser *parser, const char *argument)
{
	const char *name = argument + 2;
	const char *equals = strchr(name, '=');
	size_t n = equals ? (size_t)(equals - name) : strlen(name);
	struct option_entry *entry = resolve(parser->set, find_exact(parser->set, name, n));
	char subject[80];
	bool on = true;

	if (!entry && n > 3 && memcmp(name, "no-", 3) == 0) {
		entry = resolve(parser->set, find_exact(parser->set, name + 3, n - 3));
		on = false;
		if (entry && entry->spec->kind != OPTION_KIND_TOGGLE)
			entry = NULL;
	}
	if (!entry)
		return unknown(parser, argument);
	(void)snprintf(subject, sizeof(subject), "--%.*s", (int)n, name);
	if (option_takes_value(entry->spec))
		return take_value(parser, entry, subject, equals ? equals + 1 : NULL);
	if (equals)
		return see_help(parser,
				error_set(parser->err, -EINVAL, "%s takes no value", subject));
	return set_flag(parser, entry, subject, on);
}

/* -F 99, -F99, -xyz */
static int parse_letters(struct parser *parser, const char *argument)
{
	const char *at;
	int r;

	for (at = argument + 1; *at; at++) {
		struct option_entry *entry = find_letter(parser->set, *at);
		char subject[3] = {'-', *at, '\0'};

		if (!entry)
			return unknown(parser, at == argument + 1 ? argument : subject);
		if (option_takes_value(entry->spec))
			return take_value(parser, entry, subject, at[1] ? at + 1 : NULL);
		r = set_flag(parser, entry, subject, true);
		if (r < 0)
			return r;
	}
	return 0;
}

static int keep_rest(struct parser *parser, int kept)
{
	while (parser->at < parser->argc)
		parser->argv[kept++] = parser->argv[parser->at++];
	return kept;
}

int option_parse(struct option_set *set, int argc, char **argv, bool stop_early, struct error *err)
{
	struct parser parser = {set, argv, argc, 0, err};
	int kept = 0;
	int r;

	for (; parser.at < argc; parser.at++) {
		char *argument = argv[parser.at];

		if (strcmp(argument, "--") == 0) {
			parser.at++;
			kept = keep_rest(&parser, kept);
			break;
		}
		if (argument[0] != '-' || argument[1] == '\0') { /* "-" is standard input */
			if (stop_early) {
				kept = keep_rest(&parser, kept);
				break;
			}
			argv[kept++] = argument;
			continue;
		}
		r = argument[1] == '-' ? parse_long(&parser, argument)
				       : parse_letters(&parser, argument);
		if (r < 0)
			return r;
	}
	argv[kept] = NULL;
	return kept;
}
