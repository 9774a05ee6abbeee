/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/resolver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file/cache_dir.h"
#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "load/names/live_modules.h"
#include "model/entity.h"
#include "proc/maps.h"
#include "symbol/debug_file.h"
#include "symbol/symbol_store.h"

struct resolver {
	struct live_modules *live; /* NULL: one file */
	pid_t pid;
	char *path;
	struct module module;
	VEC(struct elf_segment) segments; /* of the file */
	uint64_t section_start; /* of the section that addresses are relative to, if any */
	struct symbol_search search;
	struct cache_dir cache;
	struct symboliser *symboliser;
};

static void scope_release_resolver(struct resolver **resolver)
{
	resolver_close(*resolver);
}

static void scope_release_elf(struct elf_file **elf)
{
	elf_close(*elf);
}

static int find_section(struct resolver *resolver, const struct elf_file *elf,
			const struct resolver_config *config, struct error *err)
{
	const struct elf_section *section = elf_section_find(elf, config->section);

	if (!section) {
		(void)error_set(err, -ENOENT, "%s has no section %s", config->path,
				config->section);
		error_remedy(err, "readelf -S FILE lists its sections");
		return -ENOENT;
	}
	resolver->section_start = section->addr;
	return 0;
}

static int open_file(struct resolver *resolver, const struct resolver_config *config,
		     struct error *err)
{
	SCOPED(elf) struct elf_file *elf = NULL;
	const char *path = config->path;
	int r = elf_open(path, &elf, err);

	if (r == 0 && config->section)
		r = find_section(resolver, elf, config, err);
	if (r < 0)
		return r;
	/* Absolute, because its directory is searched for debug files. */
	resolver->path = realpath(path, NULL);
	if (!resolver->path)
		return error_file(err, -errno, "cannot find %s", path);
	resolver->module = (struct module){
		.kind = MODULE_FILE, .path = resolver->path, .build_id = *elf_build_id(elf)};
	for (size_t i = 0; i < elf_segment_count(elf); i++)
		if (vec_push(&resolver->segments, *elf_segment_at(elf, i)) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

static int open_process(struct resolver *resolver, pid_t pid, struct error *err)
{
	int r = live_modules_new(pid, &resolver->live, err);

	if (r == 0)
		r = live_modules_read(resolver->live, err);
	if (r == 0)
		resolver->search = *live_modules_search(resolver->live);
	return r;
}

static uint32_t pid_of(void *self, uint32_t owner)
{
	const struct resolver *resolver = self;

	(void)owner; /* there is one */
	return (uint32_t)resolver->pid;
}

int resolver_open(const struct resolver_config *config, struct resolver **ret, struct error *err)
{
	SCOPED(resolver) struct resolver *resolver = calloc(1, sizeof(*resolver));
	struct symboliser_config symbols = {
		.demangle = config->demangle,
		.detail = config->detail,
		.symbol_paths = config->symbol_paths,
		.symbol_path_count = config->symbol_path_count,
		.sources = config->sources,
		.pid_of = pid_of,
	};
	int r;

	if (!resolver)
		return error_set(err, -ENOMEM, "out of memory");
	resolver->cache.fd = -1;
	resolver->pid = config->path ? 0 : config->pid;
	symbols.pid_self = resolver;
	r = config->path ? open_file(resolver, config, err)
			 : open_process(resolver, config->pid, err);
	if (r < 0)
		return r;
	if (config->fetch) {
		resolver->search.fetch = config->fetch->fetch;
		resolver->search.fetch_self = config->fetch->fetch_self;
	}
	symbols.live = &resolver->search;
	if (!config->no_disk_cache) {
		/* Without its own directory nothing is cached. */
		(void)cache_dir_init(&resolver->cache, NULL, "symbols", SYMBOL_STORE_SUFFIX,
				     SYMBOL_STORE_LIMIT_BYTES);
		symbols.cache = &resolver->cache;
	}
	r = symboliser_new(&symbols, &resolver->symboliser, err);
	if (r < 0)
		return r;
	*ret = scope_take(&resolver);
	return 0;
}

void resolver_close(struct resolver *resolver)
{
	if (!resolver)
		return;
	symboliser_free(resolver->symboliser);
	live_modules_free(resolver->live);
	cache_dir_fini(&resolver->cache);
	vec_fini(&resolver->segments);
	free(resolver->path);
	free(resolver);
}

/* Object files have no segments: their addresses are not checked. */
static bool is_in_file(const struct resolver *resolver, uint64_t vaddr)
{
	for (size_t i = 0; i < resolver->segments.count; i++) {
		const struct elf_segment *segment = &resolver->segments.items[i];

		if (vaddr >= segment->vaddr && vaddr - segment->vaddr < segment->memory_bytes)
			return true;
	}
	return resolver->segments.count == 0;
}

void resolver_find(struct resolver *resolver, uint64_t address, struct resolved *ret)
{
	const struct module *module = NULL;
	struct live_place place;

	*ret = (struct resolved){.address = address,
				 .module = "",
				 .module_id = MODULE_NONE,
				 .vaddr = address + resolver->section_start};
	if (!resolver->live && is_in_file(resolver, ret->vaddr)) {
		module = &resolver->module;
		ret->module_id = 0;
	} else if (resolver->live && live_modules_find(resolver->live, address, &place)) {
		module = place.module;
		ret->module_id = place.module_id;
		ret->vaddr = address - place.bias;
	}
	if (module) {
		ret->module = module->path;
		ret->build_id = &module->build_id;
	}
	ret->quality = symboliser_resolve(resolver->symboliser, module, ret->module_id, ret->vaddr,
					  &ret->frames, &ret->count);
}

int resolver_details(struct resolver *resolver, const struct resolved *found,
		     struct symbol_details *ret)
{
	return symboliser_details(resolver->symboliser, found->module_id, found->vaddr, ret);
}

const char *resolver_problem(const struct resolver *resolver, uint32_t module_id)
{
	return symboliser_module_problem(resolver->symboliser, module_id);
}

struct symboliser_stats resolver_stats(const struct resolver *resolver)
{
	return symboliser_stats(resolver->symboliser);
}
