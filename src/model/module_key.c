/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/module_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id_index.h"
#include "base/scope.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "model/profile.h"

/* Notes a module, if its path is new. Returns whether the build id is the one that is noted. */
static bool note(struct profile *profile, const struct profile_module *module)
{
	const struct profile_module *known = profile_find_module(profile, module->path);

	if (!known)
		return vec_push(&profile->modules, *module) == 0;
	return build_id_equal(&known->build_id, &module->build_id);
}

uint32_t module_key(struct profile *profile, const char *path, const struct build_id *build_id)
{
	struct profile_module module = {.path = strings_add(&profile->strings, path),
					.build_id = *build_id};
	size_t size = strlen(path) + 2 * BUILD_ID_MAX + 2;
	char hex[2 * BUILD_ID_MAX + 1];

	if (module.path == ID_NONE || build_id->size == 0 || note(profile, &module))
		return module.path;
	SCOPED(mem) char *text = malloc(size);

	if (!text)
		return ID_NONE;
	build_id_format(build_id, hex);
	(void)snprintf(text, size, "%s\n%s", path, hex); /* it fits */
	module.real_path = module.path;
	module.path = strings_add(&profile->strings, text);
	return module.path != ID_NONE && note(profile, &module) ? module.path : ID_NONE;
}
