/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/live_names.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "proc/maps.h"
#include "proc/module_file.h"
#include "symbol/symboliser.h"

/* Reading maps anew takes at most a hundredth of the time. */
#define REFRESH_SHARE 100

/* What a region of the present maps shows. */
struct shown {
	bool looked;
	uint32_t id;
	uint64_t bias;
};

struct live_names {
	pid_t pid;
	struct maps maps;
	struct shown *shown; /* one for each region */
	uint64_t refresh_ns; /* not before */
	struct module_files *files;
	struct symboliser *symboliser;
	VEC(struct module) known; /* by id */
	struct arena paths;       /* of those */
};

static void scope_release_names(struct live_names **names)
{
	live_names_free(*names);
}

int live_names_new(pid_t pid, struct live_names **ret, struct error *err)
{
	SCOPED(names) struct live_names *names = calloc(1, sizeof(*names));
	struct symboliser_config config = {.demangle = true};
	int r;

	if (!names)
		return error_set(err, -ENOMEM, "out of memory");
	names->pid = pid;
	names->files = module_files_new();
	if (!names->files)
		return error_set(err, -ENOMEM, "out of memory");
	r = symboliser_new(&config, &names->symboliser, err);
	if (r < 0)
		return r;
	*ret = scope_take(&names);
	return 0;
}

void live_names_free(struct live_names *names)
{
	if (!names)
		return;
	symboliser_free(names->symboliser);
	module_files_free(names->files);
	maps_fini(&names->maps);
	free(names->shown);
	vec_fini(&names->known);
	arena_fini(&names->paths);
	free(names);
}

/* Reads the maps anew; keeps the old ones when that fails, for the process may be gone. */
static void refresh(struct live_names *names)
{
	struct maps maps = {0};
	struct shown *shown = NULL;
	uint64_t start_ns = clock_monotonic_ns();

	if (maps_read(&maps, names->pid, 0, NULL) == 0)
		shown = calloc(maps.count + 1, sizeof(*shown));
	names->refresh_ns = start_ns + (clock_monotonic_ns() - start_ns) * REFRESH_SHARE;
	if (!shown) {
		maps_fini(&maps);
		return;
	}
	maps_fini(&names->maps);
	free(names->shown);
	names->maps = maps;
	names->shown = shown;
}

void live_names_forget(struct live_names *names)
{
	names->maps.count = 0;
	names->refresh_ns = 0;
}

static const struct map_region *find_region(struct live_names *names, uint64_t address)
{
	const struct map_region *region = maps_find(&names->maps, address);

	if (region || clock_monotonic_ns() < names->refresh_ns)
		return region;
	refresh(names);
	return maps_find(&names->maps, address);
}

static bool is_same(const struct module *a, const struct module *b)
{
	return a->kind == b->kind && build_id_equal(&a->build_id, &b->build_id) &&
	       a->device == b->device && a->inode == b->inode && strcmp(a->path, b->path) == 0;
}

/* The id of a module, MODULE_NONE without memory. */
static uint32_t identify(struct live_names *names, const struct module *module)
{
	struct module known = *module;

	for (size_t i = 0; i < names->known.count; i++)
		if (is_same(&names->known.items[i], module))
			return (uint32_t)i;
	known.path = arena_strndup(&names->paths, module->path, strlen(module->path));
	if (!known.path || vec_push(&names->known, known) < 0)
		return MODULE_NONE;
	return (uint32_t)names->known.count - 1;
}

static const struct shown *look_at(struct live_names *names, const struct map_region *region)
{
	struct shown *shown = &names->shown[region - names->maps.items];
	struct module_place place;
	char path[PATH_MAX];

	if (shown->looked)
		return shown;
	shown->looked = true;
	shown->id = MODULE_NONE;
	if (module_files_identify(names->files, names->pid, region, &place) == 0) {
		shown->bias = place.bias;
		/* A file that was deleted or replaced can be read while it is mapped. */
		if (place.module.kind == MODULE_FILE &&
		    module_files_locate(names->files, names->pid, region, path, sizeof(path)) == 0)
			place.module.path = path;
		shown->id = identify(names, &place.module);
	}
	return shown;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path[0] ? path : "[anon]";
}

struct live_name live_names_find(struct live_names *names, uint64_t address, bool is_caller)
{
	uint64_t lookup = address - is_caller;
	const struct map_region *region = find_region(names, lookup);
	const struct shown *shown = region ? look_at(names, region) : NULL;
	const struct symbol_frame *frames;
	struct live_name name = {.module = region ? base_name(region->path) : NULL};
	size_t count;

	if (!shown || shown->id == MODULE_NONE)
		return name;
	if (symboliser_resolve(names->symboliser, &names->known.items[shown->id], shown->id,
			       lookup - shown->bias, &frames, &count) == SYMBOL_NONE)
		return name;
	/* The last one is the function proper: that is what an offset counts from. */
	name.function = frames[count - 1].function;
	name.offset = frames[count - 1].start ? address - shown->bias - frames[count - 1].start : 0;
	name.file = frames[count - 1].file;
	name.line = frames[count - 1].line;
	return name;
}
