/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/known_root.h"

#include <stddef.h>
#include <string.h>

#include "base/path.h"
#include "base/vec.h"
#include "model/profile.h"

/* Names end where a version begins: __libc_start_main@@GLIBC_2.34. */
static const char *const roots[] = {
	"_start",
	"main",
	"__libc_start_main",
	"__libc_start_main_impl",
	"__libc_start_call_main",
	"generic_start_main",
	"_start_c", /* musl */
	"_dl_start",
	"_dl_start_user",
	"start_thread",
	"thread_start",
	"clone",
	"__clone",
	"clone3",
	"__clone3",
	"__clone_internal",
	"runtime.main", /* Go */
	"runtime.goexit",
	"runtime.mstart",
	"runtime.rt0_go",
};

/* Files whose unnamed functions, at the root, are those that start threads and main(). */
static const char *const starters[] = {"libc.so", "libc-", "libpthread", "ld-linux", "ld-musl"};

static bool is_root_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(roots); i++) {
		size_t n = strlen(roots[i]);

		if (strncmp(name, roots[i], n) != 0)
			continue;
		/* runtime.goexit.abi0, runtime.mstart1 */
		if (name[n] == '\0' || name[n] == '@' || strncmp(roots[i], "runtime.", 8) == 0)
			return true;
	}
	return false;
}

static bool is_starter(const char *module)
{
	for (size_t i = 0; i < ARRAY_SIZE(starters); i++)
		if (strncmp(path_base_name(module), starters[i], strlen(starters[i])) == 0)
			return true;
	return false;
}

bool known_root_is(const struct profile *profile, uint32_t location, bool is_leaf)
{
	uint32_t line = profile->locations.items[location].first_line;
	const struct profile_function *function =
		&profile->functions.items[profile->lines.items[line].function];

	/* Kernel threads, and samples with only kernel frames, are complete. */
	if (function->origin == ORIGIN_KERNEL)
		return true;
	if (is_root_name(profile_text(profile, function->name)))
		return true;
	return !is_leaf && function->origin == ORIGIN_UNKNOWN &&
	       is_starter(profile_text(profile, function->module));
}
