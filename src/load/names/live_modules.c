/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/live_modules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/vec.h"
#include "model/entity.h"
#include "proc/maps.h"
#include "proc/module_file.h"
#include "proc/process_info.h"
#include "symbol/debug_file.h"

/* Reading the maps again takes at most 1 % of the time. */
#define REFRESH_SHARE 100

/* The module of a region of the current maps. */
struct shown {
	bool looked;
	uint32_t id;
	uint64_t bias;
};

/* A module and a region that maps it, through which its file is opened. */
struct known_module {
	struct module module;
	struct map_region region;
};

struct live_modules {
	pid_t pid;
	struct maps maps;
	struct shown *shown; /* one for each region */
	uint64_t refresh_ns; /* not before */
	struct module_files *files;
	VEC(struct known_module) known; /* by id */
	struct arena paths;             /* of those */
	char root[64];
	struct symbol_search search;
};

static void scope_release_modules(struct live_modules **modules)
{
	live_modules_free(*modules);
}

static int open_mapped(void *self, uint32_t module_id, struct elf_file **ret)
{
	struct live_modules *modules = self;

	if (module_id >= modules->known.count)
		return -ENOENT;
	return module_files_open(modules->files, modules->pid,
				 &modules->known.items[module_id].region, ret, NULL);
}

int live_modules_new(pid_t pid, struct live_modules **ret, struct error *err)
{
	SCOPED(modules) struct live_modules *modules = calloc(1, sizeof(*modules));

	if (!modules)
		return error_set(err, -ENOMEM, "out of memory");
	modules->pid = pid;
	modules->files = module_files_new();
	if (!modules->files)
		return error_set(err, -ENOMEM, "out of memory");
	process_path(modules->root, sizeof(modules->root), pid, "root");
	modules->search = (struct symbol_search){
		.root = modules->root, .open = open_mapped, .open_self = modules};
	*ret = scope_take(&modules);
	return 0;
}

void live_modules_free(struct live_modules *modules)
{
	if (!modules)
		return;
	module_files_free(modules->files);
	maps_fini(&modules->maps);
	free(modules->shown);
	vec_fini(&modules->known);
	arena_fini(&modules->paths);
	free(modules);
}

const struct symbol_search *live_modules_search(const struct live_modules *modules)
{
	return &modules->search;
}

/* Reads the maps again; keeps the old ones if that fails, because the process may have ended. */
int live_modules_read(struct live_modules *modules, struct error *err)
{
	struct maps maps = {0};
	struct shown *shown = NULL;
	uint64_t start_ns = clock_monotonic_ns();
	int r = maps_read(&maps, modules->pid, 0, err);

	if (r == 0) {
		shown = calloc(maps.count + 1, sizeof(*shown));
		if (!shown)
			r = error_set(err, -ENOMEM, "out of memory");
	}
	modules->refresh_ns = start_ns + (clock_monotonic_ns() - start_ns) * REFRESH_SHARE;
	if (r < 0) {
		maps_fini(&maps);
		return r;
	}
	maps_fini(&modules->maps);
	free(modules->shown);
	modules->maps = maps;
	modules->shown = shown;
	return 0;
}

void live_modules_forget(struct live_modules *modules)
{
	modules->maps.count = 0;
	modules->refresh_ns = 0;
}

static const struct map_region *find_region(struct live_modules *modules, uint64_t address)
{
	const struct map_region *region = maps_find(&modules->maps, address);

	if (region || clock_monotonic_ns() < modules->refresh_ns)
		return region;
	(void)live_modules_read(modules, NULL); /* the old maps stay */
	return maps_find(&modules->maps, address);
}

static bool is_same(const struct module *a, const struct module *b)
{
	return a->kind == b->kind && build_id_equal(&a->build_id, &b->build_id) &&
	       a->device == b->device && a->inode == b->inode && strcmp(a->path, b->path) == 0;
}

/* The id of a module, MODULE_NONE if out of memory. */
static uint32_t identify(struct live_modules *modules, const struct module *module,
			 const struct map_region *region)
{
	struct known_module known = {*module, *region};

	for (size_t i = 0; i < modules->known.count; i++)
		if (is_same(&modules->known.items[i].module, module))
			return (uint32_t)i;
	known.module.path = arena_strndup(&modules->paths, module->path, strlen(module->path));
	known.region.path = arena_strndup(&modules->paths, region->path, strlen(region->path));
	if (!known.module.path || !known.region.path || vec_push(&modules->known, known) < 0)
		return MODULE_NONE;
	return (uint32_t)modules->known.count - 1;
}

static const struct shown *look_at(struct live_modules *modules, const struct map_region *region)
{
	struct shown *shown = &modules->shown[region - modules->maps.items];
	struct module_place place;

	if (shown->looked)
		return shown;
	shown->looked = true;
	shown->id = MODULE_NONE;
	if (module_files_identify(modules->files, modules->pid, region, &place) == 0) {
		shown->bias = place.bias;
		shown->id = identify(modules, &place.module, region);
	}
	return shown;
}

bool live_modules_find(struct live_modules *modules, uint64_t address, struct live_place *ret)
{
	const struct map_region *region = find_region(modules, address);
	const struct shown *shown;

	if (!region)
		return false;
	shown = look_at(modules, region);
	*ret = (struct live_place){.region = region, .module_id = shown->id, .bias = shown->bias};
	if (shown->id != MODULE_NONE)
		ret->module = &modules->known.items[shown->id].module;
	return true;
}
