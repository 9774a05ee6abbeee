/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/load_gaps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/id_index.h"
#include "base/scope.h"
#include "base/vec.h"
#include "model/dictionary.h"
#include "model/profile.h"
#include "symbol/symboliser.h"

static uint32_t keep_id(struct profile *profile, const char *text)
{
	uint32_t id = strings_add(&profile->strings, text ? text : "");

	return id == ID_NONE ? 0 : id;
}

/*
 * Why the list of a process's JIT-compiled code was not used. NULL: it was used, or does not exist.
 */
static char *jit_refusal(const struct load_gaps_input *input, const struct module *module)
{
	const struct dictionary *dictionary = input->dictionary;
	const char *line = input->jit_refused;
	char key[16];
	char *ret;

	if (!line || !module || module->kind != MODULE_ANONYMOUS ||
	    module->owner >= dictionary->processes.count)
		return NULL;
	(void)snprintf(key, sizeof(key), "%u ", dictionary->processes.items[module->owner].pid);
	while (strncmp(line, key, strlen(key)) != 0) {
		line = strchr(line, '\n');
		if (!line++)
			return NULL;
	}
	line += strlen(key);
	/* If out of memory the generic reason is shown. */
	return asprintf(&ret, "its list of names was not used: %.*s", (int)strcspn(line, "\n"),
			line) < 0
		       ? NULL
		       : ret;
}

/* Why samples that end in a module have no names, or no lines. */
static const char *problem_of(const struct load_gaps_input *input, const struct module *module,
			      uint32_t id, struct profile_gap *gap)
{
	const char *problem = symboliser_module_problem(input->symboliser, id);
	bool has_lines = symboliser_module_has_lines(input->symboliser, id);

	if (!module)
		return "addresses in no module";
	if (module->kind == MODULE_KERNEL || module->kind == MODULE_KERNEL_MODULE) {
		gap->curable = true;
		return "kernel symbols are not readable, or were not recorded";
	}
	gap->curable = module->kind == MODULE_ANONYMOUS ||
		       (module->kind == MODULE_FILE && (problem || !has_lines));
	gap->is_lost =
		module->kind == MODULE_FILE && symboliser_module_is_lost(input->symboliser, id);
	if (problem)
		return problem;
	if (!has_lines)
		return "no debug information: names without lines";
	return gap->unnamed > 0 ? "no symbol covers these addresses"
				: "parts were built without debug information";
}

/* Lines of the kernel are not looked up, nor any lines if only names are requested. */
static bool is_gap(const struct load_gaps_input *input, const struct module *module,
		   const struct profile_gap *gap)
{
	bool has_lines =
		!module || (module->kind != MODULE_KERNEL && module->kind != MODULE_KERNEL_MODULE);

	return gap->unnamed > 0 ||
	       (gap->unlined > 0 && has_lines && input->symbols != SYMBOLS_NAMES);
}

int load_gaps(const struct load_gaps_input *input, struct profile *profile)
{
	for (size_t i = 0; i < input->count; i++) {
		struct profile_gap gap = input->gaps[i];
		bool is_module = i < input->dictionary->modules.count;
		const struct module *module =
			is_module ? &input->dictionary->modules.items[i] : NULL;
		char build_id[2 * BUILD_ID_MAX + 1] = "";

		if (!is_gap(input, module, &gap))
			continue;
		if (module)
			build_id_format(&module->build_id, build_id);
		gap.module = keep_id(profile, module ? module->path : "");
		gap.build_id = keep_id(profile, build_id);
		gap.problem = keep_id(profile, problem_of(input, module, (uint32_t)i, &gap));
		SCOPED(mem) char *refusal = jit_refusal(input, module);
		if (refusal) {
			gap.problem = keep_id(profile, refusal);
			gap.curable = false; /* its runtime already lists it */
		}
		if (vec_push(&profile->gaps, gap) < 0)
			return -ENOMEM;
	}
	return 0;
}
