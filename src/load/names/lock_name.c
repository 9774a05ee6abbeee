/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/lock_name.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "load/loader.h"
#include "model/dictionary.h"
#include "model/entity.h"
#include "symbol/symboliser.h"

static const char *lock_of(const struct label *labels, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(labels[i].key, LOCK_LABEL) == 0)
			return labels[i].value;
	return NULL;
}

/* The last "+0x", where the path ends; NULL: not an address in a file. */
static const char *end_of_path(const char *lock)
{
	const char *end = NULL;

	for (const char *at = lock; (at = strstr(at, "+0x")); at++)
		end = at;
	return lock[0] == '/' ? end : NULL;
}

/* The module with this path. If there are several, none: it is unknown which one it was. */
static uint32_t find_module(const struct dictionary *dictionary, const char *path, size_t size)
{
	uint32_t found = MODULE_NONE;

	for (uint32_t i = 0; i < dictionary->modules.count; i++) {
		const struct module *module = &dictionary->modules.items[i];

		if (module->kind != MODULE_FILE || strncmp(module->path, path, size) != 0 ||
		    module->path[size] != '\0')
			continue;
		if (found != MODULE_NONE)
			return MODULE_NONE;
		found = i;
	}
	return found;
}

bool lock_name_find(struct loader *loader, const struct label *labels, size_t n, struct bytes *ret)
{
	const char *lock = lock_of(labels, n);
	const char *end = lock ? end_of_path(lock) : NULL;
	uint32_t module = MODULE_NONE;
	const char *name = NULL;
	uint64_t offset = 0;

	if (end)
		module = find_module(loader->dictionary, lock, (size_t)(end - lock));
	if (module != MODULE_NONE)
		name = symboliser_resolve_data(loader->symboliser,
					       &loader->dictionary->modules.items[module], module,
					       strtoull(end + 1, NULL, 16), &offset);
	if (!name)
		return false;
	bytes_printf(ret, "%s", name);
	if (offset > 0)
		bytes_printf(ret, "+0x%" PRIx64, offset);
	bytes_put_u8(ret, 0);
	return !ret->failed;
}
