/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "view/report/analyser.h"
#include "view/report/missing_names.h"
#include "view/view.h"

static const struct view_ops by_function = {
	.name = "function", .summary = "functions, by cost", .by = REPORT_BY_FUNCTION};
static const struct view_ops by_module = {
	.name = "module", .summary = "programs and libraries", .by = REPORT_BY_MODULE};
static const struct view_ops by_thread = {
	.name = "thread", .summary = "threads", .by = REPORT_BY_THREAD};
static const struct view_ops by_process = {
	.name = "process", .summary = "processes", .by = REPORT_BY_PROCESS};
static const struct view_ops by_state = {
	.name = "state", .summary = "what threads were doing", .by = REPORT_BY_STATE};
static const struct view_ops by_line = {
	.name = "line", .summary = "source lines", .by = REPORT_BY_LINE};
static const struct view_ops by_site = {
	.name = "site", .summary = "allocation sites (of wick heap)", .by = REPORT_BY_SITE};
static const struct view_ops by_lock = {
	.name = "lock", .summary = "locks that threads waited for", .by = REPORT_BY_LOCK};
static const struct view_ops by_language = {.name = "language",
					    .summary = "programming languages and the kernel",
					    .by = REPORT_BY_LANGUAGE};

const struct view_ops *const views[] = {
	&by_function, &by_module, &by_thread, &by_process,  &by_state,
	&by_line,     &by_site,   &by_lock,   &by_language, NULL,
};

const struct view_ops *view_find(const char *name)
{
	const struct view_ops *const *at;

	for (at = views; *at; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	return NULL;
}

int view_write(const struct view_ops *view, const struct profile *profile,
	       const struct report_options *options, struct bytes *out, struct error *err)
{
	struct report_options chosen = *options;

	if (view->write_of)
		return view->write_of(view->origin, profile, options, out, err);
	chosen.by = view->by;
	return report_write(profile, &chosen, out, err);
}

static const struct analyser_ops of_missing = {
	.name = "missing",
	.summary = "modules with a notable share of samples that have no symbol",
	.analyse = missing_names_find,
};

const struct analyser_ops *const analysers[] = {&of_missing, NULL};

const struct analyser_ops *analyser_find(const char *name)
{
	const struct analyser_ops *const *at;

	for (at = analysers; *at; at++)
		if (strcmp((*at)->name, name) == 0)
			return *at;
	return NULL;
}
