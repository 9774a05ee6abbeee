/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * A plug-in for wick: writes and reads stacks as paths, one per line, with their samples:
 *
 *	#paths
 *	app/main/parse 42
 *
 *	cc -shared -fPIC plugin_paths.c -o paths.so $(pkg-config --cflags libwick)
 *	WICK_PLUGINS=$PWD wick export --format paths app.wick
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <wick/plugin.h>

#define MARK "#paths\n"
#define MOST_FRAMES 512

static void put(const struct wick_plugin_host *host, struct wick_plugin_output *out,
		const char *text)
{
	host->write(out, text, strlen(text));
}

static int paths_write(const struct wick_plugin_host *host, const struct wick_profile *profile,
		       struct wick_plugin_output *out, struct wick_error *err)
{
	struct wick_profile_stack stack = {.size = sizeof(stack)};
	struct wick_stacks *stacks;
	char count[32];
	int r = host->stacks_new(profile, &stacks, err);

	if (r < 0)
		return r;
	put(host, out, MARK);
	while ((r = host->stacks_next(stacks, &stack)) > 0) {
		put(host, out, stack.process);
		for (size_t i = 0; i < stack.frame_count; i++) {
			put(host, out, "/");
			put(host, out, stack.frames[i].function);
		}
		snprintf(count, sizeof(count), " %" PRId64 "\n", stack.values[0]);
		put(host, out, count);
	}
	host->stacks_free(stacks);
	return r;
}

static int paths_recognise(const void *data, size_t size)
{
	return size >= strlen(MARK) && memcmp(data, MARK, strlen(MARK)) == 0;
}

/* Parses one line in place: each slash becomes the end of a name. */
static int read_line(const struct wick_plugin_host *host, char *line,
		     struct wick_plugin_builder *builder, struct wick_error *err)
{
	struct wick_profile_frame frames[MOST_FRAMES] = {{0}};
	struct wick_profile_stack stack = {
		.size = sizeof(stack), .frames = frames, .value_count = 1};
	char *space = strrchr(line, ' ');
	int64_t value = space ? strtoll(space + 1, NULL, 10) : -1;
	char *rest = line;

	if (value < 0) {
		snprintf(err->text, sizeof(err->text), "a line does not end in a count");
		return err->code = -EBADMSG;
	}
	*space = '\0';
	stack.process = stack.thread = strsep(&rest, "/");
	while (rest && stack.frame_count < MOST_FRAMES)
		frames[stack.frame_count++].function = strsep(&rest, "/");
	stack.values = &value;
	return host->add(builder, &stack, (uint64_t)value, err);
}

static int paths_read(const struct wick_plugin_host *host, const void *data, size_t size,
		      struct wick_plugin_builder *builder, struct wick_error *err)
{
	char *text = strndup((const char *)data + strlen(MARK), size - strlen(MARK));
	char *rest = text;
	char *line;
	int r = text ? host->begin(builder, "samples", "count", err) : -ENOMEM;

	while (r == 0 && (line = strsep(&rest, "\n")))
		if (*line)
			r = read_line(host, line, builder, err);
	free(text);
	return r;
}

static const struct wick_plugin_exporter paths_out = {
	.name = "paths",
	.summary = "one line a stack, as a path, and its first value",
	.extension = "paths",
	.write = paths_write,
};

static const struct wick_plugin_importer paths_in = {
	.name = "paths",
	.summary = "one line a stack, as a path, and its samples",
	.recognise = paths_recognise,
	.read = paths_read,
};

WICK_PLUGIN_EXPORT const struct wick_plugin wick_plugin = {
	.abi = WICK_PLUGIN_ABI,
	.size = sizeof(struct wick_plugin),
	.name = "paths",
	.exporters = (const struct wick_plugin_exporter *const[]){&paths_out, NULL},
	.importers = (const struct wick_plugin_importer *const[]){&paths_in, NULL},
};
