/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Where do these addresses come from? Prints library and offset of a few
 * addresses of this program, before and after a library is unloaded.
 *
 *	cc maps.c -lwick -ldl
 */

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <wick/maps.h>

static int add_snapshot(struct wick_maps_converter *converter, uint64_t id)
{
	struct wick_error err;
	struct wick_maps *maps;

	if (wick_maps_read_self(WICK_MAPS_EXECUTABLE_ONLY, &maps, &err) < 0) {
		fprintf(stderr, "%s\n%s\n", err.text, err.remedy);
		return -1;
	}
	int r = wick_maps_converter_add(converter, id, maps);
	wick_maps_free(maps);
	return r;
}

static void print_stack(const struct wick_maps_converter *converter, uint64_t id,
			const uint64_t *addresses, size_t n)
{
	struct wick_maps_location locations[8];

	(void)wick_maps_convert_batch(converter, id, addresses, n, locations);
	printf("snapshot %" PRIu64 "\n", id);
	for (size_t i = 0; i < n; i++)
		printf("  %#" PRIx64 "  %s+%#" PRIx64 "  (file offset %#" PRIx64 ")\n",
		       locations[i].address, locations[i].library, locations[i].offset,
		       locations[i].file_offset);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "libz.so.1";
	const char *symbol = argc > 2 ? argv[2] : "zlibVersion";
	struct wick_maps_converter *converter = NULL;
	int status = EXIT_FAILURE;

	if (wick_maps_converter_new(&converter) < 0)
		return EXIT_FAILURE;
	void *library = dlopen(name, RTLD_NOW);
	void *function = library ? dlsym(library, symbol) : NULL;
	if (!function)
		fprintf(stderr, "no %s in %s: shown as address 0\n", symbol, name);
	const uint64_t stack[] = {(uintptr_t)function, (uintptr_t)&printf, (uintptr_t)&main, 16};
	if (add_snapshot(converter, 1) < 0)
		goto out;
	if (library)
		(void)dlclose(library);
	if (add_snapshot(converter, 2) < 0)
		goto out;
	print_stack(converter, 1, stack, sizeof(stack) / sizeof(stack[0]));
	print_stack(converter, 2, stack, sizeof(stack) / sizeof(stack[0]));
	status = EXIT_SUCCESS;
out:
	wick_maps_converter_free(converter);
	return status;
}
