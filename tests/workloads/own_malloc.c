/* SPDX-License-Identifier: BSD-2-Clause */

/* own_malloc: a program that has its allocator linked into it. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static _Alignas(16) char room[1 << 20];
static size_t used;

EXPORT void *malloc(size_t size)
{
	size_t at = used;

	if (size > sizeof(room) - at - 16)
		return NULL;
	used += (size + 15) / 16 * 16;
	return room + at;
}

EXPORT void *calloc(size_t count, size_t size)
{
	return size && count > SIZE_MAX / size ? NULL : malloc(count * size);
}

EXPORT void *realloc(void *block, size_t size)
{
	void *other = malloc(size);

	if (block && other)
		memmove(other, block, size);
	return other;
}

EXPORT void free(void *block)
{
	(void)block;
}

int main(void)
{
	char *volatile block = malloc(100);

	(void)printf("{\"own\": %s}\n",
		     block >= room && block < room + sizeof(room) ? "true" : "false");
	free(block);
	return 0;
}
