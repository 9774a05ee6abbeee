/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * A plug-in for wick that looks at profiles: names for addresses from a file of your own, a
 * view, and an analyser that can fail a test.
 *
 *	cc -shared -fPIC plugin_insight.c -o insight.so $(pkg-config --cflags libwick)
 *	WICK_PLUGINS=$PWD wick report --by depth app.wick
 *	WICK_PLUGINS=$PWD wick report --analyse hotspot --fail-on warning app.wick
 *	INSIGHT_NAMES=names.txt WICK_PLUGINS=$PWD wick report stripped.wick
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wick/plugin.h>

/*
 * Names of a stripped program, from the file that $INSIGHT_NAMES names, one per line, where
 * "begin end" are ELF virtual addresses in hex:
 *
 *	BUILD_ID begin end function
 */
static int names_resolve(const struct wick_plugin_host *host,
			 const struct wick_plugin_address *address, struct wick_plugin_symbol *ret,
			 struct wick_error *err)
{
	static char name[256]; /* all of a plug-in is called by one thread */
	const char *path = getenv("INSIGHT_NAMES");
	char build_id[128];
	uint64_t begin, end;
	int found = 0;
	FILE *file;

	(void)host;
	if (!path)
		return 0;
	file = fopen(path, "re");
	if (!file) {
		snprintf(err->text, sizeof(err->text), "cannot open INSIGHT_NAMES %s: %s", path,
			 strerror(errno));
		return err->code = -errno;
	}
	while (!found && fscanf(file, "%127s %" SCNx64 " %" SCNx64 " %255s", build_id, &begin, &end,
				name) == 4)
		found = strcmp(build_id, address->build_id) == 0 && address->vaddr >= begin &&
			address->vaddr < end;
	fclose(file);
	if (found)
		ret->function = name;
	return found;
}

/* How deep stacks are: a row for each depth. */
#define MOST 256

static int depth_write(const struct wick_plugin_host *host, const struct wick_profile *profile,
		       const struct wick_plugin_request *request, struct wick_plugin_output *out,
		       struct wick_error *err)
{
	struct wick_profile_stack stack = {.size = sizeof(stack)};
	struct wick_stacks *stacks;
	int64_t sums[MOST] = {0};
	const char *comma = "";
	char line[80];
	int r = host->stacks_new(profile, &stacks, err);

	if (r < 0)
		return r;
	while ((r = host->stacks_next(stacks, &stack)) > 0)
		sums[stack.frame_count < MOST ? stack.frame_count : MOST - 1] +=
			stack.values[request->value];
	host->stacks_free(stacks);
	if (request->json)
		host->write(out, "{", 1);
	for (size_t i = 0; r == 0 && i < MOST; i++) {
		if (sums[i] == 0)
			continue;
		snprintf(line, sizeof(line),
			 request->json ? "%s\"%zu\":%" PRId64 : "%s%6zu  %" PRId64 "\n", comma, i,
			 sums[i]);
		host->write(out, line, strlen(line));
		comma = request->json ? "," : "";
	}
	if (request->json)
		host->write(out, "}\n", 2);
	return r;
}

/* A function whose self time is more than half of the total. */
static int hotspot_analyse(const struct wick_plugin_host *host, const struct wick_profile *profile,
			   struct wick_plugin_findings *findings, struct wick_error *err)
{
	struct wick_profile_function row = {.size = sizeof(row)};
	struct wick_functions *functions;
	const char *hottest = "";
	char text[300];
	int64_t most = 0;
	int64_t all = 0;
	int r = host->functions_new(profile, WICK_MAIN_VALUE, &functions, err);

	if (r < 0)
		return r;
	for (size_t i = 0; host->functions_get(functions, i, &row) == 0; i++) {
		all += row.self;
		if (i == 0) {
			hottest = row.name;
			most = row.self;
		}
	}
	if (most > all / 2) {
		snprintf(text, sizeof(text), "%s takes %.0f %% of all by itself", hottest,
			 100.0 * (double)most / (double)all);
		r = host->find(findings, WICK_PLUGIN_WARNING, text);
	}
	host->functions_free(functions);
	return r;
}

static const struct wick_plugin_resolver names = {
	.name = "names", .summary = "functions listed in $INSIGHT_NAMES", .resolve = names_resolve};

static const struct wick_plugin_view depth = {
	.name = "depth", .summary = "how deep stacks are", .write = depth_write};

static const struct wick_plugin_analyser hotspot = {
	.name = "hotspot",
	.summary = "a function that takes more than half of all",
	.analyse = hotspot_analyse,
};

WICK_PLUGIN_EXPORT const struct wick_plugin wick_plugin = {
	.abi = WICK_PLUGIN_ABI,
	.size = sizeof(struct wick_plugin),
	.name = "insight",
	.resolvers = (const struct wick_plugin_resolver *const[]){&names, NULL},
	.views = (const struct wick_plugin_view *const[]){&depth, NULL},
	.analysers = (const struct wick_plugin_analyser *const[]){&hotspot, NULL},
};
