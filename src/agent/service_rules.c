/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/service_rules.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/process_facts.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"

#define UNIT_SUFFIX ".service"

struct rule {
	size_t source;
	const char *pattern; /* NULL: any text */
	const char *name;    /* NULL: the text itself */
};

struct service_rules {
	struct arena arena;
	VEC(struct rule) rules;
};

static const struct {
	const char *name;
	size_t offset;
} sources[] = {
	{"env", offsetof(struct process_facts, service)},
	{"unit", offsetof(struct process_facts, unit)},
	{"container", offsetof(struct process_facts, container)},
	{"cgroup", offsetof(struct process_facts, cgroup)},
	{"comm", offsetof(struct process_facts, comm)},
};

/* A container has no name here, and its id says nothing: it is a label only. */
const char *const service_rules_default[] = {"env", "unit", "comm", NULL};

void service_rules_free(struct service_rules *rules)
{
	if (!rules)
		return;
	arena_fini(&rules->arena);
	vec_fini(&rules->rules);
	free(rules);
}

static void scope_release_rules(struct service_rules **rules)
{
	service_rules_free(*rules);
}

static int refuse(const char *text, struct error *err)
{
	(void)error_set(err, -EINVAL, "invalid rule for services: %s", text);
	error_remedy(err, "write SOURCE, SOURCE=PATTERN or SOURCE=PATTERN:NAME, where SOURCE is "
			  "env, unit, container, cgroup or comm");
	return -EINVAL;
}

static int parse(struct service_rules *rules, const char *text, struct error *err)
{
	size_t length = strcspn(text, "=");
	const char *pattern = text[length] == '=' ? text + length + 1 : NULL;
	const char *colon = pattern ? strchr(pattern, ':') : NULL;
	struct rule rule = {0};

	while (rule.source < ARRAY_SIZE(sources) &&
	       (strlen(sources[rule.source].name) != length ||
		memcmp(sources[rule.source].name, text, length) != 0))
		rule.source++;
	if (rule.source == ARRAY_SIZE(sources) || (pattern && (!*pattern || pattern == colon)) ||
	    (colon && !colon[1]))
		return refuse(text, err);
	if (pattern)
		rule.pattern = arena_strndup(&rules->arena, pattern,
					     colon ? (size_t)(colon - pattern) : strlen(pattern));
	if (colon)
		rule.name = arena_strndup(&rules->arena, colon + 1, strlen(colon + 1));
	if ((pattern && !rule.pattern) || (colon && !rule.name) ||
	    vec_push(&rules->rules, rule) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

int service_rules_new(const char *const *texts, size_t count, struct service_rules **ret,
		      struct error *err)
{
	SCOPED(rules) struct service_rules *rules = calloc(1, sizeof(*rules));

	if (!rules)
		return error_set(err, -ENOMEM, "out of memory");
	if (count == 0)
		for (texts = service_rules_default; texts[count]; count++)
			continue;
	for (size_t i = 0; i < count; i++) {
		int r = parse(rules, texts[i], err);

		if (r < 0)
			return r;
	}
	*ret = scope_take(&rules);
	return 0;
}

static const char *text_of(const struct rule *rule, const struct process_facts *facts)
{
	return (const char *)facts + sources[rule->source].offset;
}

/* "nginx.service" is called nginx, and a control group by the last part of its path. */
static void put_name(const char *text, char *ret, size_t size)
{
	const char *slash = strrchr(text, '/');
	const char *name = slash && slash[1] ? slash + 1 : text;
	size_t length = strlen(name);
	size_t suffix = sizeof(UNIT_SUFFIX) - 1;

	if (length > suffix && strcmp(name + length - suffix, UNIT_SUFFIX) == 0)
		length -= suffix;
	process_fact_copy(ret, size, name, length);
}

void service_rules_name(const struct service_rules *rules, const struct process_facts *facts,
			char *ret, size_t size)
{
	for (size_t i = 0; i < rules->rules.count; i++) {
		const struct rule *rule = &rules->rules.items[i];
		const char *text = text_of(rule, facts);

		if (!*text || (rule->pattern && fnmatch(rule->pattern, text, 0) != 0))
			continue;
		put_name(rule->name ? rule->name : text, ret, size);
		return;
	}
	process_fact_copy(ret, size, *facts->comm ? facts->comm : "unknown", size);
}
