/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/function_files.h"

#include <errno.h>
#include <stdlib.h>

void function_files_fini(struct function_files *homes)
{
	vec_fini(&homes->items);
	id_index_fini(&homes->index);
}

uint32_t function_files_find(const struct function_files *homes, uint32_t module, uint64_t start)
{
	struct id_probe probe = id_index_probe(&homes->index, hash_pair(module, start));
	uint32_t id;

	while ((id = id_probe_next(&homes->index, &probe)) != ID_NONE)
		if (homes->items.items[id].module == module &&
		    homes->items.items[id].start == start)
			return homes->items.items[id].file;
	return ID_NONE;
}

int function_files_add(struct function_files *homes, struct function_file home)
{
	if (vec_push(&homes->items, home) < 0)
		return -ENOMEM;
	return id_index_add(&homes->index, hash_pair(home.module, home.start),
			    (uint32_t)homes->items.count - 1);
}
