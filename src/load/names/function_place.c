/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/function_place.h"

#include <errno.h>

#include "base/error.h"
#include "elf/elf.h"
#include "elf/elf_function.h"

int function_place_find(void *self, const char *path, const char *function, uint64_t *ret_offset,
			struct error *err)
{
	struct elf_function found;
	struct elf_file *elf;
	int r = elf_open(path, &elf, err);

	(void)self;
	if (r < 0)
		return r;
	elf_functions_find(elf, &function, 1, &found);
	r = found.found ? elf_vaddr_to_offset(elf, found.vaddr, ret_offset) : -ENOENT;
	elf_close(elf);
	if (r == 0 && found.chosen_at_run_time) {
		(void)error_set(
			err, -EINVAL,
			"%s in %s is an indirect function (IFUNC), resolved when a program starts",
			function, path);
		error_remedy(err, "name one of its implementations, or give a file offset, 0x…");
		return -EINVAL;
	}
	if (r == -ENOENT) {
		(void)error_set(err, -EINVAL, "there is no function called %s in %s", function,
				path);
		error_remedy(err,
			     "list its functions: nm %s (nm -D if it is stripped); or give a file "
			     "offset, 0x…",
			     path);
		return -EINVAL;
	}
	return r;
}
