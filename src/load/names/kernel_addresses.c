/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/names/kernel_addresses.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/error.h"
#include "base/hash_seed.h"
#include "base/id_index.h"
#include "symbol/kernel_symbols.h"

struct kernel_addresses {
	bool read;
	struct kernel_symbols *symbols;
	struct id_index by_name;
};

struct kernel_addresses *kernel_addresses_new(void)
{
	return calloc(1, sizeof(struct kernel_addresses));
}

void kernel_addresses_free(struct kernel_addresses *addresses)
{
	if (!addresses)
		return;
	kernel_symbols_free(addresses->symbols);
	id_index_fini(&addresses->by_name);
	free(addresses);
}

/* The first of equal names is used: all of them are shown with that name anyway. */
int kernel_addresses_read(struct kernel_addresses *addresses, struct error *err)
{
	int r;

	addresses->read = true;
	r = kernel_symbols_read("/proc/kallsyms", &addresses->symbols, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < kernel_symbols_count(addresses->symbols); i++) {
		struct kernel_symbol symbol = kernel_symbols_at(addresses->symbols, i);
		uint64_t hash =
			XXH3_64bits_withSeed(symbol.name, strlen(symbol.name), hash_seed.first);

		if (id_index_add(&addresses->by_name, hash, (uint32_t)i) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

const struct kernel_symbols *kernel_addresses_symbols(const struct kernel_addresses *addresses)
{
	return addresses->symbols;
}

uint64_t kernel_addresses_find(void *self, const char *name, uint64_t *ret_bytes)
{
	struct kernel_addresses *addresses = self;
	struct id_probe probe;
	uint32_t id;

	if (!addresses->read)
		(void)kernel_addresses_read(addresses, NULL); /* then all are unknown */
	probe = id_index_probe(&addresses->by_name,
			       XXH3_64bits_withSeed(name, strlen(name), hash_seed.first));
	while ((id = id_probe_next(&addresses->by_name, &probe)) != ID_NONE) {
		struct kernel_symbol symbol = kernel_symbols_at(addresses->symbols, id);

		if (strcmp(symbol.name, name) != 0)
			continue;
		if (ret_bytes)
			*ret_bytes = symbol.size;
		return symbol.start;
	}
	return 0;
}
