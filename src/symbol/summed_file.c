/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/summed_file.h"

#include <xxhash.h>

bool summed_file_begin(struct summed_file *file, struct cache_dir *dir, const void *header,
		       size_t n)
{
	*file = (struct summed_file){.sum = XXH3_createState()};
	if (!file->sum || XXH3_64bits_reset(file->sum) == XXH_ERROR) {
		(void)XXH3_freeState(file->sum); /* always succeeds */
		return false;
	}
	cache_file_begin(&file->file, dir);
	cache_file_put(&file->file, header, n);
	return true;
}

void summed_file_put(struct summed_file *file, const void *data, size_t n)
{
	(void)XXH3_64bits_update(file->sum, data, n); /* cannot fail: no NULL */
	cache_file_put(&file->file, data, n);
}

uint64_t summed_file_checksum(const struct summed_file *file)
{
	return XXH3_64bits_digest(file->sum);
}

void summed_file_finish(struct summed_file *file, const char *name, const void *header, size_t n)
{
	cache_file_finish(&file->file, name, header, n);
	(void)XXH3_freeState(file->sum); /* always succeeds */
	file->sum = NULL;
}
