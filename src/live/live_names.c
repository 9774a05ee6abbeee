/* SPDX-License-Identifier: BSD-2-Clause */
#include "live/live_names.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/path.h"
#include "base/scope.h"
#include "load/names/live_modules.h"
#include "proc/maps.h"
#include "symbol/symboliser.h"

struct live_names {
	struct live_modules *modules;
	struct symboliser *symboliser;
};

static void scope_release_names(struct live_names **names)
{
	live_names_free(*names);
}

int live_names_new(pid_t pid, struct live_names **ret, struct error *err)
{
	SCOPED(names) struct live_names *names = calloc(1, sizeof(*names));
	struct symboliser_config config = {.demangle = true, .detail = SYMBOLS_INLINES};
	int r;

	if (!names)
		return error_set(err, -ENOMEM, "out of memory");
	r = live_modules_new(pid, &names->modules, err);
	if (r < 0)
		return r;
	config.live = live_modules_search(names->modules);
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
	live_modules_free(names->modules);
	free(names);
}

void live_names_forget(struct live_names *names)
{
	live_modules_forget(names->modules);
}

static const char *module_name(const char *path)
{
	return path[0] ? path_base_name(path) : "[anon]";
}

struct live_name live_names_find(struct live_names *names, uint64_t address, bool is_caller)
{
	uint64_t lookup = address - is_caller;
	const struct symbol_frame *frames;
	struct live_name name = {.module = NULL};
	struct live_place place;
	size_t count;

	if (!live_modules_find(names->modules, lookup, &place))
		return name;
	name.module = module_name(place.region->path);
	if (!place.module)
		return name;
	if (symboliser_resolve(names->symboliser, place.module, place.module_id,
			       lookup - place.bias, &frames, &count) >= SYMBOL_NONE)
		return name;
	/* The last one is the function itself: offsets are relative to it. */
	name.function = frames[count - 1].function;
	name.offset = frames[count - 1].start ? address - place.bias - frames[count - 1].start : 0;
	name.file = frames[count - 1].file;
	name.line = frames[count - 1].line;
	return name;
}
