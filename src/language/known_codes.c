/* SPDX-License-Identifier: BSD-2-Clause */
#include "language/known_codes.h"

#include <string.h>

static void forget_all(struct known_codes *codes)
{
	for (size_t i = 0; i < codes->items.count; i++)
		codes->free_code(codes->items.items[i].code);
	codes->items.count = 0;
	id_index_clear(&codes->index);
	codes->generation++;
}

void known_codes_fini(struct known_codes *codes)
{
	forget_all(codes);
	vec_fini(&codes->items);
	id_index_fini(&codes->index);
}

static struct known_code *find(const struct known_codes *codes, uint64_t address)
{
	struct id_probe probe = id_index_probe(&codes->index, hash_pair(address, 0));
	uint32_t id;

	while ((id = id_probe_next(&codes->index, &probe)) != ID_NONE)
		if (codes->items.items[id].address == address)
			return &codes->items.items[id];
	return NULL;
}

const struct known_code *known_codes_find(const struct known_codes *codes, uint64_t address)
{
	return find(codes, address);
}

uint32_t known_codes_number(const struct known_codes *codes, uint64_t address)
{
	const struct known_code *known = find(codes, address);

	return known ? (uint32_t)(known - codes->items.items) : ID_NONE;
}

const struct known_code *known_codes_at(const struct known_codes *codes, uint64_t number)
{
	return number < codes->items.count ? &codes->items.items[number] : NULL;
}

bool known_codes_has(const struct known_codes *codes, uint64_t address, const struct code_key *key)
{
	const struct known_code *known = find(codes, address);

	return known && memcmp(&known->key, key, sizeof(*key)) == 0;
}

static int add(struct known_codes *codes, const struct known_code *known)
{
	int r;

	if (codes->items.count >= KNOWN_CODES_MAX)
		forget_all(codes);
	r = vec_push(&codes->items, *known);
	if (r < 0)
		return r;
	r = id_index_add(&codes->index, hash_pair(known->address, 0),
			 (uint32_t)codes->items.count - 1);
	if (r < 0)
		codes->items.count--;
	return r;
}

int known_codes_put(struct known_codes *codes, uint64_t address, const struct code_key *key,
		    void *code)
{
	struct known_code put = {.address = address, .key = *key, .code = code};
	struct known_code *known = find(codes, address);
	int r;

	if (known && codes->keeps_replaced) {
		known->address = 0;
	} else if (known) {
		codes->free_code(known->code);
		*known = put;
		codes->generation++;
		return 0;
	}
	r = add(codes, &put);
	if (r < 0)
		codes->free_code(code);
	return r;
}
