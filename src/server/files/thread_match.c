/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/files/thread_match.h"

#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/expression.h"
#include "server/files/file_summary.h"
#include "store/store.h"

const char *const thread_labels[] = {"process", "thread", "pid", "tid", NULL};

const char *thread_label(const struct file_thread *thread, const char *name,
			 char scratch[THREAD_LABEL_BYTES])
{
	if (strcmp(name, "process") == 0)
		return thread->process;
	if (strcmp(name, "thread") == 0)
		return thread->thread;
	if (strcmp(name, "pid") != 0 && strcmp(name, "tid") != 0)
		return NULL;
	(void)snprintf(scratch, THREAD_LABEL_BYTES, "%" PRIu32,
		       name[0] == 'p' ? thread->pid : thread->tid); /* it fits */
	return scratch;
}

static bool expression_accepts(const char *text, const char *value)
{
	struct bytes whole = {0};
	char why[EXPRESSION_REASON];
	regex_t expression;
	bool accepted = false;

	bytes_printf(&whole, "^(%s)$", text);
	bytes_put_u8(&whole, '\0');
	if (!whole.failed && expression_compile(&expression, (const char *)whole.data, why) == 0) {
		accepted = regexec(&expression, value, 0, NULL, 0) == 0;
		regfree(&expression);
	}
	bytes_fini(&whole);
	return accepted;
}

bool match_accepts(const struct store_match *match, const char *value)
{
	bool is_regex = match->kind == MATCH_REGEX || match->kind == MATCH_NOT_REGEX;
	bool is_equal = match->kind == MATCH_EQUAL || match->kind == MATCH_REGEX;

	return (is_regex ? expression_accepts(match->value, value)
			 : strcmp(match->value, value) == 0) == is_equal;
}

bool match_is_of_thread(const struct store_match *match)
{
	size_t i;

	for (i = 0; thread_labels[i]; i++)
		if (strcmp(thread_labels[i], match->name) == 0)
			return true;
	return false;
}

bool matches_accept_thread(const struct store_match *matches, size_t count,
			   const struct file_thread *thread)
{
	char scratch[THREAD_LABEL_BYTES];
	size_t i;

	for (i = 0; i < count; i++) {
		const char *value = thread_label(thread, matches[i].name, scratch);

		if (value && !match_accepts(&matches[i], value))
			return false;
	}
	return true;
}

bool matches_accept_service(const struct store_match *matches, size_t count, const char *service)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strcmp(matches[i].name, "service") == 0 && !match_accepts(&matches[i], service))
			return false;
	return true;
}
